import type { Doc } from "./documents.ts";
import type { Hints } from "./fuse.ts";
import type { Retrieval } from "./retrieve.ts";
import { termsOf } from "./text/words.ts";
import { fitOf, type TimeSpan } from "./time/understand.ts";

const namesMax = 10_000;
const names = new Map<string, readonly string[]>();

/** Whether a term is part of the name of who speaks; a mere role is no name. */
export function isSpokenBy(doc: Doc, term: string): boolean {
  if (doc.speaker === doc.role) return false;
  let terms = names.get(doc.speaker);
  if (!terms) {
    terms = termsOf(doc.speaker);
    if (names.size >= namesMax) names.clear();
    names.set(doc.speaker, terms);
  }
  return terms.includes(term);
}

/** What the query says beside its words: who spoke, that it is about the asker, when it was. */
export function hintsOf(found: Retrieval, time: TimeSpan | undefined): Hints {
  const { pool, parsed } = found;
  return {
    speaker: pool.docs.map((doc) => parsed.terms.some(({ term }) => isSpokenBy(doc, term))),
    firstPerson: pool.docs.map((doc) => parsed.aboutSelf && doc.role === "user"),
    ...(time ? { time: pool.docs.map((doc) => fitOf(time, doc.time)) } : {}),
  };
}
