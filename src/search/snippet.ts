import { termsOf } from "./text/words.ts";

const snippetLength = 240;
const step = 40;

/** The part of a text that holds most of what was asked for. */
export function snippetOf(text: string, terms: ReadonlySet<string>): string {
  const flat = text.replace(/\s+/g, " ").trim();
  if (flat.length <= snippetLength) return flat;
  let best = { start: 0, hits: -1 };
  const last = Math.min(flat.length - snippetLength, 20_000);
  for (let start = 0; start <= last + step - 1; start += step) {
    const from = Math.min(start, last);
    const hits = new Set(termsOf(flat.slice(from, from + snippetLength)).filter((term) => terms.has(term))).size;
    if (hits > best.hits) best = { start: from, hits };
    if (hits === terms.size) break;
  }
  return cutAtWords(flat, best.start, best.start + snippetLength);
}

function cutAtWords(text: string, start: number, end: number): string {
  const from = start === 0 ? 0 : text.indexOf(" ", start) + 1 || start;
  const space = end >= text.length ? text.length : text.lastIndexOf(" ", end);
  const to = space > from ? space : end;
  return `${from > 0 ? "… " : ""}${text.slice(from, to).toWellFormed()}${to < text.length ? " …" : ""}`;
}
