import type { Database, Statement } from "better-sqlite3";

const cacheMax = 500;

/** Caches prepared statements by their text. A plain map is enough: nearly all texts are constants, so little is evicted. */
export class Statements {
  private readonly db: Database;
  private readonly cache = new Map<string, Statement>();

  constructor(db: Database) {
    this.db = db;
  }

  prepare(text: string): Statement {
    const cached = this.cache.get(text);
    if (cached) return cached;
    const statement = this.db.prepare(text);
    if (this.cache.size >= cacheMax) {
      const oldest = this.cache.keys().next().value;
      if (oldest !== undefined) this.cache.delete(oldest);
    }
    this.cache.set(text, statement);
    return statement;
  }

  get(text: string, ...parameters: unknown[]): unknown {
    return this.prepare(text).get(...parameters);
  }

  /** Returns the first column of every row. */
  column(text: string, ...parameters: unknown[]): unknown[] {
    return this.prepare(text)
      .pluck()
      .all(...parameters);
  }

  /** Returns every row as a list of its columns. A text that is used here must not be used by the other methods. */
  rows(text: string, ...parameters: unknown[]): unknown[] {
    return this.prepare(text)
      .raw()
      .all(...parameters);
  }

  run(text: string, ...parameters: unknown[]): void {
    this.prepare(text).run(...parameters);
  }

  /** Runs the work atomically. */
  inTransaction<T>(work: () => T): T {
    this.run("begin immediate");
    try {
      const result = work();
      this.run("commit");
      return result;
    } catch (error) {
      // A full disk or an I/O error already ended the transaction; then there is nothing to roll back.
      if (this.db.inTransaction) this.run("rollback");
      throw error;
    }
  }

  /** Runs any statement: returns its rows, or the number of changed rows when it returns none. */
  execute(text: string, parameters: readonly unknown[]): { rows: unknown[]; changes: number } {
    const statement = this.prepare(text);
    if (statement.reader) return { rows: statement.all(...parameters), changes: 0 };
    return { rows: [], changes: statement.run(...parameters).changes };
  }
}
