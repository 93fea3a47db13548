import type { Store } from "../../../store/index.ts";
import { listCandidates, type ScannedMessage, scanMessages } from "../../../transcript/index.ts";
import { type PatternGrep, snippetAround } from "./grep-types.ts";
import type { MessageMatch } from "./match-protocol.ts";

/** A run of messages that were searched, newest first. */
export interface SearchedMessages {
  count: number;
  /** At most one more than the limit of the search. Their `index` is the position in this run. */
  matches: MessageMatch[];
}

/** Fewer messages than this are read through the store: a new thread needs longer to load the code that decodes them. */
const threadReadsMin = 5_000;

/** Searches every message, except those that the index excludes by the needle. */
export async function* searchMessages(store: Store, hunt: PatternGrep): AsyncGenerator<SearchedMessages> {
  const { matcher, agent } = hunt;
  for await (const seqs of listCandidates(store, hunt)) {
    if (matcher.canRead && seqs.length >= threadReadsMin) {
      yield* runAhead(groupSeqs(seqs), hunt, (group, isWanted) => searchEntries(store, hunt, group, isWanted));
    } else {
      yield* runAhead(joinPages(scanMessages(store, agent, seqs)), hunt, (page) => searchPage(hunt, page));
    }
  }
}

/** The answers in the order of the groups. While one is awaited, the next ones are searched. */
async function* runAhead<Group>(
  groups: AsyncIterable<Group> | Iterable<Group>,
  { matcher, signal }: PatternGrep,
  search: (group: Group, isWanted: () => boolean) => Promise<SearchedMessages>,
): AsyncGenerator<SearchedMessages> {
  const running: Promise<SearchedMessages>[] = [];
  let wanted = true;
  try {
    for await (const group of groups) {
      signal?.throwIfAborted();
      const searched = search(group, () => wanted);
      // It may fail before its turn to be awaited.
      searched.catch(() => undefined);
      running.push(searched);
      if (running.length > matcher.parallel) yield await takeFirst(running);
    }
    while (running.length > 0) yield await takeFirst(running);
  } finally {
    // The search ends early: at its limit, or with an error. What still runs fails with the same error.
    wanted = false;
    await Promise.allSettled(running);
  }
}

async function takeFirst<T>(running: Promise<T>[]): Promise<T> {
  const [first] = running;
  const value = await (first as Promise<T>);
  running.shift();
  return value;
}

async function searchPage({ matcher, limit }: PatternGrep, page: ScannedMessage[]): Promise<SearchedMessages> {
  const texts = page.map(({ text }) => text);
  const places = await matcher.findTexts(texts, limit + 1);
  const matches = places.flatMap(({ index, from, to }) => {
    const message = page[index];
    if (message === undefined) return [];
    const { text, ...rest } = message;
    return [{ index, ...rest, snippet: snippetAround(text, from, to) }];
  });
  return { count: page.length, matches };
}

/** The threads read the entries; the few messages that they cannot read are read through the store. */
async function searchEntries(
  store: Store,
  hunt: PatternGrep,
  seqs: readonly number[],
  isWanted: () => boolean,
): Promise<SearchedMessages> {
  const found = await hunt.matcher.findMessages(seqs, hunt.limit + 1, isWanted);
  const { count, matches, unread } = found;
  if (unread.length === 0) return { count, matches };
  const indexes = new Map(unread.map(({ seq, index }) => [seq, index]));
  for (let from = 0; from < unread.length && isWanted(); from += unreadAtOnce) {
    const some = unread.slice(from, from + unreadAtOnce).map(({ seq }) => seq);
    for await (const page of scanMessages(store, hunt.agent, some)) {
      const searched = await searchPage(hunt, page);
      matches.push(...searched.matches.map((match) => ({ ...match, index: indexes.get(match.seq) ?? match.index })));
    }
  }
  matches.sort((a, b) => a.index - b.index);
  return { count, matches: matches.slice(0, hunt.limit + 1) };
}

/** Messages with large content that are read at once. */
const unreadAtOnce = 50;

const groupEntriesMin = 500;
const groupEntriesMax = 4_000;

/** The first group is small, because it often fills the limit; then they grow. */
function* groupSeqs(seqs: readonly number[]): Generator<number[]> {
  let size = groupEntriesMin;
  for (let from = 0; from < seqs.length; ) {
    yield seqs.slice(from, from + size);
    from += size;
    size = Math.min(groupEntriesMax, 2 * size);
  }
}

/** Pages are joined up to about this many characters: each round trip to a thread has a cost. */
const groupCharacters = 500_000;

/** The first page alone, because it often fills the limit; then larger and larger groups. */
async function* joinPages(pages: AsyncIterable<ScannedMessage[]>): AsyncGenerator<ScannedMessage[]> {
  let group: ScannedMessage[] = [];
  let characters = 0;
  let enough = 0;
  for await (const page of pages) {
    group = group.length === 0 ? page : [...group, ...page];
    characters += page.reduce((sum, { text }) => sum + text.length, 0);
    if (characters < enough || group.length === 0) continue;
    yield group;
    enough = Math.min(groupCharacters, 2 * characters);
    group = [];
    characters = 0;
  }
  if (group.length > 0) yield group;
}
