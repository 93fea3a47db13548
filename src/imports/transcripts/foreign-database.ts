import Database from "better-sqlite3";
import { VarveError } from "../../domain/index.ts";

/** A statement on another program's database, as far as imports use it. */
export interface ForeignStatement<Parameters extends unknown[], Row> {
  all(...parameters: Parameters): Row[];
  get(...parameters: Parameters): Row | undefined;
  iterate(...parameters: Parameters): IterableIterator<Row>;
}

/** Another program's SQLite database, only read. What SQLite cannot read of it is an error that names the file. */
export class ForeignDatabase {
  readonly #file: string;
  readonly #db: Database.Database;

  constructor(file: string) {
    this.#file = file;
    this.#db = this.#attempt(() => new Database(file, { readonly: true, fileMustExist: true }));
  }

  /** `texts` names the columns that must be texts: SQLite does not check it, and a damaged row may hold anything. */
  prepare<Parameters extends unknown[], Row>(
    sql: string,
    texts: readonly (keyof Row & string)[] = [],
  ): ForeignStatement<Parameters, Row> {
    const statement = this.#attempt(() => this.#db.prepare<unknown[], Row>(sql));
    const check = <Given extends Row | undefined>(row: Given): Given => {
      const wrong = row === undefined || row === null ? undefined : texts.find((name) => typeof row[name] !== "string");
      if (wrong !== undefined) throw new Error(`a row has no text in the column ${wrong}`);
      return row;
    };
    return {
      all: (...parameters) => this.#attempt(() => statement.all(...parameters).map(check)),
      get: (...parameters) => this.#attempt(() => check(statement.get(...parameters))),
      iterate: (...parameters) => this.#iterate(() => statement.iterate(...parameters), check),
    };
  }

  close(): void {
    this.#db.close();
  }

  *#iterate<Row>(start: () => IterableIterator<Row>, check: (row: Row) => Row): IterableIterator<Row> {
    const rows = this.#attempt(start);
    try {
      for (let next = this.#attempt(() => rows.next()); !next.done; next = this.#attempt(() => rows.next())) {
        const { value } = next;
        yield this.#attempt(() => check(value));
      }
    } finally {
      rows.return?.();
    }
  }

  #attempt<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw new VarveError("BAD_FILE", `${this.#file} cannot be read: ${describe(error)}.`, {
        remedy:
          "Check that the file and its folder can be read; a database in use needs its -wal and -shm files next to it. " +
          "A damaged one can often be saved with `sqlite3 FILE .recover`.",
        cause: error,
      });
    }
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
