import type { Statements } from "./statements.ts";

/** Writes the words of some entries; part of a rebuild, in a transaction of its own. */
export function rebuildTextChunk(statements: Statements, rows: { seq: number; words: string }[]): void {
  const insert = "insert or replace into entry_text (rowid, words) values (?, ?)";
  statements.inTransaction(() => {
    for (const row of rows) if (row.words !== "") statements.run(insert, row.seq, row.words);
  });
}
