import { type RawBuilder, sql } from "kysely";
import type { ConversationSpan, CountQuery, PlacedEntry, TextMatch, TextMatches, TextQuery } from "../port.ts";
import type { Db } from "../schema.ts";
import { quote } from "./quote.ts";

/** Entries whose words match, best first by BM25. */
export async function matchText(db: Db, query: TextQuery): Promise<TextMatches> {
  const expression = matchExpression(query);
  if (expression === undefined || isNowhere(query)) return { hits: [] };
  const { agent, limit, order } = query;
  if (query.rankedMax !== undefined) {
    const newest = await rankNewest(db, query, expression, query.rankedMax);
    if (newest) return newest;
  }
  const found = await sql<TextMatch>`
    select e.seq as seq, -t.rank as score from entry_text t cross join entries e on e.seq = t.rowid
    where t.words match ${expression} and e.agent = ${agent} ${spanFilter(query)} ${timeFilter(query)}
    order by ${order === "recency" ? sql`e.time desc, e.seq desc` : sql`t.rank`} limit ${limit}`.execute(db);
  return { hits: found.rows };
}

/** How many of the newest matches are read, those of other agents included: the index does not know agents. */
const scannedMax = 20_000;
/** The same where most matches are of other agents: their rows are not read. */
const foreignMax = 100_000;
/** The rows of an agent with at most this many entries are listed, to tell them from those of others. */
const listedMax = 50_000;

interface NewestMatch {
  seq: number;
  time: number;
  tokens: number;
}

/**
 * Ranks only the newest matches of the agent, when there are more than `rankedMax`; undefined when all can be ranked by
 * BM25. It is of no use for common words: to weigh a word, FTS5 reads its whole list of entries, which grows with the log.
 */
async function rankNewest(
  db: Db,
  query: TextQuery,
  expression: string,
  rankedMax: number,
): Promise<TextMatches | undefined> {
  const { agent } = query;
  const { low, high, isForeign } = await readExtent(db, query);
  const limit = isForeign ? foreignMax : scannedMax;
  const newest = sql`select rowid as seq from entry_text where words match ${expression}
    and ${isInRange(low, high)} order by rowid desc limit ${limit}`;
  const own = isForeign ? sql`where t.seq in (select seq from entries where agent = ${agent})` : sql``;
  const { rows } =
    await sql<NewestMatch>`select e.seq, e.time, e.tokens from (select t.seq from (${newest}) as t ${own}) as t
    cross join entries e on e.seq = t.seq where e.agent = ${agent} ${conversationFilter(query)} ${timeFilter(query)}
    limit ${rankedMax}`.execute(db);
  const isWhole = rows.length < rankedMax && (await countUpTo(db, newest, limit)) < limit;
  if (isWhole) {
    const all = sql`select rowid from entry_text where words match ${expression} limit ${scannedMax}`;
    if ((await countUpTo(db, all, scannedMax)) < scannedMax) return undefined;
  }
  // With a limit of time the newest matches may say nothing about the wanted ones.
  else if (rows.length < rankedMax && (query.since ?? query.before) !== undefined) return undefined;
  const hits =
    query.order === "recency"
      ? rows.sort((a, b) => b.time - a.time || b.seq - a.seq).map(({ seq }) => ({ seq, score: 0 }))
      : await scoreByWords(db, query, rows);
  return { hits: hits.slice(0, query.limit), ...(isWhole ? {} : { newestRanked: rows.length }) };
}

interface Extent {
  /** The range of rows of the agent, or of the wanted conversations. */
  low: number;
  high: number;
  /** Whether the agent is small and the range has more entries of others. */
  isForeign: boolean;
}

async function readExtent(db: Db, query: TextQuery): Promise<Extent> {
  const { agent } = query;
  const parts = listSpans(query).map((part) => sql`${part.conversation}`);
  const which = parts.length === 0 ? sql`` : sql`and conversation in (${sql.join(parts)})`;
  const found = await sql<{ low: number | null; high: number | null; entries: number | null }>`
    select min(first_seq) as low, max(last_seq) as high,
      (select sum(entry_count) from conversations where agent = ${agent}) as entries
    from transcripts where agent = ${agent} ${which}`.execute(db);
  const { low, high, entries } = found.rows[0] ?? { low: null, high: null, entries: null };
  const range = { low: low ?? 0, high: high ?? -1 };
  const own = entries ?? 0;
  return { ...range, isForeign: own <= listedMax && own < 0.5 * (range.high - range.low + 1) };
}

