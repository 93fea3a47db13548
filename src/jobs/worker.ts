import { newId, WakeSignal } from "../domain/index.ts";
import { extendJob, failJob, finishJob, type JobTable, leaseJob, returnJob, type Store } from "../store/index.ts";

/** A job that neither finished nor failed: it continues at a later time. */
export interface Postponed {
  againAt: number;
  because: string;
}

/** Runs one job. It may run twice (after a crash between the work and its acknowledgement), so it must be idempotent. */
export type JobHandler = (
  job: { agent: string; key: string; payload: unknown; createdAt: number },
  signal: AbortSignal,
  postpone: (until: Postponed) => void,
) => Promise<void>;

export interface JobWorkerOptions {
  store: Store;
  handlers: Record<string, JobHandler>;
  /** How long a job is leased; another worker takes it over when the lease expires. */
  leaseMs?: number;
  attemptsMax?: number;
  idleMs?: number;
  /** Called when a job fails or, without a job, when the store itself fails. */
  onError?(job: JobTable | undefined, error: unknown): void;
}

const retryBaseMs = 500;
const retryMaxMs = 300_000;
const idleGrowthMax = 8;

/** Runs durable jobs, one at a time. A job whose process died is leased again. */
export class JobWorker {
  private readonly options: Required<Omit<JobWorkerOptions, "onError">> & Pick<JobWorkerOptions, "onError">;
  private readonly owner: string;
  private readonly stopping = new AbortController();
  private readonly wakeSignal = new WakeSignal();
  private running: Promise<void> | undefined;

  constructor(options: JobWorkerOptions) {
    this.options = { leaseMs: 12_000, attemptsMax: 5, idleMs: 1_000, ...options };
    this.owner = newId(options.store.clock, options.store.random);
  }

  /** Starts the loop, or wakes it when it runs already. */
  start(): void {
    this.running ??= this.loop();
    this.wakeSignal.wake();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    this.wakeSignal.wake();
    await this.running;
  }

  /** Runs one due job; false when there is none. */
  async workOnce(): Promise<boolean> {
    const { store, handlers, leaseMs } = this.options;
    const { clock } = store;
    const job = await leaseJob(store, Object.keys(handlers), this.owner, clock.now(), leaseMs);
    if (!job) return false;
    const handler = handlers[job.kind];
    // Long work extends its lease; after a failed extension the next one makes up for it, or another worker takes over.
    const beat = setInterval(
      () => void extendJob(store, job, clock.now() + leaseMs).catch((error) => this.options.onError?.(job, error)),
      leaseMs / 3,
    );
    beat.unref();
    try {
      const request = { agent: job.agent, key: job.key, payload: JSON.parse(job.payload), createdAt: job.created_at };
      const until: Postponed[] = [];
      await handler?.(request, this.stopping.signal, (one) => until.push(one));
      const postponed = until.at(-1);
      if (postponed) await failJob(store, job, postponed.because, postponed.againAt, clock.now());
      else await finishJob(store, job);
    } catch (error) {
      // A job that was interrupted by shutdown has not failed.
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
    return this.options.store.clock.now() + Math.min(retryBaseMs * 2 ** (job.attempts - 1), retryMaxMs);
  }

  /** A store that is unreachable for a while must not end the loop. */
  private async tryOnce(): Promise<boolean> {
    try {
      return await this.workOnce();
    } catch (error) {
      this.options.onError?.(undefined, error);
      return false;
    }
  }

  /** Polls less and less often while there is no work, so that an idle process hardly uses the store. */
  private async loop(): Promise<void> {
    const { signal } = this.stopping;
    const { idleMs } = this.options;
    for (let waitMs = idleMs; !signal.aborted; ) {
      if (await this.tryOnce()) {
        waitMs = idleMs;
        continue;
      }
      if (signal.aborted) break;
      const isWoken = await this.wakeSignal.wait(waitMs, { ref: false });
      waitMs = isWoken ? idleMs : Math.min(2 * waitMs, idleMs * idleGrowthMax);
    }
  }
}
