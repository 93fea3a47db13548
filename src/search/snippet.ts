import { stem } from "./text/stem.ts";
import { fold } from "./text/words.ts";

const snippetLength = 240;
/** The snippet is chosen from the first characters of a text only, to bound the work. */
const scannedCharacters = 20_000;
const word = /[\p{L}\p{N}]+/gu;

/** The part of a text that contains the most different terms, on one line. */
export function makeSnippet(text: string, terms: ReadonlySet<string>): string {
  const flat = text
    .slice(0, 2 * scannedCharacters)
    .replace(/\s+/g, " ")
    .trim();
  if (flat.length <= snippetLength) return text.length > 2 * scannedCharacters ? `${flat} …` : flat;
  const start = Math.min(findBestStart(flat.slice(0, scannedCharacters), terms), flat.length - snippetLength);
  return cutAtWords(flat, Math.max(0, start), text.length > 2 * scannedCharacters);
}

/** The start of the window with the most different terms, a little before the first of them. */
function findBestStart(flat: string, terms: ReadonlySet<string>): number {
  const beginnings = new Set([...terms].map((term) => term.slice(0, 2)));
  const hits: { at: number; term: string }[] = [];
  const folded = fold(flat);
  for (const match of folded.matchAll(word)) {
    if (!beginnings.has(match[0].slice(0, 2))) continue;
    const term = stem(match[0]);
    if (terms.has(term)) hits.push({ at: match.index, term });
  }
  let best = { start: 0, different: 0 };
  for (const [index, first] of hits.entries()) {
    const inside = new Set<string>();
    for (let next = index; next < hits.length; next += 1) {
      const hit = hits[next];
      if (!hit || hit.at > first.at + snippetLength - 40) break;
      inside.add(hit.term);
    }
    if (inside.size > best.different) best = { start: first.at - 40, different: inside.size };
  }
  return best.start;
}

function cutAtWords(text: string, start: number, more: boolean): string {
  const end = start + snippetLength;
  const from = start === 0 ? 0 : text.indexOf(" ", start) + 1 || start;
  const space = end >= text.length ? text.length : text.lastIndexOf(" ", end);
  const to = space > from ? space : end;
  return `${from > 0 ? "… " : ""}${text.slice(from, to).toWellFormed()}${to < text.length || more ? " …" : ""}`;
}
