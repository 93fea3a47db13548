import { z } from "zod";
import { VarveError } from "../domain/index.ts";
import type { JobHandler, Postponed } from "../jobs/index.ts";
import { type Extraction, extractBatch, reflect } from "../memory/index.ts";
import { findSession, type Session } from "../session/index.ts";
import { readTail } from "../transcript/index.ts";
import type { EngineHost } from "./host.ts";
import { budgetOf, extractOptions, mayExtract, memoryHost } from "./memory-settings.ts";

const leftPayload = z.object({ key: z.string(), conversation: z.number(), transcript: z.number() });
/** How much of a long history one job reads; the rest goes on in the next. */
const batchesMax = 20;
const goOnMs = 1_000;
const reflectEntries = 200;

/** Reads what is unseen of a conversation, batch by batch; what of it waits for its budget is gone on with later. */
export async function extractFrom(
  host: EngineHost,
  ref: { agent: string; conversation: number; key: string },
  all: boolean,
  signal?: AbortSignal,
): Promise<{ batches: Extraction[]; postponed?: Postponed }> {
  const options = extractOptions(
    host.loaded.config,
    { agent: ref.agent, conversation: ref.conversation },
    { key: ref.key, all },
  );
  const batches: Extraction[] = [];
  if (!options) return { batches };
  for (let round = 0; round < batchesMax; round += 1) {
    signal?.throwIfAborted();
    const done = await extractBatch(memoryHost(host), { ...options, signal });
    if (done.status === "waiting") {
      const postponed = { againAt: done.againAt ?? host.clock.now(), because: done.because ?? "the budget is used up" };
      return { batches, postponed };
    }
    if (done.status === "nothing") return { batches };
    if (done.status === "lost") continue;
    batches.push(done);
    if (!done.more) return { batches };
  }
  return { batches, postponed: { againAt: host.clock.now() + goOnMs, because: "there is more to read" } };
}

/** After turns, and before a compaction: a model that is down fails the job, so that it is tried again later. */
export function extraction(host: EngineHost, all: boolean): JobHandler {
  return async (job, signal, postpone) => {
    const session = await sessionOf(host, job.key, job.agent);
    if (!session || !mayExtract(host.loaded.config, session)) return;
    const { batches, postponed } = await extractFrom(host, session, all, signal);
    tell(host, session, batches);
    if (postponed) postpone(postponed);
  };
}

/** When a session was renewed: what it left behind is read to its end, and looked back on. */
export function leftBehind(host: EngineHost): JobHandler {
  return async (job, signal, postpone) => {
    const { key, conversation, transcript } = leftPayload.parse(job.payload);
    if (!mayExtract(host.loaded.config, { key })) return;
    const ref = { agent: job.agent, conversation, key };
    const { batches, postponed } = await extractFrom(host, ref, true, signal);
    tell(host, { agent: job.agent, key }, batches);
    if (postponed) {
      postpone(postponed);
      return;
    }
    const { entries } = await readTail(host.store, ref, { limit: reflectEntries, transcript });
    await reflect(memoryHost(host), { agent: job.agent, entries, budget: budgetOf(host.loaded.config), signal });
  };
}

const lookBackMs = 86_400_000;
const sessionsMax = 50;

/** What was talked about in the last day is read to its end and looked back on; how many sessions that was. */
export async function lookBack(host: EngineHost, signal?: AbortSignal): Promise<{ sessions: number; written: number }> {
  const since = host.clock.now() - lookBackMs;
  const rows = await host.store.db
    .selectFrom("sessions")
    .select(["agent", "key", "conversation"])
    .where("updated_at", ">=", since)
    .orderBy("updated_at", "desc")
    .limit(sessionsMax)
    .execute();
  let written = 0;
  for (const ref of rows.filter((row) => mayExtract(host.loaded.config, row))) {
    signal?.throwIfAborted();
    const { batches } = await extractFrom(host, ref, true, signal);
    tell(host, ref, batches);
    const { entries } = await readTail(host.store, ref, { limit: reflectEntries });
    const fresh = entries.filter((entry) => entry.time >= since);
    const budget = budgetOf(host.loaded.config);
    const { applied } = await reflect(memoryHost(host), { agent: ref.agent, entries: fresh, budget, signal });
    written += applied.length;
  }
  return { sessions: rows.length, written };
}

function tell(host: EngineHost, session: Pick<Session, "agent" | "key">, batches: readonly Extraction[]): void {
  for (const { messages, applied, held, rejected, dropped, notes } of batches) {
    if (applied.length + held + rejected + notes.length === 0) continue;
    const decisions: Record<string, number> = {};
    for (const { decision } of applied) decisions[decision] = (decisions[decision] ?? 0) + 1;
    const data = { messages, decisions, held, rejected, dropped, notes };
    host.emit({ type: "memories", agent: session.agent, key: session.key, data });
  }
}

async function sessionOf(host: EngineHost, key: string, agent: string): Promise<Session | undefined> {
  try {
    return await findSession(host, key, agent);
  } catch (error) {
    if (error instanceof VarveError && error.code === "SESSION_NOT_FOUND") return undefined;
    throw error;
  }
}
