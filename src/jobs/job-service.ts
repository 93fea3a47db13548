import { runAsEngine } from "../authorization/index.ts";
import { type Clock, newId, type Random } from "../domain/index.ts";
import { enqueueJob, type JobTable, type NewJob, type Store } from "../store/index.ts";
import { type JobHandler, JobWorker } from "./worker.ts";

/** A job as it is in the queue. */
export interface JobInfo {
  id: string;
  agent: string;
  kind: string;
  /** Its subject, most often a session's key. */
  key: string;
  /** `waiting`, `running`, or `failed` once its attempts are used up. */
  state: string;
  attempts: number;
  runAt: number;
  error?: string;
  createdAt: number;
  updatedAt: number;
}

/** The background jobs of this process. */
export interface JobService {
  /** Pending, running and failed jobs, in the order they run. */
  list(options?: { agent?: string; state?: string; limit?: number }): Promise<JobInfo[]>;
  /** Queues a failed job again; undefined when there is no failed job with this id. */
  retry(id: string, agent?: string): Promise<JobInfo | undefined>;
  /** Runs the pending jobs until none is due; returns how many ran. */
  drain(): Promise<number>;
  /** Runs jobs in the background until the engine is closed. */
  start(): void;
  stop(): Promise<void>;
}

/** The queue as the modules see it: each registers the handlers of its own jobs. */
export interface JobQueue {
  register(kind: string, handler: JobHandler): void;
  /** Work that is repeated at an interval while jobs run, and once by `drain`. */
  repeat(work: () => Promise<unknown>): void;
  /** Writes a job durably and wakes the worker. One pending job of a kind and key is enough. */
  enqueue(job: NewJob): Promise<void>;
  /** Runs pending jobs soon, where this process runs jobs in the background. */
  wake(): void;
}

export interface JobServiceOptions {
  store: Store;
  /** The agent whose jobs are listed when none is named. */
  agent: string;
  /** Whether `wake` starts the worker. */
  background: boolean;
  onFailed(job: JobTable, error: unknown): void;
}

const listedMax = 200;
const repeatMs = 600_000;

export function createJobService({ store, agent, background, onFailed }: JobServiceOptions): JobService & JobQueue {
  const handlers: Record<string, JobHandler> = {};
  const repeated: (() => Promise<unknown>)[] = [];
  const worker = new JobWorker({
    store,
    handlers,
    // Without a job the store itself failed: its callers get that error themselves.
    onError: (job, error) => {
      if (job) onFailed(job, error);
    },
  });
  let timer: NodeJS.Timeout | undefined;
  const service: JobService & JobQueue = {
    register(kind, handler) {
      handlers[kind] = handler;
    },
    repeat(work) {
      repeated.push(work);
    },
    async enqueue(job) {
      await store.transaction((tx) => enqueueJob(tx, job, store.clock.now()));
      service.wake();
    },
    wake() {
      if (background) service.start();
    },
    list: (options = {}) => listJobs(store, { ...options, agent: options.agent ?? agent }),
    async retry(id, of = agent) {
      const now = store.clock.now();
      const queued = await store.transaction(({ db }) =>
        db
          .updateTable("jobs")
          .set({ state: "waiting", attempts: 0, run_at: now, updated_at: now })
          .where("agent", "=", of)
          .where("id", "=", id)
          .where("state", "=", "failed")
          .returningAll()
          .executeTakeFirst(),
      );
      if (!queued) return undefined;
      service.wake();
      return toJobInfo(queued);
    },
    drain: () =>
      runAsEngine(async () => {
        for (const work of repeated) await work();
        let done = 0;
        while (await worker.workOnce()) done += 1;
        return done;
      }),
    start() {
      // A request may start it, but the jobs are everybody's.
      runAsEngine(() => {
        worker.start();
        // A failed round is made up for by the next one.
        timer ??= setInterval(() => {
          for (const work of repeated) void work().catch(() => undefined);
        }, repeatMs);
        timer.unref();
      });
    },
    async stop() {
      clearInterval(timer);
      await worker.stop();
    },
  };
  return service;
}

/** A job that is due now, or after a delay. */
export function createJob(
  { clock, random }: { clock: Clock; random: Random },
  job: { agent: string; kind: string; key: string; payload?: object; delayMs?: number },
): NewJob {
  const { agent, kind, key, payload = {}, delayMs = 0 } = job;
  return {
    agent,
    id: newId(clock, random),
    kind,
    key,
    payload: JSON.stringify(payload),
    runAt: clock.now() + delayMs,
  };
}

async function listJobs(
  store: Store,
  { agent, state, limit = listedMax }: { agent: string; state?: string; limit?: number },
): Promise<JobInfo[]> {
  let query = store.db.selectFrom("jobs").selectAll().where("agent", "=", agent);
  if (state !== undefined) query = query.where("state", "=", state);
  const rows = await query.orderBy("run_at").orderBy("id").limit(limit).execute();
  return rows.map(toJobInfo);
}

function toJobInfo(row: JobTable): JobInfo {
  return {
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
  };
}
