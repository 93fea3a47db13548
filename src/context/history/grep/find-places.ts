import type { LineMatch, Place, TextMatch } from "./match-protocol.ts";

export type Find = (text: string) => Place | undefined;

/** The first `max` of the texts that match, in their order. */
export function findTexts(find: Find, texts: readonly string[], max: number): TextMatch[] {
  const matches: TextMatch[] = [];
  for (const [index, text] of texts.entries()) {
    if (matches.length >= max) break;
    const place = find(text);
    if (place) matches.push({ index, ...place });
  }
  return matches;
}

/**
 * The first `max` lines of a text that match, each once. Where no line matches by itself, the whole text is tried: a
 * pattern may span lines, and words may be on different ones.
 */
export function findLines(find: Find, text: string, max: number): LineMatch[] {
  const matches: LineMatch[] = [];
  let line = 1;
  let counted = 0;
  for (let at = 0; at <= text.length && matches.length < max; ) {
    const end = findLineEnd(text, at);
    const place = find(text.slice(at, end));
    if (place) {
      line += countLines(text, counted, at);
      counted = at;
      matches.push({ line, from: at + place.from, to: at + place.to });
    }
    at = end + 1;
  }
  if (matches.length > 0 || max === 0) return matches;
  const place = find(text);
  return place ? [{ line: 1 + countLines(text, 0, place.from), ...place }] : [];
}

function findLineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
}

function countLines(text: string, from: number, to: number): number {
  let lines = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}
