import type { Entry } from "../domain/index.ts";
import { extractUtterance, splitSentences } from "./extract/utterances.ts";
import type { Source } from "./memory.ts";
import { computeCoverage } from "./similarity.ts";

const coveredFrom = 0.5;
const sourcesMax = 2;

/** Finds the sentences of some messages that state a memory, best first. */
export function findEvidence(text: string, entries: readonly Entry[], agent: string): Source[] {
  return entries
    .flatMap((entry) => {
      const one = extractUtterance(entry, agent);
      if (!one) return [];
      return splitSentences(one).map(({ start, end }) => ({
        source: { agent, sessionId: one.sessionId, seq: one.seq, start, end },
        score: computeCoverage(text, one.text.slice(start, end)) + (one.role === "user" ? 0.05 : 0),
      }));
    })
    .filter(({ score }) => score >= coveredFrom)
    .sort((a, b) => b.score - a.score || b.source.seq - a.source.seq)
    .slice(0, sourcesMax)
    .map(({ source }) => source);
}
