import { VarveError } from "../../../domain/index.ts";
import type {
  EntrySource,
  LineMatch,
  LoadReport,
  MatchAnswer,
  MatchRequest,
  MessageMatch,
  TextMatch,
} from "./match-protocol.ts";
import type { MatchThread } from "./match-thread.ts";
import type { FoundMessages, PatternMatcher } from "./matcher.ts";

/** Thrown when the texts of a search were matched for too long. */
export class SearchTimeout extends VarveError {
  constructor(timeoutMs: number) {
    super("ABORTED", `The pattern was matched for ${timeoutMs} ms without an end.`, {
      remedy: "Send a simpler pattern, a shorter time or fewer conversations, or raise search.regexTimeoutMs.",
    });
  }
}

/** Texts are sent to a thread, and loaded by it, in pieces of about this many characters. */
const batchCharacters = 2_000_000;

export interface ThreadMatcherOptions {
  pattern: string;
  timeoutMs: number;
  parallel: number;
  /** The entries that the threads read by themselves; absent where only the store can. */
  source?: EntrySource;
  /** Its reason is the error of the search if it is one of Varve's. */
  signal?: AbortSignal;
}

/** Matches the texts of one search in one or more threads, each with one text batch at a time. */
export class ThreadMatcher implements PatternMatcher {
  readonly parallel: number;
  readonly canRead: boolean;
  readonly #options: ThreadMatcherOptions;
  readonly #takeThread: (isFirst: boolean) => MatchThread | undefined;
  readonly #threads: MatchThread[] = [];
  readonly #free: MatchThread[] = [];
  /** The threads that have the file of the entries open. */
  readonly #opened = new Set<MatchThread>();
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
    this.canRead = options.source !== undefined;
  }

  /** Compiles the pattern, or throws why it cannot be used. */
  async start(): Promise<void> {
    this.#release(await this.#acquire());
  }

  /** Waits for the calls that still run, and until no thread has the file open. Returns the threads. */
  async finish(): Promise<MatchThread[]> {
    while (this.#calls.size > 0) await Promise.allSettled(this.#calls);
    await Promise.all([...this.#opened].map(closeFile));
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

  findMessages(seqs: readonly number[], max: number, isWanted: () => boolean): Promise<FoundMessages> {
    return this.#useThread(async (thread) => {
      await this.#openFile(thread);
      const found: FoundMessages = { count: 0, matches: [], unread: [] };
      for (let from = 0; from < seqs.length && found.matches.length < max && isWanted(); ) {
        const rest = from === 0 ? seqs : seqs.slice(from);
        const load: MatchRequest = { op: "load", seqs: rest, charactersMax: batchCharacters };
        const { read, count, unread } = (await this.#call(thread, load)) as LoadReport;
        const match: MatchRequest = { op: "messages", max: max - found.matches.length };
        const matches = (await this.#callTimed(thread, match)) as MessageMatch[];
        for (const one of matches) found.matches.push({ ...one, index: one.index + found.count });
        for (const one of unread) found.unread.push({ ...one, index: one.index + found.count });
        found.count += count;
        from += read;
      }
      return found;
    });
  }

  async #openFile(thread: MatchThread): Promise<void> {
    const { source } = this.#options;
    if (source === undefined) throw new VarveError("INTERNAL", "The threads of this search cannot read entries.");
    if (this.#opened.has(thread)) return;
    this.#opened.add(thread);
    await this.#call(thread, { op: "open", source });
  }

  #match(request: MatchRequest): Promise<MatchAnswer> {
    return this.#useThread((thread) => this.#callTimed(thread, request));
  }

  async #useThread<T>(work: (thread: MatchThread) => Promise<T>): Promise<T> {
    const call = this.#acquire().then(async (thread) => {
      try {
        return await work(thread);
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
    await this.#callTimed(thread, { op: "compile", pattern: this.#options.pattern });
    return thread;
  }

  /** A thread that was ended is passed on too: the next call to it fails with the reason. */
  #release(thread: MatchThread): void {
    const next = this.#waiting.shift();
    if (next) next(thread);
    else this.#free.push(thread);
  }

  /** Ends the threads when the time of the search is used up. */
  async #callTimed(thread: MatchThread, request: MatchRequest): Promise<MatchAnswer> {
    const { timeoutMs } = this.#options;
    if (this.#running === 0) this.#runningSince = performance.now();
    this.#running += 1;
    const usedMs = this.#usedMs + performance.now() - this.#runningSince;
    const timeout = AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs - usedMs)));
    const onTimeout = (): void => this.#end(new SearchTimeout(timeoutMs));
    timeout.addEventListener("abort", onTimeout, { once: true });
    try {
      return await this.#call(thread, request);
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#usedMs += performance.now() - this.#runningSince;
      timeout.removeEventListener("abort", onTimeout);
    }
  }

  /** Ends the threads when the caller aborts the search. */
  async #call(thread: MatchThread, request: MatchRequest): Promise<MatchAnswer> {
    const { signal } = this.#options;
    signal?.throwIfAborted();
    const onAbort = (): void => this.#end(toAbortError(signal?.reason));
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      return await thread.call(request);
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  #end(error: Error): void {
    for (const thread of this.#threads) void thread.end(error);
  }
}

function toAbortError(reason: unknown): VarveError {
  return reason instanceof VarveError ? reason : new VarveError("ABORTED", "The search was cancelled.");
}

/** A thread that does not close its file is ended, which closes it. */
async function closeFile(thread: MatchThread): Promise<void> {
  try {
    await thread.call({ op: "close" });
  } catch (error) {
    await thread.end(error instanceof Error ? error : new Error(String(error)));
  }
}

function takeBatch(texts: readonly string[], from: number): readonly string[] {
  let end = from;
  for (let characters = 0; end < texts.length && characters < batchCharacters; end += 1) {
    characters += texts[end]?.length ?? 0;
  }
  return texts.slice(from, end);
}
