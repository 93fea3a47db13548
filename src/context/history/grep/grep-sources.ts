import type { Entry } from "../../../domain/index.ts";
import type { Store } from "../../../store/index.ts";
import {
  getEntryText,
  readEntries,
  readFileContents,
  type ScannedMessage,
  scanMessages,
} from "../../../transcript/index.ts";
import type { CompiledGrep, Found, GrepMatch } from "./grep-types.ts";
import { placeOfWords, snippetAround } from "./grep-types.ts";
import type { TextMatch } from "./match-protocol.ts";

/** By a regular expression: reads every message, except those that the index excludes by the needle. */
export async function grepMessages(store: Store, hunt: CompiledGrep, found: Found): Promise<void> {
  for await (const { page, places } of matchPages(scanMessages(store, hunt), hunt)) {
    for (const { index, from, to } of places) {
      const message = page[index];
      if (message === undefined) continue;
      if (found.matches.length === hunt.limit) {
        found.searched += index + 1;
        found.more = true;
        return;
      }
      const { seq, conversation, time, kind, text } = message;
      const snippet = snippetAround(text, from, to);
      found.matches.push({
        kind: "message",
        citation: `msg#${seq}`,
        conversation,
        time,
        role: kind,
        snippet,
        score: 1,
      });
    }
    found.searched += page.length;
  }
}

/** Pages are joined up to about this many characters: each round trip to a thread has a cost. */
const groupCharacters = 500_000;

interface MatchedPage {
  page: ScannedMessage[];
  places: TextMatch[];
}

/** The pages with their matches, in order. While one is matched, the next ones are read and matched too. */
async function* matchPages(
  pages: AsyncIterable<ScannedMessage[]>,
  { matcher, limit, signal }: CompiledGrep,
): AsyncGenerator<MatchedPage> {
  const running: Promise<MatchedPage>[] = [];
  const match = async (page: ScannedMessage[]): Promise<MatchedPage> => {
    const texts = page.map(({ text }) => text);
    return { page, places: await matcher.findTexts(texts, limit + 1) };
  };
  try {
    for await (const page of joinPages(pages)) {
      signal?.throwIfAborted();
      const matched = match(page);
      // It may fail before its turn to be awaited.
      matched.catch(() => undefined);
      running.push(matched);
      if (running.length > matcher.parallel) yield await takeFirst(running);
    }
    while (running.length > 0) yield await takeFirst(running);
  } finally {
    // The search ends early: at its limit, or with an error. What still runs fails with the same error.
    await Promise.allSettled(running);
  }
}

async function takeFirst<T>(running: Promise<T>[]): Promise<T> {
  const [first] = running;
  const value = await (first as Promise<T>);
  running.shift();
  return value;
}

/** The first page alone, because it often fills the limit; then larger and larger groups. */
async function* joinPages(pages: AsyncIterable<ScannedMessage[]>): AsyncGenerator<ScannedMessage[]> {
  let group: ScannedMessage[] = [];
  let characters = 0;
  let enough = 0;
  for await (const page of pages) {
    group = group.length === 0 ? page : [...group, ...page];
    characters += page.reduce((sum, { text }) => sum + text.length, 0);
    if (characters < enough) continue;
    yield group;
    enough = Math.min(groupCharacters, 2 * characters);
    group = [];
    characters = 0;
  }
  if (group.length > 0) yield group;
}

/** Of words in more messages than an engine ranks at once, this many of the newest are ordered. */
const rankedMax = 2_000;

/** By words, from the full-text index. */
export async function matchMessages(store: Store, hunt: CompiledGrep, found: Found): Promise<void> {
  const { agent, words, conversations, since, before, limit } = hunt;
  const order = hunt.sort === "recency" ? "recency" : "rank";
  const bounds = { since, before, rankedMax, limit: limit + 1 };
  const { hits, newestRanked } = await store.matchText({ agent, conversations, words, order, ...bounds });
  const scores = new Map(hits.slice(0, limit).map((hit) => [hit.seq, hit.score]));
  const plain = words.map((word) => word.replaceAll(" ", ""));
  const entries = await readEntries(store, agent, [...scores.keys()]);
  found.matches = entries.map((entry) => {
    const text = getEntryText(entry);
    const place = placeOfWords(text, plain);
    return toMatch(entry, snippetAround(text, place.from, place.to), scores.get(entry.seq) ?? 0);
  });
  found.searched = hits.length;
  found.more = hits.length > limit;
  found.newestRanked = newestRanked;
}

