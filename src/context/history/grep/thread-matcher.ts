import { VarveError } from "../../../domain/index.ts";
import type { LineMatch, MatchAnswer, MatchRequest, TextMatch } from "./match-protocol.ts";
import type { MatchThread } from "./match-thread.ts";
import type { Matcher } from "./matcher.ts";

/** Thrown when the texts of a search were matched for too long. */
export class SearchTimeout extends VarveError {
  constructor(timeoutMs: number) {
    super("ABORTED", `The pattern was matched for ${timeoutMs} ms without an end.`, {
      remedy: "Send a simpler pattern, a shorter time or fewer conversations, or raise search.regexTimeoutMs.",
    });
  }
}

/** Texts are sent to a thread in pieces of about this many characters. */
const batchCharacters = 2_000_000;

export interface ThreadMatcherOptions {
  pattern: string;
  timeoutMs: number;
  parallel: number;
  signal?: AbortSignal;
}

/** Matches the texts of one search in one or more threads, each with one text batch at a time. */
export class ThreadMatcher implements Matcher {
  readonly parallel: number;
  readonly #options: ThreadMatcherOptions;
  readonly #takeThread: (isFirst: boolean) => MatchThread | undefined;
  readonly #threads: MatchThread[] = [];
  readonly #free: MatchThread[] = [];
  readonly #waiting: ((thread: MatchThread) => void)[] = [];
  readonly #calls = new Set<Promise<unknown>>();
  /** The time in which at least one thread matched, without the current one. */
  #usedMs = 0;
  #running = 0;
  #runningSince = 0;

  /** `takeThread` gives the first thread always, and more while there are any. */
  constructor(options: ThreadMatcherOptions, takeThread: (isFirst: boolean) => MatchThread | undefined) {
    this.#options = options;
    this.#takeThread = takeThread;
    this.parallel = options.parallel;
  }

  /** Compiles the pattern, or throws why it cannot be used. */
  async start(): Promise<void> {
    this.#release(await this.#acquire());
  }

  /** Waits for the calls that still run. Returns the threads. */
  async finish(): Promise<MatchThread[]> {
    while (this.#calls.size > 0) await Promise.allSettled(this.#calls);
    return this.#threads;
  }

  async findTexts(texts: readonly string[], max: number): Promise<TextMatch[]> {
    const matches: TextMatch[] = [];
    for (let from = 0; from < texts.length && matches.length < max; ) {
      const batch = takeBatch(texts, from);
      const found = await this.#match({ op: "texts", texts: batch, max: max - matches.length });
      for (const match of found as TextMatch[]) matches.push({ ...match, index: match.index + from });
      from += batch.length;
    }
    return matches;
  }

  async findLines(text: string, max: number): Promise<LineMatch[]> {
    return (await this.#match({ op: "lines", text, max })) as LineMatch[];
  }

  async #match(request: MatchRequest): Promise<MatchAnswer> {
    const call = this.#acquire().then(async (thread) => {
      try {
        return await this.#call(thread, request);
      } finally {
        this.#release(thread);
      }
    });
    this.#calls.add(call);
    try {
      return await call;
    } finally {
      this.#calls.delete(call);
    }
  }

  async #acquire(): Promise<MatchThread> {
    const free = this.#free.pop();
    if (free) return free;
    const thread = this.#takeThread(this.#threads.length === 0);
    if (!thread) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#threads.push(thread);
    // Loading the thread is not part of the time of a search.
    await thread.call({ op: "start" });
    await this.#call(thread, { op: "compile", pattern: this.#options.pattern });
    return thread;
  }

  /** A thread that was ended is passed on too: the next call to it fails with the reason. */
  #release(thread: MatchThread): void {
    const next = this.#waiting.shift();
    if (next) next(thread);
    else this.#free.push(thread);
  }

  /** Ends the threads when the time of the search is used up, or when its caller aborts it. */
  async #call(thread: MatchThread, request: MatchRequest): Promise<MatchAnswer> {
    const { signal, timeoutMs } = this.#options;
    signal?.throwIfAborted();
    if (this.#running === 0) this.#runningSince = performance.now();
    this.#running += 1;
    const usedMs = this.#usedMs + performance.now() - this.#runningSince;
    const timeout = AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs - usedMs)));
    const onTimeout = (): void => this.#end(new SearchTimeout(timeoutMs));
    const onAbort = (): void => this.#end(new VarveError("ABORTED", "The search was cancelled."));
    timeout.addEventListener("abort", onTimeout, { once: true });
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      return await thread.call(request);
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#usedMs += performance.now() - this.#runningSince;
      timeout.removeEventListener("abort", onTimeout);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  #end(error: Error): void {
    for (const thread of this.#threads) thread.end(error);
  }
}

function takeBatch(texts: readonly string[], from: number): readonly string[] {
  let end = from;
  for (let characters = 0; end < texts.length && characters < batchCharacters; end += 1) {
    characters += texts[end]?.length ?? 0;
  }
  return texts.slice(from, end);
}
