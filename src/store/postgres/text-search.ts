import { type RawBuilder, sql } from "kysely";
import type { ConversationSpan, CountQuery, PlacedEntry, TextMatch, TextQuery } from "../port.ts";
import type { Db } from "../schema.ts";

/**
 * Entries whose words match, best first. PostgreSQL does not know word frequencies: when weights are given, entries are
 * ordered by the weight of the words they contain, which approximates BM25 for search candidates.
 */
export async function matchText(db: Db, query: TextQuery): Promise<TextMatch[]> {
  const { agent, limit } = query;
  const words = query.words.map((word) => sql`phraseto_tsquery('varve', ${word})`);
  if (query.prefix) words.push(sql`to_tsquery('simple', ${prefixLexeme(query.prefix)})`);
  const required = (query.required ?? []).map((word) => sql`phraseto_tsquery('varve', ${word})`);
  if (words.length + required.length === 0 || (query.spans ?? query.conversations)?.length === 0) return [];
  const either = query.any ? [...required, ...words] : words;
  const parts = [
    ...required,
    ...(either.length === 0 ? [] : [sql`(${sql.join(either, query.any ? sql` || ` : sql` && `)})`]),
  ];
  const excluded = (query.excluded ?? []).map((word) => sql`!! phraseto_tsquery('varve', ${word})`);
  const wanted = sql.join([...parts, ...excluded], sql` && `);
  const found = await sql<TextMatch>`
    select t.seq, max(${scoreExpression(query)})::float8 as score, max(e.time) as time from entry_text t
    join entries e on e.seq = t.seq and e.agent = t.agent, (select ${wanted} as query) as q
    where t.agent = ${agent} and t.words @@ q.query ${spanFilter(query)}
    ${query.since === undefined ? sql`` : sql`and e.time >= ${query.since}`}
    ${query.before === undefined ? sql`` : sql`and e.time < ${query.before}`}
    group by t.seq order by ${query.order === "recency" ? sql`time desc, t.seq desc` : sql`score desc, t.seq`}
    limit ${limit}`.execute(db);
  return found.rows;
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

export async function countText(db: Db, query: CountQuery): Promise<{ counts: number[]; of: number }> {
  const { agent, conversations, words, countMax } = query;
  const among = (column: string) =>
    conversations ? sql`and ${sql.raw(column)} in (${sql.join(conversations)})` : sql``;
  const total = await sql<{ total: number | null }>`
    select sum(entry_count) as total from conversations where agent = ${agent} ${among("id")}`.execute(db);
  const of = Number(total.rows[0]?.total ?? 0);
  if (words.length === 0) return { counts: [], of };
  const counts = words.map(
    (word) => sql`(select count(*)::int from (select 1 from entry_text t where t.agent = ${agent}
      and t.words @@ phraseto_tsquery('varve', ${word}) ${among("t.conversation")} limit ${countMax}) as found)`,
  );
  const found = await sql<{ counts: number[] }>`select array[${sql.join(counts)}]::int[] as counts`.execute(db);
  return { counts: found.rows[0]?.counts ?? [], of };
}

export async function neighbours(db: Db, agent: string, seqs: number[], radius: number): Promise<PlacedEntry[]> {
  if (seqs.length === 0) return [];
  const side = (compare: string, order: string) => sql`
    (select x.seq from entries x where x.agent = c.agent and x.conversation = c.conversation and x.branch = c.branch
      and x.kind in ('user', 'assistant', 'system', 'tool') and x.seq ${sql.raw(compare)} c.seq
      order by x.seq ${sql.raw(order)} limit ${radius})`;
  const found = await sql<PlacedEntry>`
    with c as (select agent, conversation, branch, seq from entries
      where agent = ${agent} and seq = any(${seqs}::bigint[])),
    places as (
      select seq from c
      union select n.seq from c cross join lateral ${side("<", "desc")} n
      union select n.seq from c cross join lateral ${side(">", "asc")} n)
    select e.seq, e.conversation, e.branch, e.kind, e.time, e.tokens from entries e join places p on p.seq = e.seq
    where e.agent = ${agent} order by e.seq`.execute(db);
  return found.rows;
}
