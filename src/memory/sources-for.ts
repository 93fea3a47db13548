import type { Entry } from "../domain/index.ts";
import { extractUtterance, splitSentences } from "./extract/utterances.ts";
import type { Source } from "./memory.ts";
import { coverage } from "./similarity.ts";

const coveredFrom = 0.5;
const sourcesMax = 2;

/** Where in some messages the words of a memory were said, if they were; the best places first. */
export function sourcesFor(text: string, entries: readonly Entry[], agent: string): Source[] {
  return entries
    .flatMap((entry) => {
      const one = extractUtterance(entry, agent);
      if (!one) return [];
      return splitSentences(one).map(({ start, end }) => ({
        source: { agent, sessionId: one.sessionId, seq: one.seq, start, end },
        score: coverage(text, one.text.slice(start, end)) + (one.role === "user" ? 0.05 : 0),
      }));
    })
    .filter(({ score }) => score >= coveredFrom)
    .sort((a, b) => b.score - a.score || b.source.seq - a.source.seq)
    .slice(0, sourcesMax)
    .map(({ source }) => source);
}
