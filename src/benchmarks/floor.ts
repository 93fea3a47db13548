import Database from "better-sqlite3";
import type { Message } from "../index.ts";

/**
 * The floor: a bare loop over better-sqlite3 that writes the same bytes to one table and one full-text table, with the
 * same durability. No store with a full-text index can be much faster.
 */
export class Floor {
  private readonly db: Database.Database;
  private readonly insert: Database.Statement;
  private readonly index: Database.Statement;

  constructor(file: string) {
    this.db = new Database(file);
    this.db.pragma("journal_mode = WAL");
    this.db.pragma("synchronous = FULL");
    this.db.exec("create table messages (id integer primary key, body text not null)");
    this.db.exec(
      "create virtual table words using fts5(body, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2')",
    );
    this.insert = this.db.prepare("insert into messages (body) values (?)");
    this.index = this.db.prepare("insert into words (rowid, body) values (?, ?)");
  }

  write(batch: { message: Message; text: string }[]): void {
    this.db.exec("begin immediate");
    for (const { message, text } of batch) {
      const { lastInsertRowid } = this.insert.run(JSON.stringify(message));
      this.index.run(lastInsertRowid, text);
    }
    this.db.exec("commit");
  }

  close(): void {
    this.db.close();
  }
}
