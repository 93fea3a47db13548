import { sql } from "kysely";
import {
  countedMax,
  examinedMax,
  nearDuplicatesMax,
  selectNearDuplicateWords,
  selectNumbers,
} from "../near-duplicate-words.ts";
import type { MemoryTextMatch, MemoryTextQuery, MemoryWords, NearDuplicateQuery, NewMemoryRows } from "../port.ts";
import type { Db, Tx } from "../schema.ts";

export async function matchMemories(
  db: Db | Tx,
  { scopes, words, together, validAt, category, limit }: MemoryTextQuery,
): Promise<MemoryTextMatch[]> {
  const groups = together ?? words.map((word) => [word]);
  if (groups.length === 0 || scopes?.length === 0) return [];
  const phrase = (word: string) => sql`phraseto_tsquery('varve', ${word})`;
  const phrases = sql.join(
    groups.map((group) => sql`(${sql.join(group.map(phrase), sql` && `)})`),
    sql` || `,
  );
  const found = await sql<MemoryTextMatch>`
    select m.id as id, m.abstract as abstract, ts_rank(t.words, query)::float8 as score
    from (select ${phrases} as query) as q cross join memory_text t
    join memories m on m.scope = t.scope and m.num = t.num
    where t.words @@ query
    ${scopes === undefined ? sql`` : sql`and t.scope = any(${[...scopes]}::text[])`}
    ${category === undefined ? sql`` : sql`and m.category = ${category}`}
    ${
      validAt === undefined
        ? sql``
        : sql`and m.valid_from <= ${validAt} and (m.invalidated_at is null or m.invalidated_at > ${validAt})`
    }
    order by ${together ? sql`` : sql`score desc,`} m.num desc limit ${limit}`.execute(db);
  return found.rows;
}

export async function matchNearDuplicates(db: Db | Tx, query: NearDuplicateQuery): Promise<MemoryTextMatch[]> {
  const { scope, words, thorough, factKey } = query;
  if (factKey !== undefined) {
    const keyed = await sql<MemoryTextMatch>`select id, abstract, 1 as score from memories
      where scope = ${scope} and fact_key = ${factKey} and invalidated_at is null limit 20`.execute(db);
    if (keyed.rows.length > 0) return keyed.rows;
  }
  const { counts } = await countMemoryWords(db, selectNumbers(words).length > 0 ? [] : words, countedMax);
  const wanted = selectNearDuplicateWords(query, (word) => counts[words.indexOf(word)] ?? 0);
  if (!wanted) return [];
  const holders = wanted.words.map(
    (word) => sql`(select t.num from memory_text t where t.scope = ${scope}
      and t.words @@ phraseto_tsquery('varve', ${word}) limit ${thorough ? examinedMax.thorough : examinedMax.quick})`,
  );
  const found = await sql<MemoryTextMatch>`
    select m.id as id, m.abstract as abstract, 0 as score
    from (select num from (${sql.join(holders, sql` union all `)}) as held
      group by num having count(*) >= ${wanted.least}) as t
    join memories m on m.scope = ${scope} and m.num = t.num
    where m.invalidated_at is null order by m.num desc limit ${nearDuplicatesMax}`.execute(db);
  return found.rows;
}

export async function countMemoryWords(
  db: Db | Tx,
  words: readonly string[],
  countMax: number,
): Promise<{ counts: number[]; of: number }> {
  const counts = words.map(
    (word) => sql`(select count(*)::int from (select 1 from memory_text t
      where t.words @@ phraseto_tsquery('varve', ${word}) limit ${countMax}) as found)`,
  );
  const counted = counts.length === 0 ? sql`'{}'` : sql`array[${sql.join(counts)}]`;
  const { rows } = await sql<{ counts: number[]; of: number | null }>`select ${counted}::int[] as counts,
    (select max(num) from memories) as "of"`.execute(db);
  return { counts: rows[0]?.counts ?? [], of: Number(rows[0]?.of ?? 0) };
}

export async function indexMemory(tx: Tx, { scope, num, words }: MemoryWords): Promise<void> {
  await sql`insert into memory_text (scope, num, words) values (${scope}, ${num}, to_tsvector('varve', ${words}))
    on conflict (scope, num) do update set words = excluded.words`.execute(tx);
}

export async function removeMemoryText(tx: Tx, nums: number[]): Promise<void> {
  await sql`delete from memory_text where num = any(${nums}::bigint[])`.execute(tx);
}

/** Inserts the rows of a memory inside the open transaction; `encode` gives the form of a vector in pgvector. */
export async function insertMemory(
  tx: Tx,
  memory: NewMemoryRows,
  encode?: (vector: Int8Array) => string,
): Promise<void> {
  const { row, sources, support, words, vector } = memory;
  const next = await sql<{ value: number }>`select nextval('memory_number') as value`.execute(tx);
  const num = Number(next.rows[0]?.value ?? 1);
  const { scope, id } = row;
  await tx
    .insertInto("memories")
    .values({ ...row, num })
    .execute();
  if (sources.length > 0)
    await tx
      .insertInto("memory_sources")
      .values([...sources])
      .execute();
  if (support.length > 0)
    await tx
      .insertInto("memory_support")
      .values([...support])
      .execute();
  await indexMemory(tx, { scope, num, words });
  if (vector) {
    const { buffer, byteOffset, byteLength } = vector.vector;
    const embedding = encode?.(new Int8Array(buffer, byteOffset, byteLength));
    await tx
      .insertInto("memory_vectors")
      .values({ scope, num, memory: id, ...vector, ...(embedding === undefined ? {} : { embedding }) })
      .execute();
  }
}
