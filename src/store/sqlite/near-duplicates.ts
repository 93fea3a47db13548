import {
  countedMax,
  heldMax,
  type NearDuplicateWords,
  nearDuplicatesMax,
  selectNearDuplicateWords,
} from "../near-duplicate-words.ts";
import type { MemoryTextMatch, NearDuplicateQuery } from "../port.ts";
import type { Statements } from "./statements.ts";
import { quote } from "./text-search.ts";

const count = "select count(*) from (select 1 from memory_text where words match ? limit ?)";
const holders = "select rowid from memory_text where words match ? order by rowid desc limit ?";
const believed = "m.scope = ? and m.invalidated_at is null";
const match = `select m.id as id, m.abstract as abstract, 0 as score
  from memory_text t cross join memories m on m.num = t.rowid
  where t.words match ? and ${believed} order by t.rowid desc limit ?`;
const byNumbers = `select m.id as id, m.abstract as abstract, 0 as score
  from json_each(?) as j cross join memories m on m.num = j.value where ${believed} order by m.num desc limit ?`;

/** After so many questions every word is counted anew. */
const usesMax = 10_000;

/** Looks for memories that may say the same as another, in the thread of a connection: several questions, one way there. */
export class NearDuplicates {
  private readonly statements: Statements;
  /** What was counted a while ago is good enough to tell rare from common. */
  private readonly counts = new Map<string, number>();
  private uses = 0;

  constructor(statements: Statements) {
    this.statements = statements;
  }

  find(query: NearDuplicateQuery): MemoryTextMatch[] {
    this.uses += 1;
    if (this.uses % usesMax === 0) this.counts.clear();
    const wanted = selectNearDuplicateWords(query, (word) => this.countOf(word));
    if (!wanted) return [];
    const { words, least } = wanted;
    if (least > 1 && least < words.length) return this.holdSome(query, wanted);
    const expression = words.map(quote).join(least === 1 ? " OR " : " AND ");
    return this.rows(match, expression, query.scope, nearDuplicatesMax) as MemoryTextMatch[];
  }

  /** The index knows "one of" and "all of"; what holds some of the words is counted here. */
  private holdSome({ scope, thorough }: NearDuplicateQuery, { words, least }: NearDuplicateWords): MemoryTextMatch[] {
    const held = new Map<number, number>();
    for (const word of words) {
      const most = thorough ? heldMax.thorough : heldMax.quick;
      const nums = this.statements.column(holders, quote(word), most) as number[];
      for (const num of nums) held.set(num, (held.get(num) ?? 0) + 1);
    }
    const nums = [...held].flatMap(([num, times]) => (times >= least ? [num] : []));
    if (nums.length === 0) return [];
    return this.rows(byNumbers, JSON.stringify(nums), scope, nearDuplicatesMax) as MemoryTextMatch[];
  }

  private countOf(word: string): number {
    const known = this.counts.get(word);
    // What nothing held may be held since: leaving it out would miss a twin.
    if (known) return known;
    const [made] = this.statements.column(count, quote(word), countedMax) as [number];
    this.counts.set(word, made);
    return made;
  }

  private rows(text: string, ...parameters: unknown[]): unknown[] {
    return this.statements.execute(text, parameters).rows;
  }
}
