import { isConfirmation } from "./requests.ts";
import type { Step } from "./steps.ts";
import { findContentWords, splitTypedSentences } from "./text.ts";
import { dropPastedLines } from "./typed-text.ts";

export interface DecisionItem {
  text: string;
  by: "user" | "assistant";
}

/** Sentences that decide something: of the person, and proposals that the person confirmed in the next message. */
export function findDecisions(steps: readonly Step[]): DecisionItem[] {
  const decisions = new Map<string, DecisionItem>();
  let proposal: string | undefined;
  for (const step of steps) {
    if (step.kind === "assistant") proposal = findProposal(step.text) ?? proposal;
    if (step.kind !== "user") continue;
    if (proposal !== undefined && startsWithConsent(step.text))
      decisions.set(proposal, { text: proposal, by: "assistant" });
    proposal = undefined;
    for (const sentence of splitTypedSentences(dropPastedLines(step.text))) {
      if (isDecision(sentence)) decisions.set(sentence, { text: sentence, by: "user" });
    }
  }
  return [...decisions.values()];
}

const decisionPatterns = [
  /\blet'?s (?:use|go|keep|stick|make|do|switch|call|name|not|drop|stay|put|move|start|have|leave|avoid|pick|take|set|rename|split|store)\b/i,
  /\b(?:instead of|rather than|in favou?r of|from now on|going forward|no longer)\b/i,
  /\b(?:must|mustn'?t|never|always|should|shouldn'?t|needs? to be|has to|have to|required to)\b/i,
  /(?:^|[,;:–-]\s*|\b(?:please|pls|and|but|so|we|just|you)\s+)(?:do not|don'?t)\b|\bstop \w+ing\b|\b(?:no need (?:for|to)|not allowed|avoid)\b/i,
  /\b(?:we(?:'ll| will| are going to|'re going to)|i(?:'ve)? (?:want|decided)|go with|stick (?:with|to)|switch (?:to|over)|settle on|we (?:decided|agreed|only|use|keep|prefer|drop|support)|i(?:'d)? prefer)\b/i,
  /^no,\s+(?!(?:that|it|this)(?:'s| is| was) not)\S+|^no (?!idea|clue|problem|worries|luck|it|that|this|more)\w+|\buse [^.?]+, no \w+/i,
  /^(?:use|keep|prefer|only|stay with)\b|\bonly, not\b|\bbut only\b|\bonly[.!]*$/i,
  /\bbelongs? (?:in|into|to|on)\b|,\s*not (?:the|an?|in|on|with|by|via|for|as|to)\b|\b(?:go for|we'?re (?:using|keeping|dropping)|is (?:out of scope|off limits))\b/i,
  /\buse [^.?]+ (?:for|as|everywhere|only|not)\b/i,
  /\b(?:nehmen wir|lass uns|wir (?:verwenden|nehmen|nutzen|bleiben|machen)|statt|anstatt|soll(?:en|te|ten)?|muss|müssen|darf|dürfen|nie(?:mals)?|immer|kein(?:e|en|er)?|auf keinen fall|ab jetzt|bleib(?:t|en)|stattdessen|lieber|nicht (?:per|mit|über|als))\b/i,
  /改用|不要|必须|应该|一律|始终|决定|不能|禁止|我们用|就用|统一|只能|不得|保持|而不是|别用/,
  /ではなく|必ず|しないで|ないでください|にしましょう|べき|ことにし|常に|禁止|を使って|使いましょう|は使わない|でいきましょう|に統一|代わりに/,
];

const questions =
  /[?？]\s*$|^(?:how|what|why|where|when|who|which|does|did|is|are|can|could|would|will|do you|should (?:i|we)|wie|was|warum|wo|wann|kannst|könntest)\b(?!.*[.!]$)/i;

function isDecision(sentence: string): boolean {
  if (questions.test(sentence) || findContentWords(sentence).length === 0) return false;
  // Reports of what does not work are not decisions.
  if (
    /\b(?:i|it|they|he|she|that|this) (?:don'?t|doesn'?t) (?:know|understand|think|work|seem|see|look|get|remember|have|compile|run|load)\b/i.test(
      sentence,
    )
  )
    return false;
  return decisionPatterns.some((pattern) => pattern.test(sentence));
}

const proposals =
  /\b(?:i(?:'d)? (?:suggest|propose|recommend)|i would (?:suggest|propose|recommend|use|go)|(?:should|shall) (?:i|we)|we could|my (?:suggestion|recommendation|proposal)|how about|want me to|would you like me to|do you want me to|is it ok(?:ay)? (?:if|to)|ich (?:schlage|würde|empfehle)|soll(?:en)? (?:ich|wir)|我建议|建议|要不要|提案|しましょうか|でよろしいですか|はどうでしょう)/i;

/** The last sentence of a message that proposes something. */
function findProposal(text: string): string | undefined {
  return splitTypedSentences(text.replace(/```[\s\S]*?(?:```|$)/g, "\n")).findLast((sentence) =>
    proposals.test(sentence),
  );
}

function startsWithConsent(text: string): boolean {
  const [first = ""] = splitTypedSentences(text);
  if (isConfirmation(first)) return true;
  return (
    /^(?:ok(?:ay)?|yes|yep|yeah|sure|agreed|exactly|go ahead|sounds good|do it|ja|genau|einverstanden|好|可以|同意|はい|お願いします|了解)(?:[\s,.!:;。！，、]|$)/i.test(
      first,
    ) && !/\b(?:instead|rather)\b/i.test(first)
  );
}
