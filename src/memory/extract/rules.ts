import type { Message } from "../../domain/index.ts";
import { categories } from "../memory.ts";
import { rougeL } from "../similarity.ts";
import type { Found } from "./candidate.ts";
import { isExplicit, parseFact } from "./facts.ts";
import { extractUtterance, isRecallQuestion, splitSentences, type Utterance } from "./utterances.ts";

const explicitConfidence = 0.95;
const statedConfidence = 0.7;
const explicitBonus = 0.1;

/** What people said that is worth keeping, by patterns alone. What is asked for to be remembered comes first. */
export function extractByRules(spoken: readonly Utterance[], max: number): { found: Found[]; leftOut: number } {
  const all: (Found & { explicit: boolean })[] = [];
  for (const one of spoken) {
    if (one.role !== "user") continue;
    for (const span of splitSentences(one)) {
      const sentence = one.text.slice(span.start, span.end);
      if (isRecallQuestion(sentence)) continue;
      const fact = parseFact(sentence);
      if (!fact) continue;
      const { category, explicit } = fact;
      all.push({
        category,
        factKey: fact.factKey,
        abstract: asSentence(fact.text),
        overview: `- ${fact.text}`,
        content: sentence,
        importance: Math.min(1, categories[category].importance + (explicit ? explicitBonus : 0)),
        confidence: explicit ? explicitConfidence : statedConfidence,
        fiction: false,
        label: "general",
        extractor: "rules",
        support: [{ seq: one.seq, span }],
        explicit,
      });
    }
  }
  // The order of speech is kept: of two values of one fact in a batch, the later has to win.
  const best = all.toSorted((a, b) => Number(b.explicit) - Number(a.explicit) || scoreOf(b) - scoreOf(a)).slice(0, max);
  const chosen = new Set(best);
  const found = all.filter((one) => chosen.has(one)).map(({ explicit: _, ...one }) => one);
  return { found, leftOut: all.length - found.length };
}

/** Whether somebody asked to have something remembered: that is not put off until more was said. */
export function asksToRemember(spoken: readonly Utterance[]): boolean {
  return spoken.some(
    (one) =>
      one.role === "user" && splitSentences(one).some(({ start, end }) => isExplicit(one.text.slice(start, end))),
  );
}

/** Whether so much was said that it is worth reading: enough of it, or somebody asked to have something remembered. */
export function isWorthReading(messages: readonly Message[], everyMessages: number): boolean {
  if (messages.length >= everyMessages) return true;
  const place = { id: "", seq: 0, parentId: null, sessionId: "", time: 0, tokens: 0 };
  return asksToRemember(
    messages.flatMap((message) => extractUtterance({ ...place, type: "message", message }, "") ?? []),
  );
}

/** A sentence is worth more the more its category is, and when it is short enough to be a fact. */
function scoreOf(found: Found): number {
  const brevity = found.content.length <= 200 ? 1 : 200 / found.content.length;
  return categories[found.category].typePrior * brevity + rougeL(found.abstract, found.content) * 0.1;
}

function asSentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?。！？]$/.test(first) ? first : `${first}.`;
}
