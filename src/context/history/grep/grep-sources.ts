import type { Entry } from "../../../domain/index.ts";
import type { Store } from "../../../store/index.ts";
import { getEntryText, readEntries, readFileContents } from "../../../transcript/index.ts";
import type { CompiledGrep, Found, GrepMatch, PatternGrep } from "./grep-types.ts";
import { placeOfWords, snippetAround } from "./grep-types.ts";
import { searchMessages } from "./search-messages.ts";

/** By a regular expression, in the messages themselves. */
export async function grepMessages(store: Store, hunt: PatternGrep, found: Found): Promise<void> {
  for await (const { count, matches } of searchMessages(store, hunt)) {
    for (const { index, seq, conversation, time, kind, snippet } of matches) {
      if (found.matches.length === hunt.limit) {
        found.searched += index + 1;
        found.more = true;
        return;
      }
      const citation = `msg#${seq}`;
      found.matches.push({ kind: "message", citation, conversation, time, role: kind, snippet, score: 1 });
    }
    found.searched += count;
  }
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
