import type { Entry } from "../../../domain/index.ts";
import type { Store } from "../../../store/index.ts";
import { getEntryText, readEntries, readFileContents, scanMessages } from "../../../transcript/index.ts";
import type { CompiledGrep, Found, GrepMatch } from "./grep-types.ts";
import { placeOfWords, snippetAround } from "./grep-types.ts";

/** By a regular expression: reads every message, except those that the index excludes by the needle. */
export async function grepMessages(store: Store, hunt: CompiledGrep): Promise<Found> {
  const matches: GrepMatch[] = [];
  let searched = 0;
  for await (const page of scanMessages(store, hunt)) {
    hunt.signal?.throwIfAborted();
    for (const { seq, conversation, time, kind, text } of page) {
      searched += 1;
      const place = hunt.find(text);
      if (!place) continue;
      if (matches.length === hunt.limit) return { matches, searched, more: true };
      const snippet = snippetAround(text, place.from, place.to);
      matches.push({ kind: "message", citation: `msg#${seq}`, conversation, time, role: kind, snippet, score: 1 });
    }
  }
  return { matches, searched, more: false };
}

/** By words, from the full-text index. */
export async function matchMessages(store: Store, hunt: CompiledGrep): Promise<Found> {
  const { agent, words, conversations, since, before, limit } = hunt;
  const order = hunt.sort === "recency" ? "recency" : "rank";
  const hits = await store.matchText({ agent, conversations, words, since, before, order, limit: limit + 1 });
  const scores = new Map(hits.slice(0, limit).map((hit) => [hit.seq, hit.score]));
  const plain = words.map((word) => word.replaceAll(" ", ""));
  const entries = await readEntries(store, agent, [...scores.keys()]);
  const matches = entries.map((entry) => {
    const text = getEntryText(entry);
    const place = placeOfWords(text, plain);
    return toMatch(entry, snippetAround(text, place.from, place.to), scores.get(entry.seq) ?? 0);
  });
  return { matches, searched: hits.length, more: hits.length > limit };
}

function toMatch(entry: Entry & { conversation: number }, snippet: string, score: number): GrepMatch {
  const role = "message" in entry ? entry.message.role : entry.type;
  const { conversation, seq, time } = entry;
  return { kind: "message", citation: `msg#${seq}`, conversation, time, role, snippet, score };
}

/** Searches files one at a time, because each is large. A match names its line. */
export async function grepFiles(store: Store, hunt: CompiledGrep): Promise<Found> {
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
  const matches: GrepMatch[] = [];
  let searched = 0;
  for (const row of files) {
    hunt.signal?.throwIfAborted();
    const content = (await readFileContents(store.db, hunt.agent, [row.file])).get(row.file);
    if (content === undefined) continue;
    searched += 1;
    const { file: citation } = row;
    const [conversation, time] = [Number(row.conversation), Number(row.time)];
    for (const { line, snippet } of findInFile(content, hunt)) {
      if (matches.length === hunt.limit) return { matches, searched, more: true };
      matches.push({ kind: "file", citation, line, conversation, time, snippet, score: 0.5 });
    }
  }
  return { matches, searched, more: false };
}

/**
 * The lines of a file that match, each once. Where no line matches by itself, the whole text is tried: a pattern may span
 * lines, and words may be on different ones.
 */
function* findInFile(content: string, hunt: CompiledGrep): Generator<{ line: number; snippet: string }> {
  const describe = (line: number, from: number, to: number) => ({
    line,
    snippet: `line ${line}: ${snippetAround(content, from, to)}`.slice(0, 200),
  });
  let line = 1;
  let counted = 0;
  let found = false;
  for (let at = 0; at <= content.length; ) {
    const end = findLineEnd(content, at);
    const place = hunt.find(content.slice(at, end));
    if (place) {
      found = true;
      line += countLines(content, counted, at);
      counted = at;
      yield describe(line, at + place.from, at + place.to);
    }
    at = end + 1;
  }
  if (found) return;
  const place = hunt.find(content);
  if (place) yield describe(1 + countLines(content, 0, place.from), place.from, place.to);
}

function findLineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
}

function countLines(text: string, from: number, to: number): number {
  let lines = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

const pageRows = 500;

/** Searches the summaries. All are read: there are few compared with the messages. */
export async function grepSummaries(store: Store, hunt: CompiledGrep): Promise<Found> {
  const matches: GrepMatch[] = [];
  let searched = 0;
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
    for (const row of rows) {
      searched += 1;
      const place = hunt.find(row.content);
      if (!place) continue;
      if (matches.length === hunt.limit) return { matches, searched, more: true };
      const snippet = snippetAround(row.content, place.from, place.to);
      const { id: citation, conversation, latest_at: time } = row;
      matches.push({ kind: "summary", citation, conversation, time, snippet, score: 0.5 });
    }
    const last = rows.at(-1);
    if (!last || rows.length < pageRows) return { matches, searched, more: false };
    after = { at: last.latest_at, id: last.id };
  }
}
