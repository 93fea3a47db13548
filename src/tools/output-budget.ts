import { onOneLine, quote } from "./quote.ts";

/** The most characters of an answer, for its text and for its values alike. */
export const charactersMax = 40_000;
/** Reserved for headings and for the list of cuts. */
const reserve = 4_000;
/** The most characters of one text, so that it leaves some for the others. */
export const textMax = 30_000;

/** A part of an answer, as text and as a structured value. */
export interface Block<T> {
  words: string;
  value: T;
  /** A note about the truncated part. */
  cut?: string;
}

/** As many blocks as the budget allows, in order, and the rest. */
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

/** The start of a text that fits both quoted and as a value; tells where it was cut. */
export function clip(text: string, charactersAsked = textMax): { text: string; cut?: { shown: number; of: number } } {
  let end = Math.min(text.length, charactersAsked, textMax);
  for (let cost = measure(text, end); cost > textMax; cost = measure(text, end)) {
    end = Math.min(end - 1, Math.floor((end * textMax) / cost));
  }
  if (end === text.length) return { text };
  return { text: text.slice(0, end).toWellFormed(), cut: { shown: end, of: text.length } };
}

function measure(text: string, end: number): number {
  const piece = text.slice(0, end);
  return Math.max(quote(piece).length, JSON.stringify(piece).length);
}

const cutsMax = 10;
const cutCharactersMax = 300;

/** The list of cuts, each on one line and short enough for the reserved characters. */
export function sayCuts(cuts: readonly string[]): string[] {
  const lines = cuts.map((cut) => onOneLine(cut, cutCharactersMax));
  const more = lines.length - cutsMax;
  return more > 0 ? [...lines.slice(0, cutsMax), `${more} further cuts are not listed`] : lines;
}

/** The whole answer: a heading, the notice, the blocks, and a line for everything that was cut. */
export function page(heading: string, lines: readonly string[], cuts: readonly string[]): string {
  const cutLines = cuts.map((cut) => `**Cut:** ${cut}.`);
  return [`# ${heading}`, ...lines, ...cutLines].join("\n\n");
}
