import Database from "better-sqlite3";
import type { Conversation } from "./datasets.ts";

/** The simplest baseline: the turns in one FTS5 table, queried with all words of the question joined by OR. */
export class PlainBm25 {
  private readonly db = new Database(":memory:");
  private readonly ids: string[] = [];

  constructor(conversation: Conversation) {
    this.db.exec(`create virtual table turns using fts5(text, tokenize="porter unicode61")`);
    const insert = this.db.prepare("insert into turns (rowid, text) values (?, ?)");
    for (const [index, turn] of conversation.turns.entries()) {
      this.ids.push(turn.id);
      insert.run(index, turn.text);
    }
  }

  find(question: string, limit: number): string[] {
    const words = question.match(/[\p{L}\p{N}]+/gu) ?? [];
    if (words.length === 0) return [];
    const expression = words.map((word) => `"${word}"`).join(" OR ");
    const rows = this.db
      .prepare("select rowid from turns where turns match ? order by rank limit ?")
      .all(expression, limit) as { rowid: number }[];
    return rows.flatMap((row) => this.ids[row.rowid] ?? []);
  }

  close(): void {
    this.db.close();
  }
}
