import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { Database } from "better-sqlite3";
import type { Clock } from "../../domain/index.ts";
import type { Embedded } from "./port.ts";

/** Changing this number invalidates all existing files. */
const formatVersion = 1;
/** How long to wait for another process; after that the entry is simply not cached. */
const busyMs = 20;
/** The time of use is updated at most this often, so that reads rarely write. */
const usedAgainMs = 3_600_000;
/** The share of entries evicted at once. */
const evictedShare = 0.1;
const checksEveryMax = 512;

interface Row {
  key: Buffer;
  vector: Buffer;
  tokens: Buffer | null;
  cut: number;
  used: number;
}

/**
 * Embeddings by the hash of their input, in a file shared by several processes. Everything in it can be recomputed, so
 * it is not flushed to disk and can be deleted at any time. Any fault of the file is a cache miss.
 */
export class EmbeddingCache {
  readonly #path: string;
  readonly #entriesMax: number;
  readonly #clock: Clock;
  #file: Promise<Database | undefined> | undefined;
  #written = 0;
  #rebuilt = false;
  #notices: string[] = [];

  constructor(path: string, entriesMax: number, clock: Clock) {
    this.#path = path;
    this.#entriesMax = entriesMax;
    this.#clock = clock;
  }

  /** The cached entries, by their index in `keys`. */
  async read(keys: readonly Uint8Array[]): Promise<Map<number, Embedded>> {
    return (await this.#use((file) => this.#readFrom(file, keys))) ?? new Map();
  }

  async write(entries: readonly { key: Uint8Array; made: Embedded }[]): Promise<void> {
    await this.#use((file) => this.#writeTo(file, entries));
  }

  /** Returns the notices since the last call. */
  takeNotices(): string[] {
    return this.#notices.splice(0);
  }

  async close(): Promise<void> {
    const file = await this.#file;
    this.#file = Promise.resolve(undefined);
    file?.close();
  }

  #readFrom(file: Database, keys: readonly Uint8Array[]): Map<number, Embedded> {
    const found = new Map<number, Embedded>();
    const now = this.#clock.now();
    const find = file.prepare<[Uint8Array], Row>("select key, vector, tokens, cut, used from vectors where key = ?");
    const stale: Uint8Array[] = [];
    // One transaction for all keys, because each read alone would take a lock.
    file.transaction(() => {
      for (const [place, key] of keys.entries()) {
        const row = find.get(key);
        if (row === undefined) continue;
        found.set(place, toEmbedded(row));
        if (now - row.used >= usedAgainMs) stale.push(key);
      }
    })();
    if (stale.length > 0) {
      const touch = file.prepare("update vectors set used = ? where key = ?");
      tryWrite(file, () => {
        for (const key of stale) touch.run(now, key);
      });
    }
    return found;
  }

  #writeTo(file: Database, entries: readonly { key: Uint8Array; made: Embedded }[]): void {
    const now = this.#clock.now();
    const put = file.prepare("insert or replace into vectors (key, vector, tokens, cut, used) values (?, ?, ?, ?, ?)");
    const isWritten = tryWrite(file, () => {
      for (const { key, made } of entries) {
        put.run(key, toBuffer(made.vector), made.tokens ? toBuffer(made.tokens) : null, made.cut ? 1 : 0, now);
      }
    });
    if (isWritten) this.#written += entries.length;
    const checksEvery = Math.min(checksEveryMax, Math.max(1, Math.floor(this.#entriesMax * evictedShare)));
    if (this.#written < checksEvery) return;
    this.#written = 0;
    tryWrite(file, () => this.#evict(file));
  }

  #evict(file: Database): void {
    const { count } = file.prepare("select count(*) as count from vectors").get() as { count: number };
    if (count <= this.#entriesMax) return;
    const left = Math.floor(this.#entriesMax * (1 - evictedShare));
    const oldest = "select rowid from vectors order by used, rowid limit ?";
    file.prepare(`delete from vectors where rowid in (${oldest})`).run(count - left);
  }

  /** Uses the file; a broken file is deleted and recreated once. */
  async #use<T>(work: (file: Database) => T): Promise<T | undefined> {
    this.#file ??= this.#open();
    const file = await this.#file;
    if (file === undefined) return undefined;
    try {
      return work(file);
    } catch (error) {
      if (isBusy(error)) return undefined;
      this.#file = this.#rebuild(error, file);
      await this.#file;
      return undefined;
    }
  }

  async #open(): Promise<Database | undefined> {
    const { default: SqliteFile } = await import("better-sqlite3");
    let file: Database | undefined;
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      file = new SqliteFile(this.#path, { timeout: busyMs });
      chmodSync(this.#path, 0o600);
      prepareFile(file);
      return file;
    } catch (error) {
      // Another process may be creating the file: the next use tries again.
      if (isBusy(error)) {
        file?.close();
        this.#file = undefined;
        return undefined;
      }
      return this.#rebuild(error, file);
    }
  }

  async #rebuild(error: unknown, file: Database | undefined): Promise<Database | undefined> {
    const reason = error instanceof Error ? error.message : String(error);
    file?.close();
    if (this.#rebuilt) {
      this.#notices.push(`embeddings are not cached in ${this.#path} (${reason})`);
      return undefined;
    }
    this.#rebuilt = true;
    try {
      for (const suffix of ["", "-wal", "-shm"]) rmSync(`${this.#path}${suffix}`, { force: true });
      this.#notices.push(`the embedding cache ${this.#path} was broken and has been recreated (${reason})`);
    } catch (cause) {
      this.#notices.push(
        `embeddings are not cached in ${this.#path} (${cause instanceof Error ? cause.message : cause})`,
      );
      return undefined;
    }
    return this.#open();
  }
}

function prepareFile(file: Database): void {
  // Several processes read while one writes; everything lost in a crash can be recomputed.
  file.pragma("journal_mode = wal");
  file.pragma("synchronous = off");
  const version = file.pragma("user_version", { simple: true });
  if (version === formatVersion) return;
  if (version !== 0) throw new Error(`its format is ${version}, not ${formatVersion}`);
  file
    .transaction(() => {
      file.exec(`create table if not exists vectors (
        key blob primary key, vector blob not null, tokens blob, cut integer not null, used integer not null)`);
      file.exec("create index if not exists vectors_by_use on vectors (used)");
      file.pragma(`user_version = ${formatVersion}`);
    })
    .immediate();
}

/** Writes in one transaction; false when another process is writing. */
function tryWrite(file: Database, write: () => void): boolean {
  try {
    file.transaction(write).immediate();
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_BUSY");
}

function toBuffer({ buffer, byteOffset, byteLength }: Float32Array | Int8Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}

/** Copied, because the buffer from SQLite may not be aligned. */
function toEmbedded({ vector, tokens, cut }: Row): Embedded {
  return {
    vector: new Float32Array(new Uint8Array(vector).buffer),
    ...(tokens === null ? {} : { tokens: new Int8Array(new Uint8Array(tokens).buffer) }),
    ...(cut ? { cut: true } : {}),
  };
}
