import {
  countedMax,
  examinedMax,
  type NearDuplicateTerms,
  nearDuplicatesMax,
  selectNearDuplicateWords,
} from "../near-duplicate-words.ts";
import type { MemoryTextMatch, NearDuplicateQuery, NewMemoryRows } from "../port.ts";
import { quote } from "./quote.ts";
import type { Statements } from "./statements.ts";

const count = "select count(*) from (select 1 from memory_text where words match ? limit ?)";
const holders = "select rowid from memory_text where words match ? order by rowid desc limit ?";
const believed = "m.scope = ? and m.invalidated_at is null";
const match = `select m.id as id, m.abstract as abstract, 0 as score
  from memory_text t cross join memories m on m.num = t.rowid
  where t.words match ? and ${believed} order by t.rowid desc limit ?`;
const byNumbers = `select m.id as id, m.abstract as abstract, 0 as score
  from json_each(?) as j cross join memories m on m.num = j.value where ${believed} order by m.num desc limit ?`;

const byKey = `select m.id as id, m.abstract as abstract, 1 as score from memories m
  where m.scope = ? and m.fact_key = ? and +m.invalidated_at is null limit 20`;

/** Cached word counts are dropped after this many queries. */
const usesMax = 10_000;

/** Finds candidate near-duplicates inside a worker thread: several statements, one round trip. */
export class NearDuplicateFinder {
  private readonly statements: Statements;
  /** A slightly old count is good enough to tell rare words from common ones. */
  private readonly counts = new Map<string, number>();
  private uses = 0;

  constructor(statements: Statements) {
    this.statements = statements;
  }

  find(query: NearDuplicateQuery): MemoryTextMatch[] {
    if (query.factKey !== undefined) {
      const keyed = this.queryRows(byKey, query.scope, query.factKey) as MemoryTextMatch[];
      if (keyed.length > 0) return keyed;
    }
    this.uses += 1;
    if (this.uses % usesMax === 0) this.counts.clear();
    const wanted = selectNearDuplicateWords(query, (word) => this.countWord(word));
    if (!wanted) return [];
    const { words, least } = wanted;
    if (least > 1 && least < words.length) return this.findByCount(query, wanted);
    const expression = words.map(quote).join(least === 1 ? " OR " : " AND ");
    return this.queryRows(match, expression, query.scope, nearDuplicatesMax) as MemoryTextMatch[];
  }

  /** FTS5 supports "any of" and "all of"; "at least n of" is counted here. */
  private findByCount(
    { scope, thorough }: NearDuplicateQuery,
    { words, least }: NearDuplicateTerms,
  ): MemoryTextMatch[] {
    const held = new Map<number, number>();
    for (const word of words) {
      const most = thorough ? examinedMax.thorough : examinedMax.quick;
      const nums = this.statements.column(holders, quote(word), most) as number[];
      for (const num of nums) held.set(num, (held.get(num) ?? 0) + 1);
    }
    const nums = [...held].flatMap(([num, times]) => (times >= least ? [num] : []));
    if (nums.length === 0) return [];
    return this.queryRows(byNumbers, JSON.stringify(nums), scope, nearDuplicatesMax) as MemoryTextMatch[];
  }

  private countWord(word: string): number {
    const known = this.counts.get(word);
    // A zero is never cached: the word may have been indexed since, and skipping it would miss a near-duplicate.
    if (known) return known;
    const [made] = this.statements.column(count, quote(word), countedMax) as [number];
    this.counts.set(word, made);
    return made;
  }

  private queryRows(text: string, ...parameters: unknown[]): unknown[] {
    return this.statements.execute(text, parameters).rows;
  }
}

/** Inserts the rows of a memory inside the open transaction. */
export function insertMemory(statements: Statements, memory: NewMemoryRows): void {
  const { row, sources, support, words, vector } = memory;
  const counted = statements.get("update counters set value = value + 1 where name = 'memory_number' returning value");
  const num = (counted as { value: number }).value;
  insert(statements, "memories", { ...row, num });
  for (const source of sources) insert(statements, "memory_sources", source);
  for (const one of support) insert(statements, "memory_support", one);
  statements.run("insert or replace into memory_text (rowid, words) values (?, ?)", num, words);
  if (vector) insert(statements, "memory_vectors", { scope: row.scope, num, memory: row.id, ...vector });
}

function insert(statements: Statements, table: string, row: object): void {
  const columns = Object.keys(row);
  const places = columns.map(() => "?").join(", ");
  statements.run(`insert into ${table} (${columns.join(", ")}) values (${places})`, ...Object.values(row));
}
