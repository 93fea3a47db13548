import type { Doc } from "./documents.ts";
import { extractTerms } from "./text/words.ts";

const namesMax = 10_000;
const names = new Map<string, readonly string[]>();

/** Whether a term is part of the name of who speaks; a mere role is no name. */
export function isSpokenBy(doc: Doc, term: string): boolean {
  if (doc.speaker === doc.role) return false;
  let terms = names.get(doc.speaker);
  if (!terms) {
    terms = extractTerms(doc.speaker);
    if (names.size >= namesMax) names.clear();
    names.set(doc.speaker, terms);
  }
  return terms.includes(term);
}
