import { splitSentences } from "../extract/utterances.ts";
import { extractAllTerms, extractTerms } from "../similarity.ts";

const longTerms = 12;
const pieceTerms = 2;
const piecesMax = 20;
const coverageWeight = 0.6;
const cosineWeight = 0.4;

/** Returns a function that scores how well a memory matches the words of a query, 0 to 1. The query is parsed once. */
export function createWordScorer(query: string): (memory: { abstract: string; content: string }) => number {
  const questions = splitQuery(query).map((piece) => {
    const counts = countTerms(extractTerms(piece));
    return { counts, length: computeLength(counts) };
  });
  return ({ abstract, content }) => {
    const counts = countTerms(extractTerms(abstract));
    const length = computeLength(counts);
    const contained = new Set(extractAllTerms(content.includes(abstract) ? content : `${abstract}\n${content}`));
    let best = 0;
    for (const question of questions) {
      let [covered, dot] = [0, 0];
      for (const [term, count] of question.counts) {
        if (contained.has(term)) covered += 1;
        dot += count * (counts.get(term) ?? 0);
      }
      const coverage = question.counts.size === 0 ? 0 : covered / question.counts.size;
      const lengths = question.length * length;
      best = Math.max(best, coverageWeight * coverage + cosineWeight * (lengths === 0 ? 0 : dot / lengths));
    }
    return best;
  };
}

/** Splits a long query into itself and its sentences: often only its last sentence asks something. */
function splitQuery(query: string): string[] {
  if (extractTerms(query).length <= longTerms) return [query];
  const sentences = splitSentences({ text: query, open: [{ start: 0, end: query.length }] })
    .map(({ start, end }) => query.slice(start, end))
    .filter((piece) => extractTerms(piece).length >= pieceTerms);
  return [query, ...sentences.slice(0, piecesMax / 2), ...sentences.slice(-piecesMax / 2)];
}

function countTerms(terms: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}

function computeLength(counts: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const count of counts.values()) sum += count * count;
  return Math.sqrt(sum);
}
