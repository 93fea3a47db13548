import { availableParallelism } from "node:os";
import { FairQueue, VarveError } from "../../../domain/index.ts";
import type { EntrySource } from "./match-protocol.ts";
import { MatchThread } from "./match-thread.ts";
import type { PatternMatcher } from "./matcher.ts";
import { ThreadMatcher } from "./thread-matcher.ts";

export interface PatternSearchSettings {
  /** How long the texts of one search may be matched, in milliseconds. */
  timeoutMs: number;
  running: number;
  /** The most threads of all searches; each search has at least one. The number of processors when absent. */
  threads?: number;
  runningPerCaller: number;
  waitingPerCaller: number;
}

export interface PatternSearchOptions {
  caller: string;
  signal?: AbortSignal;
  /** The entries that threads read by themselves; absent where only the store can. */
  source?: EntrySource;
}

/** A thread without work is ended after this time. */
const idleMs = 15_000;

/**
 * Runs regular expressions in threads of their own: a pattern that takes long stops nobody else, and the thread of one
 * that takes too long, or whose caller went away, is ended.
 */
export class PatternSearches {
  readonly #settings: PatternSearchSettings;
  readonly #queue: FairQueue;
  readonly #threads: number;
  #used = 0;
  readonly #idle: { thread: MatchThread; timer: NodeJS.Timeout }[] = [];

  constructor(settings: PatternSearchSettings) {
    this.#settings = settings;
    this.#threads = settings.threads ?? availableParallelism();
    this.#queue = new FairQueue({ ...settings, what: "searches" });
  }

  /** Compiles the pattern and runs a search with it, when it is the caller's turn. */
  run<T>(
    pattern: string,
    { caller, signal, source }: PatternSearchOptions,
    search: (matcher: PatternMatcher) => Promise<T>,
  ): Promise<T> {
    return this.#queue.run(caller, signal, async () => {
      const { timeoutMs } = this.#settings;
      const options = { pattern, timeoutMs, signal, source, parallel: this.#threads };
      const matcher = new ThreadMatcher(options, (isFirst) =>
        isFirst || this.#used < this.#threads ? this.#takeThread() : undefined,
      );
      try {
        await matcher.start();
        return await search(matcher);
      } finally {
        for (const thread of await matcher.finish()) this.#keepThread(thread);
      }
    });
  }

  #takeThread(): MatchThread {
    this.#used += 1;
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      clearTimeout(idle.timer);
      if (!idle.thread.isEnded) return idle.thread;
    }
    return new MatchThread();
  }

  #keepThread(thread: MatchThread): void {
    this.#used -= 1;
    if (thread.isEnded) return;
    const timer = setTimeout(() => {
      this.#idle.splice(this.#idle.indexOf(entry), 1);
      void thread.end(new VarveError("ABORTED", "The thread had no work."));
    }, idleMs);
    timer.unref();
    const entry = { thread, timer };
    this.#idle.push(entry);
  }
}
