import { detectLanguage, detectLanguages } from "../../text/index.ts";
import { mayConflict, saysItChanged } from "./changes.ts";
import { areSameTexts, listSentences } from "./same-fact.ts";
import { parseSlots, type SlotFill } from "./slots.ts";
import { prepareWordSets, type WordSets } from "./word-sets.ts";

/**
 * How a new text relates to a known one. `same`: they say the same. `update`: the new one takes the place of the known
 * one. `conflict`: both are kept, and one of them may be wrong. `different`: they have nothing to do with each other.
 */
export type FactRelation = "same" | "update" | "conflict" | "different";

export interface FactComparison {
  relation: FactRelation;
  reason: string;
}

export interface CompareOptions {
  /** Further attributes that have one value at a time, from the settings. */
  singleValued?: readonly string[];
}

const textCharsMax = 4_000;
const sentencesMax = 20;
/** A text that fits more languages fits none of them well. */
const languagesMax = 3;

/** Compares two facts by their words alone. Only what the new text speaks about can be replaced. */
export function compareFacts(newer: string, older: string, options: CompareOptions = {}): FactComparison {
  if (normalise(newer) === normalise(older)) return { relation: "same", reason: "repetition" };
  if (newer.length > textCharsMax || older.length > textCharsMax) return different;
  const [later, earlier] = [listSentences(newer), listSentences(older)];
  if (later.length > sentencesMax || earlier.length > sentencesMax) return different;
  const compared = detectLanguages(`${newer}\n${older}`)
    .slice(0, languagesMax)
    .map((one) => compareSentences(later, earlier, prepareWordSets(one), options));
  return relations.flatMap((relation) => compared.find((one) => one.relation === relation) ?? [])[0] ?? different;
}

/** In the order in which the findings of several languages count. */
const relations: readonly FactRelation[] = ["same", "update", "conflict"];

function compareSentences(
  later: readonly string[],
  earlier: readonly string[],
  sets: WordSets,
  options: CompareOptions,
): FactComparison {
  if (areSameTexts(later, earlier, sets)) return { relation: "same", reason: "repetition" };
  const bySlot = compareSlots(later, earlier, sets, options.singleValued);
  if (bySlot) return bySlot;
  const [only] = earlier;
  if (only !== undefined && earlier.length === 1 && later.some((one) => saysItChanged(one, only, sets))) {
    return { relation: "update", reason: "the text says that it changed" };
  }
  const isOpen = later.some((one) => earlier.some((other) => mayConflict(one, other, sets)));
  return isOpen ? { relation: "conflict", reason: "perhaps in conflict" } : different;
}

const different: FactComparison = { relation: "different", reason: "no similar memory exists" };

function normalise(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/\s+/g, " ")
    .replace(/(?<![.!。！\s])[.!。！\s]+$/u, "")
    .trim();
}

function compareSlots(
  later: readonly string[],
  earlier: readonly string[],
  sets: WordSets,
  extra: readonly string[] = [],
): FactComparison | undefined {
  const filled = earlier.flatMap((one) => parseSlots(one, sets, extra));
  if (filled.length === 0) return undefined;
  for (const sentence of later) {
    for (const clause of listClauses(sentence, sets)) {
      for (const fill of parseSlots(clause, sets, extra)) {
        const known = filled.find((one) => one.key === fill.key);
        if (!known) continue;
        const isAlone = earlier.length === 1 && isHarmless(known, sets);
        return compareValues(
          fill,
          known,
          { sentence, isAlone, isWhole: later.length === 1 && clause === sentence },
          sets,
        );
      }
    }
  }
  return undefined;
}

function compareValues(
  fill: SlotFill,
  known: SlotFill,
  { sentence, isAlone, isWhole }: { sentence: string; isAlone: boolean; isWhole: boolean },
  sets: WordSets,
): FactComparison {
  if (fill.value === known.value) {
    const isSame = isWhole && isAlone && fill.remark === known.remark;
    return isSame ? { relation: "same", reason: "repetition" } : different;
  }
  if (sets.also.test(sentence)) return different;
  if (isAlone && isHarmless(fill, sets)) return { relation: "update", reason: "new value of the same fact" };
  return { relation: "conflict", reason: "perhaps in conflict" };
}

/** A remark that only says since when, or names the region of a place, is no fact of its own. */
function isHarmless({ remark }: SlotFill, sets: WordSets): boolean {
  if (remark === "") return true;
  if (/^, \p{Lu}[\p{L}-]+$/u.test(remark)) return true;
  return new RegExp(`^(?:${sets.lexicon.since})`, "iu").test(remark);
}

/**
 * A sentence and its clauses: "I moved to Antwerp and work at Bolt" fills two slots. A later clause may leave out the
 * speaker.
 */
function listClauses(sentence: string, { lexicon, self }: WordSets): string[] {
  const clauses = sentence.split(lexicon.unspaced ? /[，、；]/u : /[;,]\s+|(?<!\s)\s+(?:and|und|et|y|e|и)\s+/iu);
  if (clauses.length === 1) return [sentence];
  const subject = /^\p{L}+(?=\s)/u.exec(sentence)?.[0] ?? "";
  const withSubject = self.has(subject.toLowerCase()) ? clauses.slice(1).map((one) => `${subject} ${one}`) : [];
  return [sentence, ...clauses, ...withSubject];
}

/** The key of the slot that a text fills, if it fills one and says nothing else; else the key with a `+`. */
export function findSlotKey(text: string, options: CompareOptions = {}): string | undefined {
  if (text.length > textCharsMax) return undefined;
  const sets = prepareWordSets(detectLanguage(text));
  const sentences = listSentences(text);
  if (sentences.length > sentencesMax) return undefined;
  for (const sentence of sentences) {
    const [fill] = parseSlots(sentence, sets, options.singleValued);
    if (!fill) continue;
    return sentences.length === 1 && isHarmless(fill, sets) && !sets.also.test(text) ? fill.key : `${fill.key}+`;
  }
  return undefined;
}

/** Whether a text says that something changed: then memories without its words may be the ones it is about. */
export function speaksOfChange(text: string): boolean {
  const sample = text.slice(0, textCharsMax);
  const sets = prepareWordSets(detectLanguage(sample));
  return sets.changed.test(sample) || sets.ended.test(sample);
}
