import Database from "better-sqlite3";
import type { EntryFileAddress, EntryFilter, EntryReader, FiledEntry } from "../port.ts";
import { toSqliteError } from "./errors.ts";
import { configureReader } from "./pragmas.ts";

/** Each row is read once, so the cache only has to hold the upper levels of the table. */
const cacheMiB = 4;

/** The join keeps the order of the numbers and finds each row by its number; the unary plus excludes other indexes. */
const selectEntries = `
  select seq, conversation, time, kind, iif(octet_length(payload) > ?, null, payload)
  from json_each(?) as wanted cross join entries on seq = wanted.value
  where +agent = ? and kind in (select value from json_each(?))`;

/** A connection for reading entries by their numbers. It belongs to the thread that opened it. */
export class SqliteEntryReader implements EntryReader {
  readonly #file: string;
  readonly #filter: EntryFilter;
  readonly #kinds: string;
  readonly #db: Database.Database;
  #select: Database.Statement | undefined;

  constructor({ file, busyTimeoutMs }: EntryFileAddress, filter: EntryFilter) {
    this.#file = file;
    this.#filter = filter;
    this.#kinds = JSON.stringify(filter.kinds);
    try {
      this.#db = new Database(file, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
    } catch (error) {
      throw toSqliteError(error, file);
    }
    configureReader(this.#db, cacheMiB, busyTimeoutMs);
  }

  read(seqs: readonly number[]): FiledEntry[] {
    const { agent, payloadBytesMax } = this.#filter;
    try {
      this.#select ??= this.#db.prepare(selectEntries).raw();
      return this.#select.all(payloadBytesMax, JSON.stringify(seqs), agent, this.#kinds) as FiledEntry[];
    } catch (error) {
      throw toSqliteError(error, this.#file);
    }
  }

  close(): void {
    this.#db.close();
  }
}
