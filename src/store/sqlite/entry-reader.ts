import Database from "better-sqlite3";
import type { EntryFileAddress, EntryFilter, EntryReader, FiledEntry } from "../port.ts";
import { toSqliteError } from "./errors.ts";
import { configureReader } from "./pragmas.ts";

/** Each row is read once, so the cache only has to hold the upper levels of the table. */
const cacheMiB = 4;

/** A connection for reading entries by their numbers. It belongs to the thread that opened it. */
export class SqliteEntryReader implements EntryReader {
  readonly #file: string;
  readonly #filter: EntryFilter;
  readonly #db: Database.Database;
  #select: Database.Statement | undefined;

  constructor({ file, busyTimeoutMs }: EntryFileAddress, filter: EntryFilter) {
    this.#file = file;
    this.#filter = filter;
    try {
      this.#db = new Database(file, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
    } catch (error) {
      throw toSqliteError(error, file);
    }
    configureReader(this.#db, cacheMiB, busyTimeoutMs);
  }

  read(seqs: readonly number[]): FiledEntry[] {
    const { agent, kinds, payloadBytesMax } = this.#filter;
    try {
      this.#select ??= this.#db.prepare(selectEntries(kinds.length)).raw();
      return this.#select.all(payloadBytesMax, JSON.stringify(seqs), agent, ...kinds) as FiledEntry[];
    } catch (error) {
      throw toSqliteError(error, this.#file);
    }
  }

  close(): void {
    this.#db.close();
  }
}

/**
 * The join keeps the order of the numbers and finds each row by its number; the unary plus excludes other indexes. Kinds
 * are compared one by one, because `in` would build an index of them for each statement.
 */
function selectEntries(kindCount: number): string {
  const isOfKind = Array.from({ length: kindCount }, () => "kind = ?").join(" or ");
  return `select seq, conversation, time, kind, iif(octet_length(payload) > ?, null, payload)
    from json_each(?) as wanted cross join entries on seq = wanted.value
    where +agent = ? and (${isOfKind})`;
}
