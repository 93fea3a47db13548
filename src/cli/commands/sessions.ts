import { VarveError } from "../../domain/index.ts";
import type { ListedSession, Session } from "../../index.ts";
import { getEntryText } from "../../index.ts";
import { type CommonOptions, withVarve } from "../context.ts";
import { number, table, when } from "../output.ts";

export interface ListFlags extends CommonOptions {
  limit?: number;
  after?: string;
  channel?: string;
  match?: string;
  parent?: string;
  all?: boolean;
}

export async function listCommand(flags: ListFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const page = await varve.sessions.list({
      limit: flags.limit,
      after: flags.after,
      channel: flags.channel,
      match: flags.match,
      parent: flags.parent,
      all: flags.all,
    });
    const describeRow = ({ displayName = "", subagents }: ListedSession) =>
      subagents === undefined
        ? displayName
        : `${displayName} (+ ${subagents} ${subagents === 1 ? "sub-agent" : "sub-agents"})`.trim();
    const rows = page.sessions.map((one) => [one.key, one.messageCount, when(one.updatedAt), describeRow(one)]);
    output.show(
      rows.length === 0
        ? "There are no sessions yet. `varve import PATH` imports transcripts."
        : table(["SESSION", "MESSAGES", "LAST USED", "TITLE"], rows),
    );
    if (page.next) output.say(`\nFor the next page, add --after ${page.next}`);
    output.result(page);
  });
}

export interface ShowFlags extends CommonOptions {
  limit?: number;
  before?: number;
  summary?: boolean;
  tokens?: number;
}

export async function showCommand(name: string, flags: ShowFlags): Promise<void> {
  if (flags.summary) return showSummary(name, flags);
  await withVarve(flags, async (varve, output) => {
    const session = await varve.sessions.find(name, flags.agent);
    const [page, history, branches, checkpoints] = await Promise.all([
      varve.transcripts.read(session, {
        limit: flags.limit ?? 20,
        before: flags.before,
        // An earlier session id is shown by itself, its key with everything that leads to now.
        currentOnly: !session.current,
      }),
      varve.sessions.history(session),
      varve.transcripts.branches(session),
      varve.transcripts.checkpoints(session),
    ]);
    output.show(describe(session));
    output.show(`session ids: ${history.map((one) => one.sessionId + (one.archived ? " (archived)" : "")).join(", ")}`);
    if (branches.length > 1) output.show(`branches: ${branches.length}`);
    if (checkpoints.length > 0) output.show(`checkpoints: ${checkpoints.map((one) => one.name).join(", ")}`);
    if (page.before !== undefined) output.show(`\n… for earlier messages, add --before ${page.before}`);
    for (const entry of page.entries) {
      const speaker = entry.type === "message" ? (entry.message.name ?? entry.message.role) : entry.type;
      const text = getEntryText(entry).replace(/\s+/g, " ").trim();
      output.show(
        `\nmsg#${entry.seq}  ${when(entry.time)}  ${speaker}\n  ${text.length > 400 ? `${text.slice(0, 400)}… (${number(text.length)} characters)` : text}`,
      );
    }
    output.result({ session, history, branches, checkpoints, entries: page.entries, before: page.before });
  });
}

/** The hand-over: what someone needs to continue the session. */
async function showSummary(name: string, flags: ShowFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const session = await varve.sessions.get(name);
    const handover = await varve.context.handover(session, { tokens: flags.tokens });
    output.show(describe(session));
    output.show(`${handover.description}\n\n${handover.text}`);
    output.result({ session, handover });
  });
}

function describe(session: Session): string {
  return [
    session.key,
    session.displayName ? `title: ${session.displayName}` : "",
    `started ${when(session.sessionStartedAt)}, last used ${when(session.lastInteractionAt)}, ${number(session.messageCount)} messages`,
  ]
    .filter(Boolean)
    .join("\n");
}

export async function renewCommand(name: string, kind: "new" | "reset", flags: CommonOptions): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const session = await varve.sessions.renew(await varve.sessions.get(name), kind);
    output.say(
      `${session.key} continues as ${session.sessionId}. \`varve sessions restore ${session.key}\` undoes this.`,
    );
    output.result(session);
  });
}

export async function restoreCommand(name: string, sessionId: string | undefined, flags: CommonOptions): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const session = await varve.sessions.restore(await varve.sessions.get(name), sessionId);
    output.say(`${session.key} continues as ${session.sessionId} again.`);
    output.result(session);
  });
}

export interface ForkFlags extends CommonOptions {
  key?: string;
  at?: string;
}

export async function forkCommand(name: string, flags: ForkFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const forked = await varve.sessions.fork(await varve.sessions.get(name), { key: flags.key, atEntry: flags.at });
    output.say(
      `${forked.session.key} was created${forked.isolated ? ` without the parent's context: ${forked.reason}` : ""}.`,
    );
    output.result(forked);
  });
}

export interface DeleteFlags extends CommonOptions {
  yes?: boolean;
}

export async function deleteCommand(name: string, flags: DeleteFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const session = await varve.sessions.get(name);
    if (!flags.yes) {
      throw new VarveError(
        "REFUSED",
        `Deleting ${session.key} erases its ${number(session.messageCount)} messages permanently.`,
        {
          remedy: "Run the command again with --yes to confirm; run `varve backup` before to keep a copy.",
        },
      );
    }
    const deleted = await varve.sessions.delete(session);
    output.say(`${session.key} was deleted with ${number(deleted.entries)} entries.`);
    output.result({ key: session.key, ...deleted });
  });
}
