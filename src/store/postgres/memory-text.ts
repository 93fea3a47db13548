import { sql } from "kysely";
import type { MemoryTextMatch, MemoryTextQuery, MemoryWords } from "../port.ts";
import type { Db, Tx } from "../schema.ts";

export async function matchMemories(
  db: Db,
  { scopes, words, validAt, category, limit }: MemoryTextQuery,
): Promise<MemoryTextMatch[]> {
  if (words.length === 0 || scopes?.length === 0) return [];
  const phrases = sql.join(
    words.map((word) => sql`phraseto_tsquery('varve', ${word})`),
    sql` || `,
  );
  const found = await sql<MemoryTextMatch>`
    select m.id as id, ts_rank(t.words, query)::float8 as score
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
    order by score desc, m.num desc limit ${limit}`.execute(db);
  return found.rows;
}

export async function indexMemory(tx: Tx, { scope, num, words }: MemoryWords): Promise<void> {
  await sql`insert into memory_text (scope, num, words) values (${scope}, ${num}, to_tsvector('varve', ${words}))
    on conflict (scope, num) do update set words = excluded.words`.execute(tx);
}

export async function removeMemoryText(tx: Tx, nums: number[]): Promise<void> {
  await sql`delete from memory_text where num = any(${nums}::bigint[])`.execute(tx);
}
