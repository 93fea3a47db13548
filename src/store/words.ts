/**
 * Text as the full-text indexes take it. Scripts written without spaces are cut into single characters, so that a
 * word of two characters is a phrase of two tokens and is found; characters no index can hold become spaces.
 */
const unspaced =
  /[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9d\u0e00-\u0e7f]|[\u{20000}-\u{3ffff}]/gu;
const hasUnspaced =
  /[\u0e00-\u0e7f\u3040-\u30ff\u31f0-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9d\ud840-\ud8bf]/;

export function indexWords(text: string): string {
  const clean = text.includes("\u0000") ? text.replaceAll("\u0000", " ") : text;
  const whole = clean.isWellFormed() ? clean : clean.toWellFormed();
  return hasUnspaced.test(whole) ? whole.replace(unspaced, " $& ") : whole;
}

/** A query's words, each prepared like the index; a quoted phrase or a run of unspaced script is one word. */
export function queryWords(query: string): string[] {
  const words = query.match(/"[^"]*"|[^\s"]+/g) ?? [];
  return words
    .map((word) => indexWords(word.replaceAll('"', " ")).replace(/\s+/g, " ").trim())
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
}