/** Numbers are bound as floating-point numbers, and FTS5 ignores a limit that is not an integer. */
function isInRange(low: number, high: number): RawBuilder<boolean> {
  return sql<boolean>`rowid between cast(${low} as integer) and cast(${high} as integer)`;
}

async function countUpTo(db: Db, rows: RawBuilder<unknown>, limit: number): Promise<number> {
  const found = await sql<{ count: number }>`select count(*) as count from (${rows})`.execute(db);
  return found.rows[0]?.count ?? limit;
}

/** Scores entries by the weights of the words they contain, like PostgreSQL; of equals a shorter entry is better. */
async function scoreByWords(db: Db, query: TextQuery, rows: readonly NewestMatch[]): Promise<TextMatch[]> {
  const [first, last] = [rows.at(-1)?.seq ?? 0, rows[0]?.seq ?? 0];
  // A single word, or all of several words, are in every match.
  const isEqual = query.words.length < 2 || !query.any;
  // The plus sign keeps SQLite from one lookup in the index for each entry.
  const parts = query.words.map(
    (word, index) => sql`select rowid as seq, ${query.weights?.[index] ?? 1} as weight from entry_text
      where words match ${quote(word)} and ${isInRange(first, last)} and +rowid in listed`,
  );
  const weights = new Map<number, number>();
  if (!isEqual) {
    const seqs = JSON.stringify(rows.map((row) => row.seq));
    const found = await sql<{ seq: number; weight: number }>`
      with listed as materialized (select value from json_each(${seqs}))
      select seq, sum(weight) as weight from (${sql.join(parts, sql` union all `)}) group by seq`.execute(db);
    for (const { seq, weight } of found.rows) weights.set(seq, weight);
  }
  const average = rows.reduce((sum, row) => sum + row.tokens, 0) / Math.max(1, rows.length);
  return rows
    .map(({ seq, tokens }) => {
      const length = 0.75 + 0.25 * (tokens / Math.max(1, average));
      return { seq, score: (isEqual ? 1 : (weights.get(seq) ?? 0)) / length };
    })
    .sort((a, b) => b.score - a.score || b.seq - a.seq);
}

function timeFilter({ since, before }: TextQuery): RawBuilder<unknown> {
  return sql`${since === undefined ? sql`` : sql`and e.time >= ${since}`}
    ${before === undefined ? sql`` : sql`and e.time < ${before}`}`;
}

/** The row numbers of an agent or a conversation lie in a range; stating it keeps FTS5 from ranking others. */
function spanFilter(query: TextQuery): RawBuilder<unknown> {
  return sql`${rowRangeFilter(query)} ${conversationFilter(query)}`;
}

/** Whether the query may see no conversation at all. */
function isNowhere({ conversations, spans }: TextQuery): boolean {
  return (spans ?? conversations)?.length === 0;
}

function listSpans({ conversations, spans }: TextQuery): readonly ConversationSpan[] {
  return spans ?? (conversations ?? []).map((conversation) => ({ conversation }));
}

function rowRangeFilter(query: TextQuery): RawBuilder<unknown> {
  const parts = listSpans(query);
  const { agent } = query;
  const ids = sql.join(parts.map((part) => sql`${part.conversation}`));
  const which = parts.length === 0 ? sql`` : sql`and conversation in (${ids})`;
  const bound = (pick: string, column: string) =>
    sql`(select ${sql.raw(pick)}(${sql.raw(column)}) from transcripts where agent = ${agent} ${which})`;
  return sql`and t.rowid between ${bound("min", "first_seq")} and ${bound("max", "last_seq")}`;
}

