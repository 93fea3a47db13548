const snippetCharacters = 200;

/** The text around a match on one line, at most 200 characters. */
export function snippetAround(text: string, from: number, to: number): string {
  const length = Math.min(to - from, snippetCharacters - 2);
  const beside = Math.floor((snippetCharacters - 2 - length) / 2);
  const start = Math.max(0, from - beside);
  const end = Math.min(text.length, start + snippetCharacters - 2);
  const piece = text.slice(start, end).toWellFormed().replaceAll(/\s+/g, " ");
  return `${start > 0 ? "…" : ""}${piece}${end < text.length ? "…" : ""}`.slice(0, snippetCharacters);
}

/** The first place of any of some words, without regard to case; the beginning when none is there as it is. */
export function placeOfWords(text: string, words: readonly string[]): { from: number; to: number } {
  const lower = text.toLowerCase();
  let best: { from: number; to: number } | undefined;
  for (const word of words) {
    const from = lower.indexOf(word.toLowerCase());
    if (from !== -1 && (best === undefined || from < best.from)) best = { from, to: from + word.length };
  }
  return best ?? { from: 0, to: 0 };
}
