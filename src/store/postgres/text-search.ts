import { type RawBuilder, sql } from "kysely";
import type { ConversationSpan, CountQuery, PlacedEntry, TextMatch, TextMatches, TextQuery } from "../port.ts";
import type { Db } from "../schema.ts";

/** A search that would match more entries than this ranks only the newest of them, when its caller allows that. */
const matchedMax = 4_000;
/** How many of the newest entries are read to find matches of common words. */
const scannedMax = 20_000;
/** How many of the newest entries tell how common a word is. */
const sampleRows = 1_000;
/** A word of at least this many entries of the sample is common: its total is estimated from the sample. */
const sampleHitsMin = 20;
/** Where the exact count of a rarer word stops. */
const countedMax = 10_000;

/**
 * Entries whose words match, best first. PostgreSQL does not know word frequencies: when weights are given, entries are
 * ordered by the weight of the words they contain, which approximates BM25 for search candidates.
 */
export async function matchText(db: Db, query: TextQuery): Promise<TextMatches> {
  const wanted = buildTsQuery(query);
  if (wanted === undefined || (query.spans ?? query.conversations)?.length === 0) return { hits: [] };
  const { agent, limit, rankedMax } = query;
  const scanRows = rankedMax === undefined ? undefined : await chooseScan(db, query, wanted, rankedMax);
  if (rankedMax !== undefined && scanRows !== undefined) return rankNewest(db, query, wanted, { rankedMax, scanRows });
  const found = await sql<TextMatch>`
    select t.seq, max(${scoreExpression(query)})::float8 as score, max(e.time) as time from entry_text t
    join entries e on e.seq = t.seq and e.agent = ${agent}, (select ${wanted} as query) as q
    where t.agent = ${agent} and t.words @@ q.query ${spanFilter(query)}
    ${query.since === undefined ? sql`` : sql`and e.time >= ${query.since}`}
    ${query.before === undefined ? sql`` : sql`and e.time < ${query.before}`}
    group by t.seq order by ${orderExpression(query)} limit ${limit}`.execute(db);
  return { hits: found.rows.map(({ seq, score }) => ({ seq, score })) };
}

/** Ranks the newest matches only. The comparison is hidden from the word index, which knows no order of entries. */
async function rankNewest(
  db: Db,
  query: TextQuery,
  wanted: RawBuilder<unknown>,
  { rankedMax, scanRows }: { rankedMax: number; scanRows: number },
): Promise<TextMatches> {
  const { agent, limit } = query;
  const scope = sql`t.agent = ${agent} ${spanFilter(query)}`;
  const found = await sql<TextMatch & { ranked: number }>`
    with newest as materialized (
      select t.seq, t.words from entry_text t, (select ${wanted} as query) as q
      where ${scope} and coalesce(t.words @@ q.query, false) and t.seq >= coalesce((
        select t.seq from entry_text t where ${scope} order by t.seq desc offset ${scanRows} limit 1), 0)
      order by t.seq desc limit ${rankedMax})
    select t.seq, max(${scoreExpression(query)})::float8 as score, max(e.time) as time,
      (select count(*)::int from newest) as ranked
    from newest t join entries e on e.seq = t.seq and e.agent = ${agent}, (select ${wanted} as query) as q
    group by t.seq order by ${orderExpression(query)} limit ${limit}`.execute(db);
  return {
    hits: found.rows.map(({ seq, score }) => ({ seq, score })),
    newestRanked: found.rows[0]?.ranked ?? 0,
  };
}

function orderExpression({ order }: TextQuery): RawBuilder<unknown> {
  return order === "recency" ? sql`time desc, t.seq desc` : sql`score desc, t.seq`;
}

function buildTsQuery(query: TextQuery): RawBuilder<unknown> | undefined {
  const words = query.words.map((word) => sql`phraseto_tsquery('varve', ${word})`);
  if (query.prefix) words.push(sql`to_tsquery('simple', ${prefixLexeme(query.prefix)})`);
  const required = (query.required ?? []).map((word) => sql`phraseto_tsquery('varve', ${word})`);
  if (words.length + required.length === 0) return undefined;
  const either = query.any ? [...required, ...words] : words;
  const parts = [
    ...required,
    ...(either.length === 0 ? [] : [sql`(${sql.join(either, query.any ? sql` || ` : sql` && `)})`]),
  ];
  const excluded = (query.excluded ?? []).map((word) => sql`!! phraseto_tsquery('varve', ${word})`);
  return sql.join([...parts, ...excluded], sql` && `);
}

/**
 * How many of the newest entries to read when a query matches so many that ranking all of them would take longer the
 * more there are; undefined when all are ranked. With a limit of time the newest entries say nothing about the others.
 */
async function chooseScan(
  db: Db,
  query: TextQuery,
  wanted: RawBuilder<unknown>,
  rankedMax: number,
): Promise<number | undefined> {
  if (query.since !== undefined || query.before !== undefined) return undefined;
  const total = await countEntries(db, query.agent, listConversations(query));
  if (total <= matchedMax) return undefined;
  const sample = await sql<{ hits: number; rows: number }>`
    select count(*) filter (where t.words @@ q.query)::int as hits, count(*)::int as rows from (
      select t.words from entry_text t where t.agent = ${query.agent} ${spanFilter(query)}
      order by t.seq desc limit ${sampleRows}) as t, (select ${wanted} as query) as q`.execute(db);
  const { hits = 0, rows = 0 } = sample.rows[0] ?? {};
  if (rows === 0 || (hits / rows) * total <= matchedMax) return undefined;
  return Math.min(scannedMax, Math.ceil((2 * rankedMax * rows) / hits));
}

