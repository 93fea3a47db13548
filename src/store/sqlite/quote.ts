/** Quotes a word for FTS5. A file of its own, so that the store's threads do not load the query builder. */
export function quote(word: string): string {
  return `"${word.replaceAll('"', '""')}"`;
}
