import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import Database from "better-sqlite3";
import type { MemoryTextMatch } from "../port.ts";
import { appendInTransaction } from "./append.ts";
import { insertMemory, NearDuplicateFinder } from "./memory-worker.ts";
import { configureReader, configureWriter } from "./pragmas.ts";
import { Statements } from "./statements.ts";
import { beginWithoutSync, type WorkerData, type WorkerReply, type WorkerRequest } from "./worker-protocol.ts";

/**
 * The worker thread that owns one SQLite connection. It processes requests in order, so that the event loop of the
 * program never waits for a disk.
 */

if (!parentPort) throw new Error("this file must run as a worker thread");
const port: MessagePort = parentPort;
const settings = workerData as WorkerData;

const db = new Database(settings.file, {
  readonly: settings.mode === "reader",
  fileMustExist: settings.mode === "reader",
  timeout: settings.busyTimeoutMs,
});
if (settings.mode === "writer") configureWriter(db, settings.cacheMiB, settings.busyTimeoutMs);
else configureReader(db, settings.cacheMiB, settings.busyTimeoutMs);
const statements = new Statements(db);
const nearDuplicates = new NearDuplicateFinder(statements);

/** The durability of the next transactions; SQLite cannot change it inside one. */
let isSynced = true;
function setSync(sync: boolean): void {
  if (sync === isSynced || settings.mode === "reader" || db.inTransaction) return;
  db.pragma(`synchronous = ${sync ? "FULL" : "NORMAL"}`);
  isSynced = sync;
}

function write<T>(work: () => T, ownTransaction: boolean, sync = true): T {
  if (!ownTransaction) return work();
  setSync(sync);
  return statements.inTransaction(work);
}

function execute(text: string, parameters: readonly unknown[]): unknown {
  // A full disk or an I/O error already ended the transaction; then there is nothing to roll back.
  if (text === "rollback" && !db.inTransaction) return { rows: [], changes: 0 };
  setSync(text !== beginWithoutSync);
  return statements.execute(text === beginWithoutSync ? "begin immediate" : text, parameters);
}

type Write = Extract<WorkerRequest, { op: "append" | "insertMemory" | "writeAll" }>;

/** Whether the request is a complete transaction of its own. */
function isOwnTransaction(request: WorkerRequest): request is Write {
  if (request.op === "writeAll") return true;
  return (request.op === "append" || request.op === "insertMemory") && request.ownTransaction;
}

function needsSync(request: Write): boolean {
  if (request.op === "writeAll") return request.sync;
  return request.op === "insertMemory" || request.batch.sync !== false;
}

function run(request: Write): unknown {
  switch (request.op) {
    case "append":
      return appendInTransaction(statements, request.batch);
    case "insertMemory":
      return insertUnlessDuplicate(request);
    case "writeAll":
      return request.statements.map(({ sql, parameters }) => statements.execute(sql, parameters));
  }
}

/** Checks inside the write transaction, so that of two concurrent near-duplicates the second finds the first. */
function insertUnlessDuplicate({ memory, unless }: Extract<Write, { op: "insertMemory" }>): MemoryTextMatch[] {
  const like = unless ? nearDuplicates.find(unless) : [];
  if (like.length === 0) insertMemory(statements, memory);
  return like;
}

async function handle(request: WorkerRequest): Promise<unknown> {
  switch (request.op) {
    case "execute":
      return execute(request.sql, request.parameters);
    case "executeAll":
      return request.statements.map(({ sql, parameters }) => execute(sql, parameters));
    case "append":
    case "insertMemory":
    case "writeAll":
      return write(() => run(request), request.op === "writeAll" || request.ownTransaction, needsSync(request));
    case "matchNearDuplicates":
      return nearDuplicates.find(request.query);
    case "rollback":
      if (db.inTransaction) statements.run("rollback");
      return undefined;
    case "rebuildText":
      return rebuildTextChunk(statements, request.rows);
    case "backup":
      await db.backup(request.file, { progress: () => 2000 });
      return undefined;
    case "close":
      db.close();
      return undefined;
  }
}

function reply(request: WorkerRequest): void {
  handle(request).then(
    (value) => port.postMessage({ id: request.id, value } satisfies WorkerReply),
    (error: unknown) => port.postMessage({ id: request.id, error: toPlainError(error) } satisfies WorkerReply),
  );
}

const sharedCommitMax = 64;

/**
 * Commits queued writes in one transaction, so that they share one flush. If any of them fails, each is retried in its
 * own transaction: no write fails because of another.
 */
function commitTogether(requests: readonly Write[]): void {
  let values: unknown[];
  try {
    values = write(() => requests.map(run), true, requests.some(needsSync));
  } catch {
    // Nothing was written; the failing request gets its error from its own attempt.
    for (const request of requests) reply(request);
    return;
  }
  for (const [index, { id }] of requests.entries()) {
    port.postMessage({ id, value: values[index] } satisfies WorkerReply);
  }
}

port.on("message", (request: WorkerRequest) => {
  if (!isOwnTransaction(request)) return reply(request);
  const queued: Write[] = [request];
  let next: WorkerRequest | undefined;
  while (queued.length < sharedCommitMax) {
    next = receiveMessageOnPort(port)?.message as WorkerRequest | undefined;
    if (!next || !isOwnTransaction(next)) break;
    queued.push(next);
    next = undefined;
  }
  if (queued.length === 1) reply(request);
  else commitTogether(queued);
  if (next) reply(next);
});
port.postMessage({ id: 0, value: "ready" } satisfies WorkerReply);

/** When a gateway, whose program can collect garbage on demand, returns what the start of this thread left. */
const collectMs = 1_000;
setTimeout(() => globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" }), collectMs).unref();

/** Errors cross threads as plain data, because a class instance would lose its prototype. */
function toPlainError(error: unknown): { message: string; code: string } {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return { message: error instanceof Error ? error.message : String(error), code };
}

/** Indexes one chunk of a rebuild in its own transaction. */
function rebuildTextChunk(statements: Statements, rows: { seq: number; words: string }[]): void {
  const insert = "insert or replace into entry_text (rowid, words) values (?, ?)";
  statements.inTransaction(() => {
    for (const row of rows) if (row.words !== "") statements.run(insert, row.seq, row.words);
  });
}
