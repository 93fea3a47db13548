import { alternate, monthNames, numberNames } from "./dates/calendar-names.ts";

/** A range of characters in a text. */
export interface Span {
  start: number;
  end: number;
}

/** Before a full stop that belongs to the word: titles, short forms, initials. They never end a sentence. */
const shortForms =
  /(?:^|[\s(„"«])(?:\p{L}|\p{L}\.\p{L}|mr|mrs|ms|dr|st|vs|no|approx|cf|prof|inc|nr|bzw|ca|str|hr|fr|frl|evtl|ggf|inkl|mme|mlle|av|sr|sra|srta|ud|uds|dott|sig|avv|pág|núm|ул|стр|тел|см|им)$/iu;
/** Short forms that may also stand at the end of a sentence: what follows decides. */
const openForms =
  /(?:^|[\s(])(?:etc|usw|u\.s\.w|и т\.д|г|гг|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|okt|dez)$/iu;
const ordinal = /(?:^|[\s(])\d{1,3}$/;
/** Words of languages that write ordinals with a full stop, after which a number is one: "am 3. Tag". */
const beforeOrdinal =
  /(?:^|\s)(?:am|der|die|das|dem|den|des|vom|zum|zur|im|bis|ab|seit|jeder|jeden|den|d\.)\s+\d{1,3}$/iu;
const monthAhead = new RegExp(`^\\s+(?:${alternate(numberNames(Object.values(monthNames)).keys())})(?![\\p{L}])`, "iu");
const lowerAhead = /^\s+\p{Ll}/u;
const wordAhead = /^\s+[\p{L}\p{N}]/u;
const lookBehind = 24;
const lookAhead = 24;

/** Whether the character at a place of a text ends a sentence that began at `start`. */
export function isSentenceEnd(text: string, index: number, start = 0): boolean {
  const character = text[index] ?? "";
  if ("。！？".includes(character)) return true;
  if (!".!?؟।".includes(character) || character === "") return false;
  const next = text[index + 1];
  if (next !== undefined && !/\s/.test(next)) return false;
  if (character !== ".") return true;
  const before = text.slice(Math.max(start, index - lookBehind), index);
  const after = text.slice(index + 1, index + 1 + lookAhead);
  if (ordinal.test(before) && isOrdinal(before, after)) return false;
  if (shortForms.test(before)) return false;
  return !openForms.test(before) || !(lowerAhead.test(after) || /^\s+\d/.test(after));
}

/** "3. Oktober", "3. října", "am 3. Tag": a number before a full stop is the end of a sentence otherwise. */
function isOrdinal(before: string, after: string): boolean {
  if (monthAhead.test(after) || lowerAhead.test(after)) return true;
  return beforeOrdinal.test(before) && wordAhead.test(after);
}

/** The sentences in a range of a text, without the blanks around them. A line break ends a sentence. */
export function findSentences(text: string, { start, end }: Span): Span[] {
  const found: Span[] = [];
  let from = start;
  for (let index = start; index < end; index += 1) {
    const isBreak = text[index] === "\n";
    if (!isBreak && !isSentenceEnd(text, index, from)) continue;
    found.push({ start: from, end: isBreak ? index : index + 1 });
    from = index + 1;
  }
  found.push({ start: from, end });
  return found.flatMap((span) => trimSpan(text, span));
}

function trimSpan(text: string, { start, end }: Span): Span[] {
  const piece = text.slice(start, end);
  const from = start + (piece.length - piece.trimStart().length);
  const to = end - (piece.length - piece.trimEnd().length);
  return to > from && /[\p{L}\p{N}]/u.test(text.slice(from, to)) ? [{ start: from, end: to }] : [];
}
