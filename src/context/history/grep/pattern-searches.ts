import { FairQueue, VarveError } from "../../../domain/index.ts";
import type { LineMatch, MatchAnswer, MatchRequest, TextMatch } from "./match-protocol.ts";
import { MatchThread } from "./match-thread.ts";

/** Finds the matches of one search in texts. */
export interface Matcher {
  /** The first `max` of the texts that match. */
  findTexts(texts: readonly string[], max: number): Promise<TextMatch[]>;
  /** The first `max` lines of a text that match. */
  findLines(text: string, max: number): Promise<LineMatch[]>;
}

export interface PatternSearchSettings {
  /** How long the texts of one search may be matched, in milliseconds. */
  timeoutMs: number;
  running: number;
  runningPerCaller: number;
  waitingPerCaller: number;
}

/** Thrown when the texts of a search were matched for too long. */
export class SearchTimeout extends VarveError {
  constructor(timeoutMs: number) {
    super("ABORTED", `The pattern was matched for ${timeoutMs} ms without an end.`, {
      remedy: "Send a simpler pattern, a shorter time or fewer conversations, or raise search.regexTimeoutMs.",
    });
  }
}

/** Texts are sent to the thread in pieces of about this many characters. */
const batchCharacters = 2_000_000;
/** A thread without work is ended after this time. */
const idleMs = 15_000;

/**
 * Runs regular expressions in threads of their own: a pattern that takes long stops nobody else, and the thread of one
 * that takes too long, or whose caller went away, is ended.
 */
export class PatternSearches {
  readonly #settings: PatternSearchSettings;
  readonly #queue: FairQueue;
  readonly #idle: { thread: MatchThread; timer: NodeJS.Timeout }[] = [];

  constructor(settings: PatternSearchSettings) {
    this.#settings = settings;
    this.#queue = new FairQueue({ ...settings, what: "searches" });
  }

  /** Compiles the pattern and runs a search with it, when it is the caller's turn. */
  run<T>(
    pattern: string,
    { caller, signal }: { caller: string; signal?: AbortSignal },
    search: (matcher: Matcher) => Promise<T>,
  ): Promise<T> {
    return this.#queue.run(caller, signal, async () => {
      const thread = this.#takeThread();
      try {
        // Loading the thread is not part of the time of a search.
        await thread.call({ op: "start" });
        const matcher = new ThreadMatcher(thread, this.#settings.timeoutMs, signal);
        await matcher.call({ op: "compile", pattern });
        return await search(matcher);
      } finally {
        this.#keepThread(thread);
      }
    });
  }

  #takeThread(): MatchThread {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      clearTimeout(idle.timer);
      if (!idle.thread.isEnded) return idle.thread;
    }
    return new MatchThread();
  }

  #keepThread(thread: MatchThread): void {
    if (thread.isEnded) return;
    const timer = setTimeout(() => {
      this.#idle.splice(this.#idle.indexOf(entry), 1);
      thread.end(new VarveError("ABORTED", "The thread had no work."));
    }, idleMs);
    timer.unref();
    const entry = { thread, timer };
    this.#idle.push(entry);
  }
}

class ThreadMatcher implements Matcher {
  readonly #thread: MatchThread;
  readonly #timeoutMs: number;
  readonly #signal: AbortSignal | undefined;
  #usedMs = 0;

  constructor(thread: MatchThread, timeoutMs: number, signal: AbortSignal | undefined) {
    this.#thread = thread;
    this.#timeoutMs = timeoutMs;
    this.#signal = signal;
  }

  async findTexts(texts: readonly string[], max: number): Promise<TextMatch[]> {
    const matches: TextMatch[] = [];
    for (let from = 0; from < texts.length && matches.length < max; ) {
      const batch = takeBatch(texts, from);
      const found = await this.call({ op: "texts", texts: batch, max: max - matches.length });
      for (const match of found as TextMatch[]) matches.push({ ...match, index: match.index + from });
      from += batch.length;
    }
    return matches;
  }

  async findLines(text: string, max: number): Promise<LineMatch[]> {
    return (await this.call({ op: "lines", text, max })) as LineMatch[];
  }

  /** Ends the thread when the time of the search is used up, or when its caller aborts it. */
  async call(request: MatchRequest): Promise<MatchAnswer> {
    this.#signal?.throwIfAborted();
    const started = performance.now();
    const timeout = AbortSignal.timeout(Math.max(1, Math.ceil(this.#timeoutMs - this.#usedMs)));
    const onTimeout = (): void => this.#thread.end(new SearchTimeout(this.#timeoutMs));
    const onAbort = (): void => this.#thread.end(new VarveError("ABORTED", "The search was cancelled."));
    timeout.addEventListener("abort", onTimeout, { once: true });
    this.#signal?.addEventListener("abort", onAbort, { once: true });
    try {
      return await this.#thread.call(request);
    } finally {
      this.#usedMs += performance.now() - started;
      timeout.removeEventListener("abort", onTimeout);
      this.#signal?.removeEventListener("abort", onAbort);
    }
  }
}

function takeBatch(texts: readonly string[], from: number): readonly string[] {
  let end = from;
  for (let characters = 0; end < texts.length && characters < batchCharacters; end += 1) {
    characters += texts[end]?.length ?? 0;
  }
  return texts.slice(from, end);
}
