import type { Span } from "../../text/index.ts";

/**
 * Conjunctions before a clause with a subject of its own: "I live in Ghent and my sister lives in Lille" states two
 * facts, "I like tea and coffee" one.
 */
const conjunctions =
  /(?:,\s*|(?<!\s)\s+)(?:and|but)\s+(?=(?:i|i['’]m|i['’]ve|my|we|our)\s)|(?:,\s*|(?<!\s)\s+)(?:und|aber)\s+(?=(?:ich|mein|meine|wir|unser|unsere)\s)|(?:,\s*|(?<!\s)\s+)(?:et|mais)\s+(?=(?:je|mon|ma|nous|notre)\s|j['’])|(?:,\s*|(?<!\s)\s+)(?:y|pero)\s+(?=(?:yo|mi|me|vivo|trabajo|tengo)\s)|(?:,\s*|(?<!\s)\s+)(?:e|ma)\s+(?=(?:io|mi|il mio|la mia|abito|lavoro)\s)|(?:,\s*|(?<!\s)\s+)(?:e|mas)\s+(?=(?:eu|meu|minha|moro|trabalho)\s)|(?:,\s*|(?<!\s)\s+)(?:и|но|а)\s+(?=(?:я|мой|моя|мы|наш)\s)|[，；](?=我)/giu;

const wordsLeast = 3;
/** A longer sentence is no list of facts, and the pattern takes quadratic time on long runs of spaces. */
const sentenceCharsMax = 600;

/** The clauses of a sentence that stand alone, as ranges of the same text; the sentence itself when there is only one. */
export function splitClauses(text: string, { start, end }: Span): Span[] {
  const sentence = text.slice(start, end);
  if (sentence.length > sentenceCharsMax) return [{ start, end }];
  const clauses: Span[] = [];
  let from = 0;
  for (const match of sentence.matchAll(conjunctions)) {
    clauses.push({ start: start + from, end: start + match.index });
    from = match.index + match[0].length;
  }
  clauses.push({ start: start + from, end });
  return clauses.every((clause) => standsAlone(text.slice(clause.start, clause.end))) ? clauses : [{ start, end }];
}

function standsAlone(clause: string): boolean {
  if (/\p{Script=Han}/u.test(clause)) return clause.length >= wordsLeast;
  return clause.trim().split(/\s+/u).length >= wordsLeast;
}