function conversationFilter(query: TextQuery): RawBuilder<unknown> {
  const parts = listSpans(query);
  if (parts.length === 0) return sql``;
  // One list instead of a chain of conditions: SQLite limits how deep an expression may be.
  const whole = parts.filter((part) => part.upTo === undefined).map((part) => sql`${part.conversation}`);
  const cut = parts.flatMap(({ conversation, upTo }) =>
    upTo === undefined ? [] : [sql`(e.conversation = ${conversation} and e.seq <= ${upTo})`],
  );
  const each = [...(whole.length === 0 ? [] : [sql`e.conversation in (${sql.join(whole)})`]), ...cut];
  return sql`and (${sql.join(each, sql` or `)})`;
}

/** Builds an FTS5 expression. Every word is quoted, so that none is parsed as syntax. */
export function matchExpression(query: Omit<TextQuery, "agent" | "limit">): string | undefined {
  const words = query.words.map(quote);
  if (query.prefix !== undefined && query.prefix !== "") words.push(`${quote(query.prefix)} *`);
  const required = (query.required ?? []).map(quote);
  const either = query.any ? [...required, ...words].join(" OR ") : words.join(" AND ");
  const parts = [...required, ...(either === "" ? [] : [`(${either})`])];
  if (parts.length === 0) return undefined;
  const excluded = (query.excluded ?? []).map(quote).join(" OR ");
  const wanted = `(${parts.join(" AND ")})`;
  return excluded === "" ? wanted : `${wanted} NOT (${excluded})`;
}

/** Only the newest matches of a frequent word are counted; their density estimates the total. */
const countedMax = 2_000;

/**
 * Counts within the range of the log that the conversations span, including entries of others in between: the index
 * knows only row numbers, and checking the owner of each row would cost more than the estimate is worth.
 */
export async function countText(db: Db, query: CountQuery): Promise<{ counts: number[]; of: number }> {
  const { agent, conversations, words, countMax } = query;
  const here = conversations ? sql`where agent = ${agent} and conversation in (${sql.join(conversations)})` : sql``;
  const bounds = await sql<{ low: number | null; high: number | null }>`
    select min(first_seq) as low, max(last_seq) as high from transcripts ${here}`.execute(db);
  const { low, high } = bounds.rows[0] ?? { low: null, high: null };
  if (low === null || high === null) return { counts: words.map(() => 0), of: 0 };
  if (words.length === 0) return { counts: [], of: high - low + 1 };
  const counts = words.map(
    (word) => sql`(select json_array(count(*), min(rowid)) from (select rowid from entry_text
      where words match ${quote(word)} and ${isInRange(low, high)} order by rowid desc limit ${countedMax}))`,
  );
  const found = await sql<{ counts: string }>`select json_array(${sql.join(counts)}) as counts`.execute(db);
  const counted = JSON.parse(found.rows[0]?.counts ?? "[]") as [number, number | null][];
  const of = high - low + 1;
  return { counts: counted.map(([count, oldest]) => estimateCount(count, high - (oldest ?? low) + 1)), of };

  function estimateCount(count: number, among: number): number {
    return count < countedMax ? count : Math.min(countMax, Math.round((count * of) / among));
  }
}

export async function neighbours(db: Db, agent: string, seqs: number[], radius: number): Promise<PlacedEntry[]> {
  if (seqs.length === 0) return [];
  const side = (compare: string, order: string) => sql`
    select seq from (select x.seq from entries x where x.agent = c.agent and x.conversation = c.conversation
      and x.branch = c.branch and x.kind in ('user', 'assistant', 'system', 'tool') and x.seq ${sql.raw(compare)} c.seq
      order by x.seq ${sql.raw(order)} limit ${radius})`;
  const found = await sql<PlacedEntry>`
    with c as (select e.agent, e.conversation, e.branch, e.seq from json_each(${JSON.stringify(seqs)}) j
      cross join entries e on e.seq = j.value where e.agent = ${agent}),
    places as (
      select seq from c
      union select n.seq from c cross join entries n on n.seq in (${side("<", "desc")})
      union select n.seq from c cross join entries n on n.seq in (${side(">", "asc")}))
    select e.seq, e.conversation, e.branch, e.kind, e.time, e.tokens from places p cross join entries e on e.seq = p.seq
    order by e.seq`.execute(db);
  return found.rows;
}
