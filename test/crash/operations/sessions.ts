import assert from "node:assert/strict";
import type { Message } from "../../../src/domain/index.ts";
import { VarveError } from "../../../src/domain/index.ts";
import type { Session, Varve } from "../../../src/index.ts";
import { assertSameMessages, everythingIn } from "../log.ts";
import { batchOf, markOf } from "../messages.ts";
import type { Operation, Run, Seen, Step, Verifier, Worker } from "../operation.ts";

const keys = [0, 1, 2].map((index) => `agent:main:crash:direct:s${index}`);
const batchMax = 4;

const factsOf = ({ sessionId, conversation }: Session): Step => ({ sessionId, conversation });

/** Finds, renews, resets, restores and forks sessions, with messages in between. */
export const sessions: Operation = {
  name: "sessions",
  stepsMax: 24,
  async run(worker) {
    const varve = await worker.open();
    for (let index = 0; ; index += 1) {
      const key = worker.random.pick(keys);
      const session = await worker.step({ act: "resolve", key }, () => varve.sessions.resolve({ key }), factsOf);
      const batch = `${worker.child}-${index}`;
      const messages = batchOf(worker.place.seed, batch, batchMax);
      await worker.step({ act: "ingest", key, batch, ...factsOf(session) }, () =>
        varve.context.ingest(session, messages),
      );
      await change(worker, varve, session, index);
    }
  },
  verifier: (place) => sessionsVerifier(place.seed),
};

async function change({ child, random, step }: Worker, varve: Varve, session: Session, index: number): Promise<void> {
  const { key } = session;
  const act = random.pick(["none", "new", "reset", "restore", "fork"] as const);
  if (act === "new" || act === "reset") {
    await step({ act, key }, () => varve.sessions.renew(session, act), factsOf);
  } else if (act === "restore") {
    await step({ act, key }, () => restoreIfAny(varve, session), factsOf);
  } else if (act === "fork") {
    const fork = `agent:main:crash:direct:fork-${child}-${index}`;
    await step(
      { act, key, fork, parent: session.conversation },
      async () => (await varve.sessions.fork(session, { key: fork })).session,
      factsOf,
    );
  }
}

async function restoreIfAny(varve: Varve, session: Session): Promise<Session> {
  try {
    return await varve.sessions.restore(session);
  } catch (error) {
    if (error instanceof VarveError && error.code === "NOTHING_TO_RESTORE") return varve.sessions.get(session.key);
    throw error;
  }
}

/** What a key points at, and every session id it has had. */
interface KeyState {
  sessionId: string;
  ids: Set<string>;
}

function sessionsVerifier(seed: number): Verifier {
  const states = new Map<string, KeyState>();
  const logs = new Map<number, Message[]>();
  const point = (key: string, sessionId: string) => {
    const ids = states.get(key)?.ids ?? new Set();
    states.set(key, { sessionId, ids: ids.add(sessionId) });
  };
  const write = (step: Step) => {
    const log = logs.get(Number(step.conversation)) ?? [];
    logs.set(Number(step.conversation), [...log, ...batchOf(seed, `${step.batch}`, batchMax)]);
  };
  return {
    async check(varve, run) {
      const seen: Seen = { acknowledged: 0, whole: 0, absent: 0 };
      for (const step of run.done) {
        if (step.act === "ingest") {
          write(step);
          seen.acknowledged += batchOf(seed, `${step.batch}`, batchMax).length;
        } else point(`${step.fork ?? step.key}`, `${step.sessionId}`);
      }
      for (const step of run.pending) {
        const happened =
          step.act === "ingest"
            ? await batchIsThere(varve, step)
            : await sessionChanged(varve, `${step.fork ?? step.key}`, states, point);
        if (happened && step.act === "ingest") write(step);
        seen[happened ? "whole" : "absent"] += 1;
      }
      await assertPointers(varve, states, run);
      await assertLogs(varve, logs, run);
      return seen;
    },
  };
}

/** A conversation's own messages; the key only says which session to borrow the rest from. */
async function ownMessages(varve: Varve, conversation: number): Promise<Message[]> {
  const session = (await varve.sessions.list({ limit: 1 })).sessions[0];
  if (!session) return [];
  const { entries } = await everythingIn(varve, { ...session, conversation });
  return entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
}

async function batchIsThere(varve: Varve, step: Step): Promise<boolean> {
  const messages = await ownMessages(varve, Number(step.conversation));
  return messages.some((message) => markOf(message)?.batch === step.batch);
}

async function sessionChanged(
  varve: Varve,
  key: string,
  states: Map<string, KeyState>,
  point: (key: string, sessionId: string) => void,
): Promise<boolean> {
  const session = await varve.sessions.get(key).catch((error: unknown) => {
    if (error instanceof VarveError && error.code === "SESSION_NOT_FOUND") return undefined;
    throw error;
  });
  if (!session || session.sessionId === states.get(key)?.sessionId) return false;
  point(key, session.sessionId);
  return true;
}

/** Every key points where it was last moved, and knows all of its session ids and no other. */
async function assertPointers(varve: Varve, states: Map<string, KeyState>, run: Run): Promise<void> {
  const touched = new Set([...run.done, ...run.pending].flatMap((step) => [step.key, step.fork ?? step.key]));
  for (const [key, state] of states) {
    if (!touched.has(key)) continue;
    const session = await varve.sessions.get(key);
    assert.equal(session.sessionId, state.sessionId, `${key} points at another session`);
    const history = await varve.sessions.history(session);
    assert.deepEqual(history.map((one) => one.sessionId).sort(), [...state.ids].sort(), `the session ids of ${key}`);
  }
}

async function assertLogs(varve: Varve, logs: Map<number, Message[]>, run: Run): Promise<void> {
  const touched = new Set([...run.done, ...run.pending].map((step) => Number(step.conversation)));
  for (const [conversation, expected] of logs) {
    if (!touched.has(conversation)) continue;
    assertSameMessages(await ownMessages(varve, conversation), expected, `conversation ${conversation}`);
  }
}
