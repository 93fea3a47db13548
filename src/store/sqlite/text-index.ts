import type { Statements } from "./statements.ts";

/** Writes the words of some entries; part of a rebuild, in a transaction of its own. */
export function rebuildTextChunk(statements: Statements, rows: { seq: number; words: string }[]): void {
  statements.run("begin immediate");
  try {
    for (const row of rows) {
      if (row.words !== "")
        statements.run("insert or replace into entry_text (rowid, words) values (?, ?)", row.seq, row.words);
    }
    statements.run("commit");
  } catch (error) {
    statements.run("rollback");
    throw error;
  }
}

/** Words as an FTS5 query: each quoted, so that no word is ever read as syntax. */
export function matchExpression(words: string[], any = false): string {
  return words.map((word) => `"${word.replaceAll('"', '""')}"`).join(any ? " OR " : " ");
}