function toMatch(entry: Entry & { conversation: number }, snippet: string, score: number): GrepMatch {
  const role = "message" in entry ? entry.message.role : entry.type;
  const { conversation, seq, time } = entry;
  return { kind: "message", citation: `msg#${seq}`, conversation, time, role, snippet, score };
}

/** Searches files one at a time, because each is large. A match names its line. */
export async function grepFiles(store: Store, hunt: CompiledGrep, found: Found): Promise<void> {
  let query = store.db
    .selectFrom("file_refs")
    .innerJoin("entries", (join) =>
      join.onRef("entries.agent", "=", "file_refs.agent").onRef("entries.seq", "=", "file_refs.seq"),
    )
    .select((eb) => ["file_refs.file", eb.fn.max("entries.seq").as("seq"), eb.fn.max("entries.time").as("time")])
    .select((eb) => eb.fn.max("entries.conversation").as("conversation"))
    .where("file_refs.agent", "=", hunt.agent)
    .groupBy("file_refs.file");
  if (hunt.conversations !== undefined) query = query.where("file_refs.conversation", "in", hunt.conversations);
  if (hunt.since !== undefined) query = query.where("entries.time", ">=", hunt.since);
  if (hunt.before !== undefined) query = query.where("entries.time", "<", hunt.before);
  const files = await query.execute();
  files.sort((a, b) => Number(b.seq) - Number(a.seq));
  for (const row of files) {
    hunt.signal?.throwIfAborted();
    const content = (await readFileContents(store.db, hunt.agent, [row.file])).get(row.file);
    if (content === undefined) continue;
    const { file: citation } = row;
    const [conversation, time] = [Number(row.conversation), Number(row.time)];
    const places = await hunt.matcher.findLines(content, hunt.limit - found.matches.length + 1);
    found.searched += 1;
    for (const { line, from, to } of places) {
      if (found.matches.length === hunt.limit) {
        found.more = true;
        return;
      }
      const snippet = `line ${line}: ${snippetAround(content, from, to)}`.slice(0, 200);
      found.matches.push({ kind: "file", citation, line, conversation, time, snippet, score: 0.5 });
    }
  }
}

const pageRows = 500;

/** Searches the summaries. All are read: there are few compared with the messages. */
export async function grepSummaries(store: Store, hunt: CompiledGrep, found: Found): Promise<void> {
  for (let after: { at: number; id: string } | undefined; ; ) {
    hunt.signal?.throwIfAborted();
    let query = store.db
      .selectFrom("summaries")
      .select(["id", "conversation", "content", "latest_at"])
      .where("agent", "=", hunt.agent);
    if (hunt.conversations !== undefined) query = query.where("conversation", "in", hunt.conversations);
    if (hunt.since !== undefined) query = query.where("latest_at", ">=", hunt.since);
    if (hunt.before !== undefined) query = query.where("earliest_at", "<", hunt.before);
    if (after !== undefined) {
      const { at, id } = after;
      query = query.where((where) =>
        where.or([where("latest_at", "<", at), where.and([where("latest_at", "=", at), where("id", ">", id)])]),
      );
    }
    const rows = await query.orderBy("latest_at", "desc").orderBy("id").limit(pageRows).execute();
    const texts = rows.map(({ content }) => content);
    for (const { index, from, to } of await hunt.matcher.findTexts(texts, hunt.limit - found.matches.length + 1)) {
      const row = rows[index];
      if (row === undefined) continue;
      if (found.matches.length === hunt.limit) {
        found.searched += index + 1;
        found.more = true;
        return;
      }
      const snippet = snippetAround(row.content, from, to);
      const { id: citation, conversation, latest_at: time } = row;
      found.matches.push({ kind: "summary", citation, conversation, time, snippet, score: 0.5 });
    }
    found.searched += rows.length;
    const last = rows.at(-1);
    if (!last || rows.length < pageRows) return;
    after = { at: last.latest_at, id: last.id };
  }
}
