import { type Clock, newId, type Random, WakeSignal } from "../domain/index.ts";
import { extendJob, failJob, finishJob, type JobTable, leaseJob, returnJob, type Store } from "../store/index.ts";

/** A job that is not done and has not failed: it goes on at a time. */
export interface Postponed {
  againAt: number;
  because: string;
}

/** Does one job. It may run twice (a crash after the work, before the end is written), so it must be idempotent. */
export type JobHandler = (
  job: { agent: string; key: string; payload: unknown },
  signal: AbortSignal,
  postpone: (until: Postponed) => void,
) => Promise<void>;

export interface JobWorkerOptions {
  store: Store;
  clock: Clock;
  random: Random;
  handlers: Record<string, JobHandler>;
  /** How long a job may go without an end before another worker takes it over. */
  leaseMs?: number;
  attemptsMax?: number;
  idleMs?: number;
  /** Hears of what failed: a job, or, without one, the store itself. */
  onError?(job: JobTable | undefined, error: unknown): void;
}

const retryBaseMs = 500;
const retryMaxMs = 300_000;
const idleGrowthMax = 8;

/** Works off durable jobs, one at a time. What it does not finish, because the process died, is leased again. */
export class JobWorker {
  private readonly options: Required<Omit<JobWorkerOptions, "onError">> & Pick<JobWorkerOptions, "onError">;
  private readonly owner: string;
  private readonly stopping = new AbortController();
  private readonly bell = new WakeSignal();
  private running: Promise<void> | undefined;

  constructor(options: JobWorkerOptions) {
    this.options = { leaseMs: 60_000, attemptsMax: 5, idleMs: 1_000, ...options };
    this.owner = newId(options.clock, options.random);
  }

  /** Begins, or looks again at once when it has begun. */
  start(): void {
    this.running ??= this.loop();
    this.bell.wake();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    this.bell.wake();
    await this.running;
  }

  /** Does one job that is due; false when there is none. */
  async workOnce(): Promise<boolean> {
    const { store, clock, handlers, leaseMs } = this.options;
    const job = await leaseJob(store, Object.keys(handlers), this.owner, clock.now(), leaseMs);
    if (!job) return false;
    const handler = handlers[job.kind];
    // Long work holds its lease; should a beat fail, the next makes up for it, or another worker takes the job over.
    const beat = setInterval(
      () => void extendJob(store, job, clock.now() + leaseMs).catch((error) => this.options.onError?.(job, error)),
      leaseMs / 3,
    );
    beat.unref();
    try {
      const request = { agent: job.agent, key: job.key, payload: JSON.parse(job.payload) };
      const until: Postponed[] = [];
      await handler?.(request, this.stopping.signal, (one) => until.push(one));
      const postponed = until.at(-1);
      if (postponed) await failJob(store, job, postponed.because, postponed.againAt, clock.now());
      else await finishJob(store, job);
    } catch (error) {
      // Nothing is wrong with a job that its process had no time for.
      if (this.stopping.signal.aborted) {
        await returnJob(store, job, clock.now());
        return true;
      }
      this.options.onError?.(job, error);
      const message = error instanceof Error ? error.message : String(error);
      await failJob(store, job, message, this.retryAt(job), clock.now());
    } finally {
      clearInterval(beat);
    }
    return true;
  }

  private retryAt(job: JobTable): number | undefined {
    if (job.attempts >= this.options.attemptsMax) return undefined;
    return this.options.clock.now() + Math.min(retryBaseMs * 2 ** (job.attempts - 1), retryMaxMs);
  }

  /** A store that cannot be reached for a while must not end the work for good. */
  private async tryOnce(): Promise<boolean> {
    try {
      return await this.workOnce();
    } catch (error) {
      this.options.onError?.(undefined, error);
      return false;
    }
  }

  /** Looks for work less and less often while there is none, so that an idle process leaves the store in peace. */
  private async loop(): Promise<void> {
    const { signal } = this.stopping;
    const { idleMs } = this.options;
    for (let waitMs = idleMs; !signal.aborted; ) {
      if (await this.tryOnce()) {
        waitMs = idleMs;
        continue;
      }
      if (signal.aborted) break;
      const rang = await this.bell.wait(waitMs, { ref: false });
      waitMs = rang ? idleMs : Math.min(2 * waitMs, idleMs * idleGrowthMax);
    }
  }
}
