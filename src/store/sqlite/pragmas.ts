import type { Database } from "better-sqlite3";

/** Every pragma in one place, with its reason. */
export function configureWriter(db: Database, cacheMiB: number, busyTimeoutMs: number): void {
  // Waiting for another process's short transaction is normal: it blocks the worker thread, not the event loop.
  db.pragma(`busy_timeout = ${busyTimeoutMs}`);
  // Readers continue while one process writes.
  db.pragma("journal_mode = WAL");
  // An acknowledged write survives power loss: the write-ahead log is flushed at every commit.
  db.pragma("synchronous = FULL");
  db.pragma("foreign_keys = ON");
  // Negative means KiB. Large enough for the upper index levels of a million rows, so that the cost of a write stays
  // flat.
  db.pragma(`cache_size = ${-cacheMiB * 1024}`);
  db.pragma("temp_store = MEMORY");
  // Rarer, larger checkpoints than the default: fewer flushes of the main file during bulk ingest.
  db.pragma("wal_autocheckpoint = 4000");
  // The write-ahead log shrinks again after a burst.
  db.pragma(`journal_size_limit = ${64 * 1024 * 1024}`);
}

export function configureReader(db: Database, cacheMiB: number, busyTimeoutMs: number): void {
  db.pragma(`busy_timeout = ${busyTimeoutMs}`);
  db.pragma("query_only = ON");
  // Smaller than that of the writer: pages of a mapped file are not in it, and the system caches the others.
  db.pragma(`cache_size = ${-Math.ceil(cacheMiB / 4) * 1024}`);
  db.pragma("temp_store = MEMORY");
  // Memory mapping saves a copy from the system's page cache; it uses address space, not memory.
  db.pragma(`mmap_size = ${1024 * 1024 * 1024}`);
}
