/** Actions for a session. Each says what happened and, where the engine can, how to undo it. */
import { call } from "../../api/client.ts";
import { createSessionKey, isUnlimited } from "../../api/login.ts";
import { navigate, sessionHref } from "../../state/router.ts";
import { attempt, say } from "../../state/toasts.ts";
import { ask } from "../../ui/dialog.tsx";
import { count } from "../../ui/format.ts";
import { type NamedSession, sessionTitle } from "../../ui/session-title.ts";

interface ActedSession extends NamedSession {
  messageCount: number;
}

export async function createSession(onDone: () => void): Promise<void> {
  const name = await ask({
    title: "New session",
    text: "Give it a name. Messages can be sent to it on the page Talk.",
    confirm: "Create",
    input: { label: "Name", value: "" },
  });
  if (name === undefined) return;
  await attempt(async () => {
    const key = createSessionKey();
    const session = await call("POST /api/sessions", { body: isUnlimited() ? { key, owner: true } : { key } });
    const fork = session.messageCount > 0 || session.displayName !== undefined;
    if (name.trim() !== "" && !fork)
      await call("PATCH /api/sessions/{key}", { params: { key: session.key }, body: { displayName: name.trim() } });
    onDone();
    navigate(sessionHref(session.key));
  });
}

export async function renewSession(session: ActedSession, kind: "new" | "reset", onDone: () => void): Promise<void> {
  const params = { key: session.key };
  const done = await attempt(() =>
    kind === "new"
      ? call("POST /api/sessions/{key}/new", { params })
      : call("POST /api/sessions/{key}/reset", { params }),
  );
  if (!done) return;
  onDone();
  const text =
    kind === "new"
      ? "A new session began in the same conversation."
      : "The conversation was archived and an empty one began.";
  say(text, { label: "Undo", run: () => void undoRenewal(session.key, onDone) });
}

export async function undoRenewal(key: string, onDone: () => void): Promise<void> {
  const done = await attempt(() => call("POST /api/sessions/{key}/restore", { params: { key }, body: {} }));
  if (!done) return;
  onDone();
  say("The previous session is back.");
}

export async function forkSession(session: ActedSession, atEntry?: string): Promise<void> {
  const done = await attempt(() =>
    call("POST /api/sessions/{key}/fork", {
      params: { key: session.key },
      body: atEntry === undefined ? {} : { atEntry },
    }),
  );
  if (!done) return;
  say("The fork shares the history up to here; nothing was copied.");
  navigate(sessionHref(done.session.key));
}

export async function renameSession(session: ActedSession, onDone: () => void): Promise<void> {
  const name = await ask({
    title: "Rename",
    text: "The name is shown in lists and in searches.",
    confirm: "Rename",
    input: { label: "Name", value: sessionTitle(session) },
  });
  if (name === undefined || name.trim() === "") return;
  const before = session.displayName ?? null;
  const set = (displayName: string | null) =>
    call("PATCH /api/sessions/{key}", { params: { key: session.key }, body: { displayName } });
  if (!(await attempt(() => set(name.trim())))) return;
  onDone();
  say("Renamed.", { label: "Undo", run: () => void attempt(() => set(before)).then(onDone) });
}

export async function deleteSession(session: ActedSession, onDone: () => void): Promise<void> {
  const answer = await ask({
    title: `Delete “${sessionTitle(session)}”?`,
    text: `${count(session.messageCount, "message")} and their summaries, vectors and files go for good, with all earlier sessions under this key. Memories that were learned from it stay. This cannot be undone.`,
    confirm: "Delete for good",
    isDangerous: true,
  });
  if (answer === undefined) return;
  const done = await attempt(() => call("DELETE /api/sessions/{key}", { params: { key: session.key } }));
  if (!done) return;
  onDone();
  say(`Deleted ${count(done.entries, "entry", "entries")} in ${count(done.conversations, "conversation")}.`);
}
