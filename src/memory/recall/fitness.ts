import { splitSentences } from "../extract/utterances.ts";
import { allTerms, extractTerms } from "../similarity.ts";

const longTerms = 12;
const pieceTerms = 2;
const piecesMax = 20;
const coverageWeight = 0.6;
const cosineWeight = 0.4;

/** How well a text fits a question by its words, from 0 to 1. The question is read once, each text once. */
export function fitnessFor(query: string): (memory: { abstract: string; content: string }) => number {
  const questions = piecesOf(query).map((piece) => {
    const counts = countsOf(extractTerms(piece));
    return { counts, length: lengthOf(counts) };
  });
  return ({ abstract, content }) => {
    const counts = countsOf(extractTerms(abstract));
    const length = lengthOf(counts);
    const held = new Set(allTerms(content.includes(abstract) ? content : `${abstract}\n${content}`));
    let best = 0;
    for (const question of questions) {
      let [covered, dot] = [0, 0];
      for (const [term, count] of question.counts) {
        if (held.has(term)) covered += 1;
        dot += count * (counts.get(term) ?? 0);
      }
      const coverage = question.counts.size === 0 ? 0 : covered / question.counts.size;
      const lengths = question.length * length;
      best = Math.max(best, coverageWeight * coverage + cosineWeight * (lengths === 0 ? 0 : dot / lengths));
    }
    return best;
  };
}

/** A long question is taken as a whole and by its sentences: what it ends with may be all that it asks. */
function piecesOf(query: string): string[] {
  if (extractTerms(query).length <= longTerms) return [query];
  const sentences = splitSentences({ text: query, open: [{ start: 0, end: query.length }] })
    .map(({ start, end }) => query.slice(start, end))
    .filter((piece) => extractTerms(piece).length >= pieceTerms);
  return [query, ...sentences.slice(0, piecesMax / 2), ...sentences.slice(-piecesMax / 2)];
}

function countsOf(terms: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}

function lengthOf(counts: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const count of counts.values()) sum += count * count;
  return Math.sqrt(sum);
}
