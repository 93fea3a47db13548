import { type RawBuilder, sql } from "kysely";
import type { ConversationSpan, CountQuery, PlacedEntry, TextMatch, TextQuery } from "../port.ts";
import type { Db } from "../schema.ts";

/** Entries whose words match, best first by BM25. */
export async function matchText(db: Db, query: TextQuery): Promise<TextMatch[]> {
  const expression = matchExpression(query);
  if (expression === undefined || isNowhere(query)) return [];
  const { agent, limit } = query;
  if (query.rankedMax !== undefined && query.order !== "recency") {
    const newest = await matchNewest(db, query, expression, query.rankedMax);
    if (newest) return newest;
  }
  const found = await sql<TextMatch>`
    select e.seq as seq, -t.rank as score from entry_text t cross join entries e on e.seq = t.rowid
    where t.words match ${expression} and e.agent = ${agent} ${spanFilter(query)}
    ${query.since === undefined ? sql`` : sql`and e.time >= ${query.since}`}
    ${query.before === undefined ? sql`` : sql`and e.time < ${query.before}`}
    order by ${query.order === "recency" ? sql`e.time desc, e.seq desc` : sql`t.rank`} limit ${limit}`.execute(db);
  return found.rows;
}

/** Candidates fetched per wanted match, because the owner of an entry is checked after ranking. */
const candidatesPerMatch = 4;

/**
 * Ranks only the newest matches: ranking costs more than matching, and for a frequent word the best matches overall are
 * no better than the best of its newest. Returns `undefined` when too few of them belong to the agent.
 */
async function matchNewest(
  db: Db,
  query: TextQuery,
  expression: string,
  rankedMax: number,
): Promise<TextMatch[] | undefined> {
  const { agent, limit } = query;
  const found = await sql<TextMatch & { ranked: number }>`
    with t as materialized (select rowid as seq, rank from entry_text as t where t.words match ${expression}
      ${rowRangeFilter(query)} order by rowid desc limit ${rankedMax}),
    best as materialized (select seq, rank from t order by rank limit ${candidatesPerMatch * limit})
    select e.seq as seq, -t.rank as score, (select count(*) from t) as ranked
    from best as t cross join entries e on e.seq = t.seq
    where e.agent = ${agent} ${conversationFilter(query)}
    ${query.since === undefined ? sql`` : sql`and e.time >= ${query.since}`}
    ${query.before === undefined ? sql`` : sql`and e.time < ${query.before}`}
    order by t.rank limit ${limit}`.execute(db);
  const ranked = found.rows[0]?.ranked ?? rankedMax;
  const wasCut = ranked >= Math.min(rankedMax, candidatesPerMatch * limit);
  if (wasCut && found.rows.length < limit) return undefined;
  return found.rows.map(({ seq, score }) => ({ seq, score }));
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
