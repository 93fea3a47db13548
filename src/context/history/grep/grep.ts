import { VarveError } from "../../../domain/index.ts";
import { queryWords, type Store } from "../../../store/index.ts";
import { findLines, findTexts } from "./find-places.ts";
import { grepFiles, grepMessages, grepSummaries, matchMessages } from "./grep-sources.ts";
import type {
  CompiledGrep,
  Found,
  GrepMatch,
  GrepOptions,
  GrepResult,
  GrepScope,
  GrepSort,
  PatternGrep,
} from "./grep-types.ts";
import type { EntrySource } from "./match-protocol.ts";
import type { Matcher } from "./matcher.ts";
import { findPatternNeedle } from "./pattern-needle.ts";
import type { PatternSearches } from "./pattern-searches.ts";
import { SearchTimeout } from "./thread-matcher.ts";

const charactersMax = 40_000;
const halfLifeMs = 14 * 86_400_000;

/**
 * Finds a pattern in messages, summaries and files. Everything that is left out is reported, also when the search is
 * stopped because its pattern takes too long.
 */
export async function grep(store: Store, searches: PatternSearches, options: GrepOptions): Promise<GrepResult> {
  const found: AllFound = { messages: createFound(), summaries: createFound(), files: createFound() };
  let stopped: SearchTimeout | undefined;
  try {
    if (options.mode === "full_text") await findWordsIn(store, options, found);
    else await findPatternIn(store, searches, options, found);
  } catch (error) {
    if (!(error instanceof SearchTimeout)) throw error;
    stopped = error;
  }
  const { messages, summaries, files } = found;
  const all = sorted([...messages.matches, ...summaries.matches, ...files.matches], options.sort);
  const kept = within(all.slice(0, options.limit));
  const more = messages.more || summaries.more || files.more || all.length > options.limit;
  const cuts = [
    describeStop(stopped, found),
    describeNewest(messages.newestRanked, options.sort),
    describeCut(kept.length, Math.min(all.length, options.limit), more, options.limit),
  ].filter((cut) => cut !== undefined);
  return {
    matches: kept,
    searched: { messages: messages.searched, summaries: summaries.searched, files: files.searched },
    ...(cuts.length === 0 ? {} : { cut: cuts.join("; ") }),
  };
}

interface AllFound {
  messages: Found;
  summaries: Found;
  files: Found;
}

const createFound = (): Found => ({ matches: [], searched: 0, more: false });

function wants(options: GrepOptions, scope: GrepScope): boolean {
  return options.scope === scope || (options.scope === "both" && scope !== "files");
}

async function findPatternIn(
  store: Store,
  searches: PatternSearches,
  options: GrepOptions,
  { messages, summaries, files }: AllFound,
): Promise<void> {
  const { pattern, agent, caller } = options;
  const needle = findPatternNeedle(pattern);
  const { entryFile } = store;
  const run = (signal: AbortSignal | undefined, source?: EntrySource): Promise<void> =>
    searches.run(pattern, { caller, signal, source }, async (matcher) => {
      const hunt: PatternGrep = { ...options, signal, words: [], matcher, needle };
      if (wants(options, "messages")) await grepMessages(store, hunt, messages);
      if (wants(options, "summaries")) await grepSummaries(store, hunt, summaries);
      if (wants(options, "files")) await grepFiles(store, hunt, files);
    });
  if (!entryFile) return run(options.signal);
  await entryFile.use((closing) => {
    const signal = options.signal ? AbortSignal.any([options.signal, closing]) : closing;
    return run(signal, { address: entryFile.address, agent });
  });
}

async function findWordsIn(
  store: Store,
  options: GrepOptions,
  { messages, summaries, files }: AllFound,
): Promise<void> {
  const words = queryWords(options.pattern);
  if (words.length === 0) {
    throw new VarveError("BAD_REQUEST", "The pattern holds no word to look for.", {
      remedy: "Send at least one letter or digit, or mode regex for signs.",
    });
  }
  const plain = words.map((word) => word.toLowerCase().replaceAll(/(?<=[^\p{ASCII}]) (?=[^\p{ASCII}])/gu, ""));
  const find = (text: string) => findWords(text, plain);
  const matcher: Matcher = {
    parallel: 1,
    findTexts: async (texts, max) => findTexts(find, texts, max),
    findLines: async (text, max) => findLines(find, text, max),
  };
  const hunt: CompiledGrep = { ...options, words, matcher };
  if (wants(options, "messages")) await matchMessages(store, hunt, messages);
  if (wants(options, "summaries")) await grepSummaries(store, hunt, summaries);
  if (wants(options, "files")) await grepFiles(store, hunt, files);
}

/** Whether all words occur, in any order and ignoring case; returns the position of the first. */
function findWords(text: string, words: readonly string[]): { from: number; to: number } | undefined {
  const lower = text.toLowerCase();
  let first: { from: number; to: number } | undefined;
  for (const word of words) {
    const from = lower.indexOf(word);
    if (from === -1) return undefined;
    if (first === undefined || from < first.from) first = { from, to: from + word.length };
  }
  return first;
}

function sorted(matches: GrepMatch[], sort: GrepSort): GrepMatch[] {
  const newest = matches.reduce((latest, one) => Math.max(latest, one.time), 0);
  const best = matches.reduce((highest, one) => Math.max(highest, one.score), 0) || 1;
  const weight = (one: GrepMatch): number => {
    if (sort === "recency") return one.time;
    if (sort === "relevance") return one.score;
    return 0.6 * (one.score / best) + 0.4 * 2 ** (-(newest - one.time) / halfLifeMs);
  };
  return matches.sort((a, b) => weight(b) - weight(a) || b.time - a.time || compareCitations(a, b));
}

/** The newest first; the lines of a file in their order. */
function compareCitations(a: GrepMatch, b: GrepMatch): number {
  if (a.citation === b.citation) return (a.line ?? 0) - (b.line ?? 0);
  return a.citation < b.citation ? 1 : -1;
}

/** As many of the best matches as fit 40,000 characters. */
function within(matches: GrepMatch[]): GrepMatch[] {
  let characters = 0;
  const kept: GrepMatch[] = [];
  for (const match of matches) {
    characters += match.snippet.length + match.citation.length + 60;
    if (characters > charactersMax) break;
    kept.push(match);
  }
  return kept;
}

function describeStop(
  stopped: SearchTimeout | undefined,
  { messages, summaries, files }: AllFound,
): string | undefined {
  if (stopped === undefined) return undefined;
  const searched = `${messages.searched} messages, ${summaries.searched} summaries and ${files.searched} files`;
  return `the search was stopped after ${searched}. ${stopped.message} ${stopped.remedy}`;
}

function describeNewest(ranked: number | undefined, sort: GrepSort): string | undefined {
  if (ranked === undefined) return undefined;
  const order = sort === "recency" ? "by time" : "by relevance";
  return `the words are too common: only the newest ${ranked} messages with them were ordered ${order}`;
}

function describeCut(shown: number, found: number, more: boolean, limit: number): string | undefined {
  if (shown < found) return `${shown} of ${found} matches are shown: an answer holds ${charactersMax} characters`;
  if (more) return `there are more matches than the limit of ${limit}; raise it, narrow the pattern or the time`;
  return undefined;
}
