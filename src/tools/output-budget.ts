import { onOneLine, quote } from "./quote.ts";

/** What an answer may hold, as words and as values alike. */
export const charactersMax = 40_000;
/** Kept free for headings and for saying what was cut. */
const reserve = 4_000;
/** One text may not take all of the room from the others. */
export const textMax = 30_000;

/** A piece of an answer, as words and as a value. */
export interface Block<T> {
  words: string;
  value: T;
  /** What of it was cut, in words. */
  cut?: string;
}

/** As many blocks as there is room for, in order; how many are left over. */
export function fitting<T>(
  blocks: readonly Block<T>[],
  room = charactersMax - reserve,
): { kept: Block<T>[]; rest: Block<T>[] } {
  let words = 0;
  let values = 0;
  for (const [index, block] of blocks.entries()) {
    words += block.words.length + 2;
    values += JSON.stringify(block.value).length + 1;
    if (words > room || values > room) return { kept: blocks.slice(0, index), rest: blocks.slice(index) };
  }
  return { kept: [...blocks], rest: [] };
}

/** The beginning of a text that has room both quoted and as a value; says where it was cut. */
export function clip(text: string, charactersAsked = textMax): { text: string; cut?: { shown: number; of: number } } {
  let end = Math.min(text.length, charactersAsked, textMax);
  for (let cost = costOf(text, end); cost > textMax; cost = costOf(text, end)) {
    end = Math.min(end - 1, Math.floor((end * textMax) / cost));
  }
  if (end === text.length) return { text };
  return { text: text.slice(0, end).toWellFormed(), cut: { shown: end, of: text.length } };
}

function costOf(text: string, end: number): number {
  const piece = text.slice(0, end);
  return Math.max(quote(piece).length, JSON.stringify(piece).length);
}

const cutsMax = 10;
const cutCharactersMax = 300;

/** What was cut, each on one line and short enough to stand in the room kept for it. */
export function sayCuts(cuts: readonly string[]): string[] {
  const lines = cuts.map((cut) => onOneLine(cut, cutCharactersMax));
  const more = lines.length - cutsMax;
  return more > 0 ? [...lines.slice(0, cutsMax), `${more} further cuts are not listed`] : lines;
}

/** The whole answer: a heading, the notice, the pieces, and a line for everything that was cut. */
export function page(heading: string, lines: readonly string[], cuts: readonly string[]): string {
  const said = cuts.map((cut) => `**Cut:** ${cut}.`);
  return [`# ${heading}`, ...lines, ...said].join("\n\n");
}
