import { z } from "zod";
import { type CompactResult, sweepGrants } from "../context/index.ts";
import { newId, VarveError } from "../domain/index.ts";
import { type JobHandler, JobWorker } from "../jobs/index.ts";
import { findSession, type Session } from "../session/index.ts";
import { enqueueJob, type NewJob } from "../store/index.ts";
import { compactAfterTurn, compactImported, compactLeftBehind, type TurnFacts } from "./compaction.ts";
import { mayCompact } from "./context-settings.ts";
import { describeFileKind, describingFiles } from "./describe-files.ts";
import type { EngineHost } from "./host.ts";
import { extraction, leftBehind } from "./memory-work.ts";

/** What a job of the context was caused by. */
const compactPayload = z.object({
  because: z.enum(["turn", "new", "import"]),
  windowTokens: z.number().optional(),
  observedTokens: z.number().optional(),
  model: z.string().optional(),
});

/** A job as it is in the queue. */
export interface JobInfo {
  id: string;
  agent: string;
  kind: string;
  /** What it is for, most often a session's key. */
  key: string;
  /** `waiting`, `running`, or `failed` when it was given up. */
  state: string;
  attempts: number;
  runAt: number;
  error?: string;
  createdAt: number;
  updatedAt: number;
}

/** The work that waits, in the background of this process. */
export interface Work {
  /** What waits, runs or was given up, the next one first. */
  list(options?: { agent?: string; state?: string; limit?: number }): Promise<JobInfo[]>;
  /** Does what is due until nothing is; how many jobs were done. */
  drain(): Promise<number>;
  /** Goes on in the background until the engine is closed. */
  start(): void;
  stop(): Promise<void>;
}

/** Several turns make one job of a kind: the key is the session's. */
export function compactJob(
  host: EngineHost,
  session: Pick<Session, "agent" | "key">,
  { estimatedTokens: _, ...payload }: { because: "turn" | "new" | "import" } & TurnFacts,
): NewJob {
  const { agent, key } = session;
  return {
    agent,
    id: newId(host.clock, host.random),
    kind: `compact ${payload.because}`,
    key,
    payload: JSON.stringify(payload),
    runAt: host.clock.now(),
  };
}

export async function enqueue(host: EngineHost, job: NewJob): Promise<void> {
  await host.store.transaction((tx) => enqueueJob(tx, job, host.clock.now()));
}

export function workOf(host: EngineHost): Work {
  const worker = new JobWorker({
    ...host,
    onError: (job, error) => {
      // Without a job it is the store that failed, and whoever uses it hears of that themselves.
      if (!job) return;
      const { agent, key, kind, attempts } = job;
      const text = error instanceof Error ? error.message : String(error);
      host.emit({ type: "job.failed", agent, key, data: { kind, error: text, attempts } });
    },
    handlers: {
      "compact turn": compaction(host),
      "compact new": compaction(host),
      "compact import": compaction(host),
      [describeFileKind]: describingFiles(host),
      "extract memories": extraction(host, false),
      "extract all memories": extraction(host, true),
      "memories left behind": leftBehind(host),
    },
  });
  let upkeep: NodeJS.Timeout | undefined;
  return {
    list: (options) => listJobs(host, options),
    async drain() {
      await sweepGrants(host);
      let done = 0;
      while (await worker.workOnce()) done += 1;
      return done;
    },
    start() {
      worker.start();
      // Grants end by their time for whoever asks; this only keeps the table honest. The next round makes up for a failure.
      upkeep ??= setInterval(() => void sweepGrants(host).catch(() => undefined), upkeepMs);
      upkeep.unref();
    },
    async stop() {
      clearInterval(upkeep);
      await worker.stop();
    },
  };
}

const listedMax = 200;

async function listJobs(
  { store, loaded }: EngineHost,
  { agent = loaded.config.agent, state, limit = listedMax }: { agent?: string; state?: string; limit?: number } = {},
): Promise<JobInfo[]> {
  let query = store.db.selectFrom("jobs").selectAll().where("agent", "=", agent);
  if (state !== undefined) query = query.where("state", "=", state);
  const rows = await query.orderBy("run_at").orderBy("id").limit(limit).execute();
  return rows.map((row) => ({
    id: row.id,
    agent: row.agent,
    kind: row.kind,
    key: row.key,
    state: row.state,
    attempts: row.attempts,
    runAt: row.run_at,
    ...(row.last_error === null ? {} : { error: row.last_error }),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }));
}

/** A model that is down fails the job, so that it is tried again later; a sweep that was cut short is gone on with. */
function compaction(host: EngineHost): JobHandler {
  return async (job, signal) => {
    const { because, ...facts } = compactPayload.parse(job.payload);
    const session = await sessionOf(host, job.key, job.agent);
    if (!session || !mayCompact(host.loaded.config, session).may) return;
    for (let round = 0; round < roundsMax; round += 1) {
      signal.throwIfAborted();
      const result = await (because === "new"
        ? compactLeftBehind(host, session, signal)
        : because === "import"
          ? compactImported(host, session, signal)
          : compactAfterTurn(host, session, facts, signal));
      if (result === undefined || !goesOn(result) || because === "import") return;
      // What the provider counted was before this; from now on the stored figures say whether it is enough.
      facts.observedTokens = undefined;
    }
  };
}

const roundsMax = 100;
const upkeepMs = 600_000;

function goesOn(result: CompactResult): boolean {
  if (result.failure !== undefined || result.status === "busy") {
    throw new VarveError(result.failure ?? "CONFLICT", result.because ?? "The compaction did not end.");
  }
  return result.status !== "nothing" && result.tokensAfter < result.tokensBefore;
}

/** The session of a job, or nothing when it was deleted meanwhile. */
async function sessionOf(host: EngineHost, key: string, agent: string): Promise<Session | undefined> {
  try {
    return await findSession(host, key, agent);
  } catch (error) {
    if (error instanceof VarveError && error.code === "SESSION_NOT_FOUND") return undefined;
    throw error;
  }
}
