import type { MemoryTextMatch, TwinQuery } from "../port.ts";
import { countedMax, figuresOf, twinGroups, twinsMax } from "../shared-words.ts";
import type { Statements } from "./statements.ts";
import { quote } from "./text-search.ts";

const count = "select count(*) as n from (select 1 from memory_text where words match ? limit ?)";
// The highest number stands for how many there are: counting would read them all.
const last = "select max(num) as n from memories";
const match = `select m.id as id, m.abstract as abstract, 0 as score
  from memory_text t cross join memories m on m.num = t.rowid
  where t.words match ? and m.scope = ? and m.invalidated_at is null order by t.rowid desc limit ?`;

/** After so many questions every word is counted anew. */
const usesMax = 2_000;

/** Looks for memories that may say the same as another, in the thread of a connection: several questions, one way there. */
export class Twins {
  private readonly statements: Statements;
  /** What was counted a while ago is good enough to tell rare from common. */
  private readonly counts = new Map<string, number>();
  private uses = 0;

  constructor(statements: Statements) {
    this.statements = statements;
  }

  find(query: TwinQuery): MemoryTextMatch[] {
    if (query.words.length === 0) return [];
    const figures = figuresOf(query.words);
    const groups = figures.length > 0 ? [figures] : this.groupsOf(query);
    if (groups.length === 0) return [];
    const expression = groups.map((group) => `(${group.map(quote).join(" AND ")})`).join(" OR ");
    return this.statements.execute(match, [expression, query.scope, twinsMax]).rows as MemoryTextMatch[];
  }

  private groupsOf(query: TwinQuery): string[][] {
    this.uses += 1;
    if (this.uses % usesMax === 0) this.counts.clear();
    for (const word of query.words) {
      // What nothing held may be held since: leaving it out would miss a twin.
      if ((this.counts.get(word) ?? 0) === 0) this.counts.set(word, this.number(count, quote(word), countedMax));
    }
    return twinGroups(query, this.counts, this.number(last));
  }

  private number(text: string, ...parameters: unknown[]): number {
    return (this.statements.get(text, ...parameters) as { n: number | null }).n ?? 0;
  }
}
