import { sql } from "kysely";
import type { MemoryTextMatch, MemoryTextQuery, MemoryWords } from "../port.ts";
import type { Db, Tx } from "../schema.ts";
import { quote } from "./quote.ts";
import { matchExpression } from "./text-search.ts";

/** Candidates fetched per wanted match, because scope and validity are checked after ranking. */
const candidatesPerMatch = 4;

export async function matchMemories(db: Db, query: MemoryTextQuery): Promise<MemoryTextMatch[]> {
  const { scopes, words, together, validAt, category, limit } = query;
  const groups = together?.map((group) => group.map(quote).join(" AND "));
  const expression = groups ? groups.map((group) => `(${group})`).join(" OR ") : matchExpression({ words, any: true });
  if (!expression || scopes?.length === 0) return [];
  const wanted = sql`${scopes === undefined ? sql`` : sql`and m.scope in (${sql.join(scopes)})`}
    ${category === undefined ? sql`` : sql`and m.category = ${category}`}
    ${
      validAt === undefined
        ? sql``
        : sql`and m.valid_from <= ${validAt} and (m.invalidated_at is null or m.invalidated_at > ${validAt})`
    }`;
  if (together) {
    // The caller compares the matches itself, so ranking them would be wasted.
    const found = await sql<MemoryTextMatch>`
      select m.id as id, m.abstract as abstract, 0 as score from memory_text t cross join memories m on m.num = t.rowid
      where t.words match ${expression} ${wanted} order by t.rowid desc limit ${limit}`.execute(db);
    return found.rows;
  }
  if (query.rankedMax !== undefined) {
    const found = await sql<{ ranked: number; id: string | null; abstract: string; score: number }>`
      with t as materialized (select rowid as num, rank from memory_text where words match ${expression}
        order by rowid desc limit ${query.rankedMax}),
      best as materialized (select num, rank from t order by rank limit ${candidatesPerMatch * limit})
      select r.ranked, m.id as id, m.abstract as abstract, -m.rank as score
      from (select count(*) as ranked from t) as r left join
        (select m.id, m.abstract, t.rank from best as t cross join memories m on m.num = t.num where true ${wanted}) as m
      order by m.rank limit ${limit}`.execute(db);
    const ranked = found.rows[0]?.ranked ?? 0;
    const matches = found.rows.flatMap(({ id, abstract, score }) => (id === null ? [] : [{ id, abstract, score }]));
    const isCut = ranked >= Math.min(query.rankedMax, candidatesPerMatch * limit);
    if (!isCut || matches.length === limit) return matches;
  }
  const found = await sql<MemoryTextMatch>`
    select m.id as id, m.abstract as abstract, -t.rank as score from memory_text t cross join memories m on m.num = t.rowid
    where t.words match ${expression} ${wanted} order by t.rank limit ${limit}`.execute(db);
  return found.rows;
}

export async function countMemoryWords(
  db: Db,
  words: readonly string[],
  countMax: number,
): Promise<{ counts: number[]; of: number }> {
  const counts = words.map(
    (word) =>
      sql`(select count(*) from (select 1 from memory_text where words match ${quote(word)} limit ${countMax}))`,
  );
  // The highest number approximates the count: counting would read every row.
  const found = await sql<{ counts: string; of: number | null }>`
    select json_array(${sql.join(counts)}) as counts, (select max(num) from memories) as "of"`.execute(db);
  const [row] = found.rows;
  return { counts: JSON.parse(row?.counts ?? "[]") as number[], of: row?.of ?? 0 };
}

export async function indexMemory(tx: Tx, { num, words }: MemoryWords): Promise<void> {
  await sql`insert or replace into memory_text (rowid, words) values (${num}, ${words})`.execute(tx);
}

export async function removeMemoryText(tx: Tx, nums: number[]): Promise<void> {
  for (const num of nums) await sql`delete from memory_text where rowid = ${num}`.execute(tx);
}
