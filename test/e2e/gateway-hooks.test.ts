/** The gateway's door for hooks: who may come in, and what they get to see. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Varve } from "../../src/index.ts";
import { fakeTranscript } from "../../src/plugins/claude-code/transcript.test-util.ts";
import { type Answer, type Stage, setStage, sha256 } from "./gateway-stage.ts";

const route = "/api/hooks/claude-code";
let stage: Stage;

beforeAll(async () => {
  const token = (name: string, rest: { rights: ("read" | "write")[]; agent?: string; scopes?: string[] }) => ({
    name,
    token: sha256(name),
    ...rest,
  });
  stage = await setStage(
    {
      tokens: [
        token("worker", { rights: ["read", "write"] }),
        token("sensor", { rights: ["write"] }),
        token("other", { rights: ["read", "write"], agent: "other" }),
        token("narrow", { rights: ["read", "write"], scopes: ["project:x"] }),
      ],
    },
    // Every hook is answered when its work is done, however long that takes.
    { config: { search: { embedder: "none" } }, deadlines: { hookMs: 600_000 } },
  );
});
afterAll(() => stage.end());

const post = (token: string, body: object): Promise<Answer> => stage.send("POST", route, { token, body });
const ask = (token: string, session_id: string, prompt: string): Promise<Answer> =>
  post(token, { hook_event_name: "UserPromptSubmit", session_id, prompt });

test("a transcript is read and recalled, for its own agent", async () => {
  const first = fakeTranscript(stage.home, "session-1");
  first.user("The vault of the harbour team is called Heron and its owner is Mirela.");
  const stop = { hook_event_name: "Stop", session_id: "session-1", transcript_path: first.path };
  expect(await post("worker", stop)).toMatchObject({ status: 200, json: { output: null, pending: false } });
  const question = "Who is the owner of the Heron vault?";
  const answer = await ask("worker", "session-2", question);
  expect(answer.json).toMatchObject({ output: { hookSpecificOutput: { hookEventName: "UserPromptSubmit" } } });
  expect(answer.text).toContain("Mirela");
  expect((await ask("other", "session-3", question)).json).toEqual({ output: null, pending: false });
  const foreign = await stage.send("POST", `${route}?agent=main`, { token: "other", body: stop });
  expect(foreign.status).toBe(403);
});

test("an event that needs no output is answered before its work is done when that takes long", async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const wrap = (varve: Varve): Varve => ({
    ...varve,
    import: async (...given) => {
      await released;
      return varve.import(...given);
    },
  });
  const slow = await setStage({}, { config: { search: { embedder: "none" } }, wrap, deadlines: { hookMs: 0 } });
  try {
    const token = readFileSync(slow.gateway.tokenFile!, "utf8").trim();
    const transcript = fakeTranscript(slow.home, "session-1");
    transcript.user("The kiln is called Petrel.");
    const body = { hook_event_name: "Stop", session_id: "session-1", transcript_path: transcript.path };
    const answer = await slow.send("POST", route, { token, body });
    expect(answer).toMatchObject({ status: 200, json: { output: null, pending: true } });
    release();
    await slow.gateway.close();
    expect((await slow.varve.sessions.list()).sessions).toHaveLength(1);
  } finally {
    release();
    await slow.end();
  }
});

test("memories stay within the scopes of the token", async () => {
  await stage.varve.memory.add({ text: "The staging server listens on port 8443." });
  const question = "Which port does the staging server listen on?";
  expect((await ask("worker", "session-4", question)).text).toContain("8443");
  expect((await ask("narrow", "session-5", question)).text).not.toContain("8443");
});

test("a token that may only write, another body, or another file is refused", async () => {
  expect((await ask("sensor", "session-6", "Which port does the staging server listen on?")).status).toBe(403);
  expect((await post("worker", { hook_event_name: "Notification", session_id: "x" })).status).toBe(400);
  expect((await post("worker", { hook_event_name: "Stop", session_id: "../x" })).status).toBe(400);
  const passwd = { hook_event_name: "Stop", session_id: "session-1", transcript_path: "/etc/passwd" };
  const refused = await post("worker", passwd);
  expect(refused.status).toBe(403);
  expect(refused.json).toMatchObject({ error: { code: "REFUSED" } });
});
