import { type RawBuilder, sql } from "kysely";
import type { ConversationSpan, CountQuery, PlacedEntry, TextMatch, TextMatches, TextQuery } from "../port.ts";
import type { Db } from "../schema.ts";

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

interface NewestMatch {
  seq: number;
  time: number;
  tokens: number;
}

/**
 * Ranks only the newest matches of the agent, when there are more than `rankedMax`; undefined when there are not, and all
 * can be ranked. BM25 is of no use here: to weigh a word, FTS5 reads its whole list of entries, which grows with the log.
 */
async function rankNewest(
  db: Db,
  query: TextQuery,
  expression: string,
  rankedMax: number,
): Promise<TextMatches | undefined> {
  const newest = sql`select rowid as seq from entry_text as t where t.words match ${expression}
    ${rowRangeFilter(query)} order by rowid desc limit ${scannedMax}`;
  const found = await sql<NewestMatch>`select e.seq, e.time, e.tokens from (${newest}) as t
    cross join entries e on e.seq = t.seq where e.agent = ${query.agent} ${conversationFilter(query)} ${timeFilter(query)}
    limit ${rankedMax}`.execute(db);
  const { rows } = found;
  if (rows.length < rankedMax) {
    const matched = await sql<{ count: number }>`select count(*) as count from (${newest})`.execute(db);
    const isWhole = (matched.rows[0]?.count ?? 0) < scannedMax;
    // With a limit of time the newest matches may say nothing about the wanted ones.
    if (isWhole || query.since !== undefined || query.before !== undefined) return undefined;
  }
  const hits =
    query.order === "recency"
      ? rows.sort((a, b) => b.time - a.time || b.seq - a.seq).map(({ seq }) => ({ seq, score: 0 }))
      : await scoreByWords(db, query, rows);
  return { hits: hits.slice(0, query.limit), newestRanked: rows.length };
}

/** Scores entries by the weights of the words they contain, like PostgreSQL; of equals a shorter entry is better. */
async function scoreByWords(db: Db, query: TextQuery, rows: readonly NewestMatch[]): Promise<TextMatch[]> {
  const [first, last] = [rows.at(-1)?.seq ?? 0, rows[0]?.seq ?? 0];
  const words = query.words.map((word, index) => ({ word, weight: query.weights?.[index] ?? 1 }));
  // A single word, or all of several words, are in every match.
  const isEqual = words.length < 2 || !query.any;
  const parts = words.map(
    ({ word, weight }) => sql`case when j.value in (select rowid from entry_text where words match ${quote(word)}
      and rowid between ${first} and ${last}) then ${weight} else 0 end`,
  );
  const seqs = JSON.stringify(rows.map((row) => row.seq));
  const weighed = isEqual
    ? rows.map(() => ({ weight: 1 }))
    : (
        await sql<{
          weight: number;
        }>`select ${sql.join(parts, sql` + `)} as weight from json_each(${seqs}) as j`.execute(db)
      ).rows;
  const average = rows.reduce((sum, row) => sum + row.tokens, 0) / Math.max(1, rows.length);
  return rows
    .map(({ seq, tokens }, index) => {
      const length = 0.75 + 0.25 * (tokens / Math.max(1, average));
      return { seq, score: (weighed[index]?.weight ?? 0) / length };
    })
    .sort((a, b) => b.score - a.score || b.seq - a.seq);
}

function timeFilter({ since, before }: TextQuery): RawBuilder<unknown> {
  return sql`${since === undefined ? sql`` : sql`and e.time >= ${since}`}
    ${before === undefined ? sql`` : sql`and e.time < ${before}`}`;
}

/** The row numbers of a conversation lie in a range; stating it keeps FTS5 from ranking other conversations. */
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
  if (parts.length === 0) return sql``;
  const { agent } = query;
  const ids = sql.join(parts.map((part) => sql`${part.conversation}`));
  const bound = (pick: string, column: string) =>
    sql`(select ${sql.raw(pick)}(${sql.raw(column)}) from transcripts where agent = ${agent} and conversation in (${ids}))`;
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

export function quote(word: string): string {
  return `"${word.replaceAll('"', '""')}"`;
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
      where words match ${quote(word)} and rowid between ${low} and ${high} order by rowid desc limit ${countedMax}))`,
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
