import { sql } from "kysely";
import type { MemoryTextMatch, MemoryTextQuery, MemoryWords } from "../port.ts";
import type { Db, Tx } from "../schema.ts";
import { matchExpression } from "./text-search.ts";

export async function matchMemories(
  db: Db,
  { scopes, words, validAt, category, limit }: MemoryTextQuery,
): Promise<MemoryTextMatch[]> {
  if (words.length === 0 || scopes?.length === 0) return [];
  const found = await sql<MemoryTextMatch>`
    select m.id as id, -t.rank as score from memory_text t cross join memories m on m.num = t.rowid
    where t.words match ${matchExpression({ words, any: true }) ?? ""}
    ${scopes === undefined ? sql`` : sql`and m.scope in (${sql.join(scopes)})`}
    ${category === undefined ? sql`` : sql`and m.category = ${category}`}
    ${
      validAt === undefined
        ? sql``
        : sql`and m.valid_from <= ${validAt} and (m.invalidated_at is null or m.invalidated_at > ${validAt})`
    }
    order by t.rank limit ${limit}`.execute(db);
  return found.rows;
}

export async function indexMemory(tx: Tx, { num, words }: MemoryWords): Promise<void> {
  await sql`insert or replace into memory_text (rowid, words) values (${num}, ${words})`.execute(tx);
}

export async function removeMemoryText(tx: Tx, nums: number[]): Promise<void> {
  for (const num of nums) await sql`delete from memory_text where rowid = ${num}`.execute(tx);
}
