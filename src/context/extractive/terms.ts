import { estimateTokens } from "../../tokens/index.ts";
import { expandPrefix } from "../summary-lines.ts";
import type { Candidate } from "./candidates.ts";
import { cues, getCues } from "./lexicon.ts";
import { scanWords } from "./words.ts";

const candidatesMax = 400;
const termsMax = 16;
/** Names of one to three words, identifiers, runs of ideographs, and long words. */
const term =
  /(?:\p{Lu}[\p{L}\p{N}]{1,30}(?: \p{Lu}[\p{L}\p{N}]{1,30}){0,2})|(?<![\w-])(?=\d{0,20}[A-Za-z_])[\w-]{0,40}[_\d][\w-]{0,20}|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{2,6}|\p{L}{6,30}/gu;

/** The last line: what a reader would have to open the sources for, by the words that were left out. */
export function expandLine(
  dropped: readonly Candidate[],
  given: readonly string[],
  body: string,
  budget: number,
): string {
  const said = body.toLowerCase();
  const found = new Map<string, { term: string; score: number }>();
  const note = (text: string, score: number) => {
    const key = text.toLowerCase();
    if (text.length < 2 || said.includes(key) || isCommon(text)) return;
    const known = found.get(key);
    if (known === undefined) found.set(key, { term: text, score });
    else known.score += score;
  };
  for (const text of given)
    note(
      text
        .replace(/\p{Cc}+/gu, " ")
        .trim()
        .slice(0, 60),
      1,
    );
  const best = dropped.toSorted((a, b) => b.score - a.score || a.order - b.order).slice(0, candidatesMax);
  for (const { text, score } of best) {
    for (const match of text.matchAll(term)) {
      const isName = match.index > 0 && /^[\p{Lu}_]|[_\d]/u.test(match[0]);
      note(match[0], score * (isName ? 1 : 0.2));
    }
  }
  const terms: string[] = [];
  let tokens = estimateTokens(expandPrefix);
  for (const { term } of [...found.values()].sort((a, b) => b.score - a.score || (a.term < b.term ? -1 : 1))) {
    tokens += estimateTokens(`, ${term}`);
    if (tokens > budget || terms.length >= termsMax) break;
    terms.push(term);
  }
  return expandPrefix + (terms.length === 0 ? "the exact wording" : terms.join(", "));
}

function isCommon(text: string): boolean {
  let isCommon = true;
  scanWords(text, (slot) => {
    if ((getCues(slot) & (cues.stop | cues.filler | cues.date)) === 0) isCommon = false;
  });
  return isCommon;
}
