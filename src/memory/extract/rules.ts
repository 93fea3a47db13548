import type { Message } from "../../domain/index.ts";
import { detectLanguage, type Span } from "../../text/index.ts";
import { prepareWordSets } from "../compare/word-sets.ts";
import { categories } from "../memory.ts";
import { computeRougeL } from "../similarity.ts";
import { scoreExperience } from "./experiences.ts";
import { isExplicit, parseFact } from "./facts.ts";
import type { Statement } from "./ground-statement.ts";
import { splitClauses } from "./split-clauses.ts";
import { extractUtterance, isRecallQuestion, splitSentences, type Utterance } from "./utterances.ts";

const explicitConfidence = 0.95;
const statedConfidence = 0.7;
const explicitBonus = 0.1;

export interface RuleLimits {
  /** The maximum number of statements. */
  max: number;
  /** Whether people only talk here: then they tell about their lives, and not about work with tools. */
  isChat: boolean;
  /** Whether they talk with an assistant, whom people mostly ask for something. Default: by the utterances. */
  isWithAssistant?: boolean;
}

/**
 * Extracts statements of users by patterns, and what they tell about their lives. Explicit requests to remember take
 * precedence.
 */
export function extractByRules(
  utterances: readonly Utterance[],
  { max, isChat, isWithAssistant = utterances.some((one) => one.role === "assistant") }: RuleLimits,
): { found: Statement[]; leftOut: number } {
  const all: (Statement & { explicit: boolean })[] = [];
  const told: ToldExperience[] = [];
  for (const one of utterances) {
    if (one.role !== "user") continue;
    for (const span of splitSentences(one).flatMap((whole) => splitFacts(one.text, whole))) {
      const sentence = one.text.slice(span.start, span.end);
      if (isRecallQuestion(sentence) || isAdvice(sentence)) continue;
      const fact = parseFact(sentence);
      if (!fact) {
        const score = isChat ? scoreSentence(sentence) : undefined;
        if (score !== undefined) told.push({ score, statement: toExperience(one, span) });
        continue;
      }
      const { category, explicit } = fact;
      all.push({
        category,
        factKey: fact.factKey,
        abstract: toSentence(fact.text),
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
  const least = isWithAssistant ? experienceFrom.assistant : experienceFrom.people;
  all.push(...selectExperiences(told, least, Math.ceil(utterances.length * experienceShare)));
  all.sort((a, b) => getPlace(a) - getPlace(b));
  // The order is preserved: of two values of one fact in a batch, the later must supersede.
  const best = all
    .toSorted((a, b) => Number(b.explicit) - Number(a.explicit) || scoreStatement(b) - scoreStatement(a))
    .slice(0, max);
  const chosen = new Set(best);
  const found = all.filter((one) => chosen.has(one)).map(({ explicit: _, ...one }) => one);
  return { found, leftOut: all.length - found.length };
}

interface ToldExperience {
  score: number;
  statement: Statement & { explicit: boolean };
}

const experienceConfidence = 0.6;
/** The least score between people, and with an assistant, whom people mostly ask for something. */
const experienceFrom = { people: 1.1, assistant: 2 };
/** The share of a batch's messages that become such memories. */
const experienceShare = 0.3;

function selectExperiences(told: ToldExperience[], least: number, max: number): ToldExperience["statement"][] {
  return told
    .filter((one) => one.score >= least)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, max)
    .map((one) => one.statement);
}

function toExperience({ seq, text }: Utterance, span: Span): ToldExperience["statement"] {
  const sentence = text.slice(span.start, span.end);
  return {
    category: "events",
    abstract: toSentence(sentence),
    overview: `- ${sentence}`,
    content: sentence,
    importance: categories.events.importance,
    confidence: experienceConfidence,
    fiction: false,
    label: "general",
    extractor: "rules",
    support: [{ seq, span }],
    explicit: false,
  };
}

/** Where a statement was made, in the order of the log. */
function getPlace({ support: [first] }: Statement): number {
  return (first?.seq ?? 0) + (first?.span?.start ?? 0) / charactersMax;
}

const charactersMax = 1e9;

/** The clauses of a sentence, if each of them stands alone as a fact; an explicit request to remember is one fact. */
function splitFacts(text: string, sentence: Span): Span[] {
  if (isExplicit(text.slice(sentence.start, sentence.end))) return [sentence];
  const clauses = splitClauses(text, sentence);
  const texts = clauses.map(({ start, end }) => text.slice(start, end));
  const facts = texts.filter((one) => parseFact(one) !== undefined);
  const standAlone = texts.filter((one) => parseFact(one) !== undefined || scoreSentence(one) !== undefined);
  return facts.length > 0 && standAlone.length === clauses.length ? clauses : [sentence];
}

function scoreSentence(sentence: string): number | undefined {
  return scoreExperience(sentence, prepareWordSets(detectLanguage(sentence)));
}

/** General advice to the listener is no fact about anybody: "The key is to keep your hair nourished". */
const advice =
  /^(?:always|never|the (?:key|trick|secret|best way|important thing) (?:is|to)|make sure|try to|you (?:should|need|have|must|can))\b.*\byour?(?:self)?\b/iu;

function isAdvice(sentence: string): boolean {
  return advice.test(sentence.trim()) && !isExplicit(sentence);
}

/** Whether a user explicitly asks to remember something; such a batch is extracted at once. */
export function asksToRemember(utterances: readonly Utterance[]): boolean {
  return utterances.some(
    (one) =>
      one.role === "user" && splitSentences(one).some(({ start, end }) => isExplicit(one.text.slice(start, end))),
  );
}

/** Whether messages are worth an extraction: there are enough, or a user asks to remember something. */
export function isWorthReading(messages: readonly Message[], everyMessages: number): boolean {
  if (messages.length >= everyMessages) return true;
  const place = { id: "", seq: 0, parentId: null, sessionId: "", time: 0, tokens: 0 };
  return asksToRemember(
    messages.flatMap((message) => extractUtterance({ ...place, type: "message", message }, "") ?? []),
  );
}

/** The facts that the built-in rules find in what a user says. */
export function previewFacts(text: string): string[] {
  const place = { id: "", seq: 0, parentId: null, sessionId: "", time: 0, tokens: 0 };
  const one = extractUtterance({ ...place, type: "message", message: { role: "user", content: text } }, "");
  return one
    ? extractByRules([one], { max: previewMax, isChat: true, isWithAssistant: true }).found.map(
        (found) => found.abstract,
      )
    : [];
}

const previewMax = 10;

/** Scores a statement by its category; long sentences score less. */
function scoreStatement(found: Statement): number {
  const brevity = found.content.length <= 200 ? 1 : 200 / found.content.length;
  return categories[found.category].typePrior * brevity + computeRougeL(found.abstract, found.content) * 0.1;
}

function toSentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?。！？]$/.test(first) ? first : `${first}.`;
}
