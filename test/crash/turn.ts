/** A turn, step by step, as a caller does it who tries again what has failed. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry, Message } from "../../src/domain/index.ts";
import { VarveError } from "../../src/domain/index.ts";
import type { Session, Varve } from "../../src/index.ts";
import { everythingIn } from "./log.ts";

export interface Turn {
  varve: Varve;
  /** Tells the turns of one database apart. */
  name: string;
  folder: string;
  session?: Session;
  exported?: string;
}

export interface TurnStep {
  name: string;
  run(turn: Turn): Promise<void>;
}

const keyOf = (turn: Turn) => `agent:main:turn:direct:${turn.name}`;
const forkKeyOf = (turn: Turn) => `agent:main:turn:direct:${turn.name}-fork`;
const fileOf = (turn: Turn) => `${turn.name}-file`;

const question: Message[] = [
  { id: "q", role: "user", content: "What is in \u0000 a.txt? 旅行", time: 1 },
  { id: "c", role: "assistant", content: [{ type: "tool_call", callId: "1", name: "read", input: {} }], time: 2 },
  { id: "r", role: "tool", content: [{ type: "tool_result", callId: "1", output: "nothing" }], time: 3 },
  { id: "a", role: "assistant", content: "Nothing.", time: 4 },
];

function current(turn: Turn): Session {
  if (!turn.session) throw new Error("the turn has no session yet");
  return turn.session;
}

export const turnSteps: readonly TurnStep[] = [
  {
    name: "resolve",
    run: async (turn) => {
      turn.session = await turn.varve.sessions.resolve({ key: keyOf(turn) });
    },
  },
  { name: "ingest", run: async (turn) => void (await turn.varve.context.ingest(current(turn), question)) },
  {
    name: "commit a turn",
    run: async (turn) => {
      await turn.varve.context.commitTurn(current(turn), "t1", [
        { id: "t", role: "user", content: "And now?", time: 4 },
        { id: "u", role: "assistant", content: "Now we go on.", time: 5 },
      ]);
    },
  },
  { name: "move the head", run: (turn) => turn.varve.transcripts.moveHead(current(turn), "q") },
  {
    name: "ingest on the branch",
    run: async (turn) => {
      await turn.varve.context.ingest(current(turn), [{ id: "b", role: "assistant", content: "Better.", time: 5 }]);
    },
  },
  { name: "save a checkpoint", run: (turn) => turn.varve.transcripts.saveCheckpoint(current(turn), "here", { x: 1 }) },
  { name: "go back to the checkpoint", run: async (turn) => void (await restore(turn)) },
  {
    name: "open a new session",
    run: async (turn) => {
      // A client that does not know whether it happened checks first.
      const now = await turn.varve.sessions.get(keyOf(turn));
      const happened = now.sessionId !== current(turn).sessionId;
      turn.session = happened ? now : await turn.varve.sessions.renew(current(turn), "new");
    },
  },
  { name: "fork", run: (turn) => fork(turn) },
  { name: "import", run: (turn) => importFile(turn) },
  {
    name: "export",
    run: async (turn) => {
      let text = "";
      for await (const piece of turn.varve.transcripts.export(current(turn), "jsonl")) text += piece;
      turn.exported = text;
    },
  },
];

function restore(turn: Turn): Promise<unknown> {
  return turn.varve.transcripts.restoreCheckpoint(current(turn), "here");
}

async function fork(turn: Turn): Promise<void> {
  try {
    await turn.varve.sessions.fork(current(turn), { key: forkKeyOf(turn) });
  } catch (error) {
    // The fork that was reported as failed is there.
    if (!(error instanceof VarveError) || error.code !== "CONFLICT") throw error;
  }
}

async function importFile(turn: Turn): Promise<void> {
  const path = join(turn.folder, `${fileOf(turn)}.jsonl`);
  const lines = Array.from({ length: 7 }, (_, index) => ({ id: `i${index}`, role: "user", content: `line ${index}` }));
  const text = [...lines.map((line) => JSON.stringify({ ...line, timestamp: line.id.length })), "{broken"];
  // Written once: a second try finds the same file.
  if (!existsSync(path)) writeFileSync(path, `${text.join("\n")}\n`);
  const report = await turn.varve.import([path]);
  if (report.imported + report.duplicates !== lines.length) throw new Error(`${report.imported} lines were imported`);
}

/** Everything the turn has left behind, without the ids and times that chance gave it. */
export async function stateAfter(turn: Turn): Promise<unknown> {
  const { varve } = turn;
  const found = [];
  for (const key of [keyOf(turn), forkKeyOf(turn), `agent:main:jsonl:direct:${fileOf(turn)}`]) {
    const session = await varve.sessions.get(key);
    const { head, entries } = await everythingIn(varve, session);
    const places = new Map(entries.map((entry, index) => [entry.id, index]));
    const sessionIds = [...new Set(entries.map((entry) => entry.sessionId))];
    found.push({
      head: places.get(head ?? ""),
      messageCount: session.messageCount,
      sessionIds: sessionIds.length,
      history: (await varve.sessions.history(session)).length,
      branches: (await varve.transcripts.branches(session)).length,
      checkpoints: (await varve.transcripts.checkpoints(session)).map((one) => one.name),
      entries: entries.map((entry) => ({
        type: entry.type,
        parent: entry.parentId === null ? null : places.get(entry.parentId),
        session: sessionIds.indexOf(entry.sessionId),
        message: messageOf(entry as Entry, turn.name),
      })),
    });
  }
  return { found, exported: turn.exported?.trimEnd().split("\n").length };
}

function messageOf(entry: Entry, name: string): unknown {
  return entry.type === "message" ? JSON.parse(JSON.stringify(entry.message).replaceAll(name, "turn")) : undefined;
}
