import { estimateTokens } from "../../text/index.ts";
import { contentWords } from "../summary/extractive/candidates.ts";
import { splitSentences } from "../summary/extractive/sentences.ts";

const sentencesMax = 4_000;

/** The parts of a long text that share words with a prompt, in order, within a number of tokens; empty when none does. */
export function excerptFor(text: string, prompt: string, maxTokens: number): string {
  const wanted = contentWords(prompt);
  if (wanted.size === 0) return "";
  const { sentences } = splitSentences(text, sentencesMax);
  const scored = sentences.map((sentence, index) => {
    const shared = [...contentWords(sentence.text)].filter((slot) => wanted.has(slot)).length;
    return { index, text: sentence.text, shared, tokens: estimateTokens(sentence.text) + 2 };
  });
  const best = scored.filter(({ shared }) => shared > 0).sort((a, b) => b.shared - a.shared || a.index - b.index);
  const kept = new Set<number>();
  let left = maxTokens;
  for (const one of best) {
    if (one.tokens > left) continue;
    left -= one.tokens;
    kept.add(one.index);
  }
  let last = -1;
  const pieces: string[] = [];
  for (const { index, text: sentence } of scored) {
    if (!kept.has(index)) continue;
    pieces.push(index === last + 1 ? sentence : `… ${sentence}`);
    last = index;
  }
  return pieces.length === 0 ? "" : `${pieces.join(" ")} …`;
}