function listConversations({ conversations, spans }: TextQuery): readonly number[] | undefined {
  return spans?.map((span) => span.conversation) ?? conversations;
}

function scoreExpression({ words, weights }: TextQuery): RawBuilder<unknown> {
  if (!weights || words.length === 0) return sql`ts_rank(t.words, q.query)`;
  const parts = words.map(
    (word, index) =>
      sql`case when t.words @@ phraseto_tsquery('varve', ${word}) then ${weights[index] ?? 1}::float8 else 0 end`,
  );
  return sql`${sql.join(parts, sql` + `)} + ts_rank(t.words, q.query)`;
}

function spanFilter({ conversations, spans }: TextQuery): RawBuilder<unknown> {
  const parts: ConversationSpan[] = spans ?? (conversations ?? []).map((conversation) => ({ conversation }));
  if (parts.length === 0) return sql``;
  const whole = parts.flatMap(({ conversation, upTo }) => (upTo === undefined ? [conversation] : []));
  const cut = parts.flatMap(({ conversation, upTo }) =>
    upTo === undefined ? [] : [sql`(t.conversation = ${conversation} and t.seq <= ${upTo})`],
  );
  const places = [...(whole.length === 0 ? [] : [sql`t.conversation = any(${whole}::bigint[])`]), ...cut];
  return sql`and (${sql.join(places, sql` or `)})`;
}

/** Keeps only letters and digits, so that nothing is parsed as a query operator. */
function prefixLexeme(prefix: string): string {
  const clean = prefix.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  return clean === "" ? "" : `'${clean}':*`;
}

/** The number of entries of an agent, or of some of its conversations. */
async function countEntries(db: Db, agent: string, conversations: readonly number[] | undefined): Promise<number> {
  const among = conversations ? sql`and id = any(${[...conversations]}::bigint[])` : sql``;
  const total = await sql<{ total: number | null }>`
    select sum(entry_count) as total from conversations where agent = ${agent} ${among}`.execute(db);
  return Number(total.rows[0]?.total ?? 0);
}

/** Counts rare words exactly, and estimates common ones by their share of the newest entries. */
export async function countText(db: Db, query: CountQuery): Promise<{ counts: number[]; of: number }> {
  const { agent, conversations, words, countMax } = query;
  const of = await countEntries(db, agent, conversations);
  if (words.length === 0 || of === 0) return { counts: words.map(() => 0), of };
  const among = conversations ? sql`and t.conversation = any(${[...conversations]}::bigint[])` : sql``;
  const match = (word: string) => sql`t.words @@ phraseto_tsquery('varve', ${word})`;
  const hits = words.map((word) => sql`count(*) filter (where ${match(word)})`);
  const sample = await sql<{ hits: number[]; rows: number }>`
    select array[${sql.join(hits)}]::int[] as hits, count(*)::int as rows from (
      select t.words from entry_text t where t.agent = ${agent} ${among} order by t.seq desc limit ${sampleRows}) as t`.execute(
    db,
  );
  const { hits: sampled = [], rows = 0 } = sample.rows[0] ?? {};
  // The sample holds everything there is.
  if (rows < sampleRows) return { counts: words.map((_, index) => sampled[index] ?? 0), of };
  const estimates = words.map((_, index) => {
    const found = sampled[index] ?? 0;
    return found < sampleHitsMin ? undefined : Math.min(countMax, Math.round((found / rows) * of));
  });
  const rare = words.filter((_, index) => estimates[index] === undefined);
  if (rare.length === 0) return { counts: estimates.map((estimate) => estimate ?? 0), of };
  const counts = rare.map(
    (word) => sql`(select count(*)::int from (select 1 from entry_text t where t.agent = ${agent}
      and ${match(word)} ${among} limit ${Math.min(countMax, countedMax)}) as found)`,
  );
  const found = await sql<{ counts: number[] }>`select array[${sql.join(counts)}]::int[] as counts`.execute(db);
  const exact = new Map(rare.map((word, index) => [word, found.rows[0]?.counts[index] ?? 0]));
  return { counts: words.map((word, index) => estimates[index] ?? exact.get(word) ?? 0), of };
}

export async function neighbours(db: Db, agent: string, seqs: number[], radius: number): Promise<PlacedEntry[]> {
  if (seqs.length === 0) return [];
  const side = (compare: string, order: string) => sql`
    (select x.seq from entries x where x.agent = ${agent} and x.conversation = c.conversation and x.branch = c.branch
      and x.kind in ('user', 'assistant', 'system', 'tool') and x.seq ${sql.raw(compare)} c.seq
      order by x.seq ${sql.raw(order)} limit ${radius})`;
  const found = await sql<PlacedEntry>`
    with c as (select conversation, branch, seq from entries
      where agent = ${agent} and seq = any(${seqs}::bigint[])),
    places as (
      select seq from c
      union select n.seq from c cross join lateral ${side("<", "desc")} n
      union select n.seq from c cross join lateral ${side(">", "asc")} n)
    select e.seq, e.conversation, e.branch, e.kind, e.time, e.tokens from entries e join places p on p.seq = e.seq
    where e.agent = ${agent} order by e.seq`.execute(db);
  return found.rows;
}
