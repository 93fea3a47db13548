import type { Database } from "better-sqlite3";

/** Every pragma, in one place, with its reason. */
export function configureWriter(db: Database, cacheMiB: number, busyTimeoutMs: number): void {
  // Waiting for another process's short transaction is normal; the worker thread may sleep, the event loop does not.
  db.pragma(`busy_timeout = ${busyTimeoutMs}`);
  // Readers go on while one process writes.
  db.pragma("journal_mode = WAL");
  // An acknowledged write survives power loss: the log is flushed at every commit.
  db.pragma("synchronous = FULL");
  db.pragma("foreign_keys = ON");
  // Negative means KiB. The upper levels of the indexes of a million rows fit, so that cost stays flat.
  db.pragma(`cache_size = ${-cacheMiB * 1024}`);
  db.pragma("temp_store = MEMORY");
  // Checkpoints are rarer and larger than the default: fewer flushes of the main file during bulk ingest.
  db.pragma("wal_autocheckpoint = 4000");
  // After a burst the log file shrinks again.
  db.pragma(`journal_size_limit = ${64 * 1024 * 1024}`);
}

export function configureReader(db: Database, cacheMiB: number, busyTimeoutMs: number): void {
  db.pragma(`busy_timeout = ${busyTimeoutMs}`);
  db.pragma("query_only = ON");
  db.pragma(`cache_size = ${-cacheMiB * 1024}`);
  db.pragma("temp_store = MEMORY");
  // Reading through the page cache of the system saves a copy; the map is address space, not memory.
  db.pragma(`mmap_size = ${1024 * 1024 * 1024}`);
}
