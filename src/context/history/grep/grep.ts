import { VarveError } from "../../../domain/index.ts";
import { queryWords, type Store } from "../../../store/index.ts";
import { grepFiles, grepMessages, grepSummaries, matchMessages } from "./grep-sources.ts";
import type { CompiledGrep, Found, GrepMatch, GrepOptions, GrepResult, GrepScope, GrepSort } from "./grep-types.ts";

const charactersMax = 40_000;
const halfLifeMs = 14 * 86_400_000;

/** Finds a pattern in messages, summaries and files. Everything that is left out is reported. */
export async function grep(store: Store, options: GrepOptions): Promise<GrepResult> {
  const hunt = await compileHunt(options);
  const wants = (scope: GrepScope) => options.scope === scope || (options.scope === "both" && scope !== "files");
  const none: Found = { matches: [], searched: 0, more: false };
  const messages = wants("messages")
    ? await (options.mode === "regex" ? grepMessages(store, hunt) : matchMessages(store, hunt))
    : none;
  const summaries = wants("summaries") ? await grepSummaries(store, hunt) : none;
  const files = wants("files") ? await grepFiles(store, hunt) : none;
  const all = sorted([...messages.matches, ...summaries.matches, ...files.matches], options.sort);
  const kept = within(all.slice(0, options.limit));
  const more = messages.more || summaries.more || files.more || all.length > options.limit;
  return {
    matches: kept,
    searched: { messages: messages.searched, summaries: summaries.searched, files: files.searched },
    ...describeCut(kept.length, Math.min(all.length, options.limit), more, options.limit),
  };
}

async function compileHunt(options: GrepOptions): Promise<CompiledGrep> {
  if (options.mode === "regex") {
    // Loaded on demand: the regular expression engine is large, and few processes use it.
    const { compilePattern } = await import("./pattern.ts");
    const pattern = compilePattern(options.pattern);
    return { ...options, words: [], find: pattern.find, needle: pattern.needle };
  }
  const words = queryWords(options.pattern);
  if (words.length === 0) {
    throw new VarveError("BAD_REQUEST", "The pattern holds no word to look for.", {
      remedy: "Send at least one letter or digit, or mode regex for signs.",
    });
  }
  const plain = words.map((word) => word.toLowerCase().replaceAll(/(?<=[^\p{ASCII}]) (?=[^\p{ASCII}])/gu, ""));
  return { ...options, words, find: (text) => findWords(text, plain) };
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

function describeCut(shown: number, found: number, more: boolean, limit: number): { cut?: string } {
  if (shown < found)
    return { cut: `${shown} of ${found} matches are shown: an answer holds ${charactersMax} characters` };
  if (more)
    return { cut: `there are more matches than the limit of ${limit}; raise it, narrow the pattern or the time` };
  return {};
}
