/**
 * The thread that owns one SQLite connection. It answers requests one after another; the event loop of the program
 * never waits for a disk.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import Database from "better-sqlite3";
import type { MemoryTextMatch } from "../port.ts";
import { appendInTransaction } from "./append.ts";
import { insertMemory } from "./insert-memory.ts";
import { NearDuplicates } from "./near-duplicates.ts";
import { configureReader, configureWriter } from "./pragmas.ts";
import { Statements } from "./statements.ts";
import { rebuildTextChunk } from "./text-index.ts";
import { relaxedBegin, type WorkerData, type WorkerReply, type WorkerRequest } from "./worker-protocol.ts";

if (!parentPort) throw new Error("this file is a worker thread");
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
const twins = new NearDuplicates(statements);

/** How safe the next transactions are; it cannot be changed inside one. */
let isRelaxed = false;
function relax(wanted: boolean): void {
  if (wanted === isRelaxed || settings.mode === "reader" || db.inTransaction) return;
  db.pragma(`synchronous = ${wanted ? "NORMAL" : "FULL"}`);
  isRelaxed = wanted;
}

function write<T>(work: () => T, ownTransaction: boolean, durable = true): T {
  if (!ownTransaction) return work();
  relax(!durable);
  return statements.inTransaction(work);
}

function execute(text: string, parameters: readonly unknown[]): unknown {
  // A full disk or an I/O error ends a transaction by itself; then there is nothing left to roll back.
  if (text === "rollback" && !db.inTransaction) return { rows: [], changes: 0 };
  relax(text === relaxedBegin);
  return statements.execute(text === relaxedBegin ? "begin immediate" : text, parameters);
}

type Write = Extract<WorkerRequest, { op: "append" | "insertMemory" | "writeAll" }>;

/** A write that is a transaction of its own. */
function isWhole(request: WorkerRequest): request is Write {
  if (request.op === "writeAll") return true;
  return (request.op === "append" || request.op === "insertMemory") && request.ownTransaction;
}

function isDurable(request: Write): boolean {
  if (request.op === "writeAll") return request.sync;
  return request.op === "insertMemory" || request.batch.sync !== false;
}

function run(request: Write): unknown {
  switch (request.op) {
    case "append":
      return appendInTransaction(statements, request.batch);
    case "insertMemory":
      return insertUnlessTwin(request);
    case "writeAll":
      return request.statements.map(({ sql, parameters }) => statements.execute(sql, parameters));
  }
}

/** Looked for where it is written: of two that say the same at once, the second finds the first. */
function insertUnlessTwin({ memory, unless }: Extract<Write, { op: "insertMemory" }>): MemoryTextMatch[] {
  const like = unless ? twins.find(unless) : [];
  if (like.length === 0) insertMemory(statements, memory);
  return like;
}

async function answer(request: WorkerRequest): Promise<unknown> {
  switch (request.op) {
    case "execute":
      return execute(request.sql, request.parameters);
    case "executeAll":
      return request.statements.map(({ sql, parameters }) => execute(sql, parameters));
    case "append":
    case "insertMemory":
    case "writeAll":
      return write(() => run(request), request.op === "writeAll" || request.ownTransaction, isDurable(request));
    case "matchNearDuplicates":
      return twins.find(request.query);
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
  answer(request).then(
    (value) => port.postMessage({ id: request.id, value } satisfies WorkerReply),
    (error: unknown) => port.postMessage({ id: request.id, error: describe(error) } satisfies WorkerReply),
  );
}

const togetherMax = 64;

/**
 * Writes that wait behind each other share a transaction, so that the disk is waited for once. When anything is wrong
 * with one of them, each has its own after all: nobody fails because of another.
 */
function writeBatch(requests: readonly Write[]): void {
  let values: unknown[];
  try {
    values = write(() => requests.map(run), true, requests.some(isDurable));
  } catch {
    // Nothing of it was written; whoever is to blame is told by its own attempt.
    for (const request of requests) reply(request);
    return;
  }
  for (const [index, { id }] of requests.entries()) {
    port.postMessage({ id, value: values[index] } satisfies WorkerReply);
  }
}

port.on("message", (request: WorkerRequest) => {
  if (!isWhole(request)) return reply(request);
  const together: Write[] = [request];
  let next: WorkerRequest | undefined;
  while (together.length < togetherMax) {
    next = receiveMessageOnPort(port)?.message as WorkerRequest | undefined;
    if (!next || !isWhole(next)) break;
    together.push(next);
    next = undefined;
  }
  if (together.length === 1) reply(request);
  else writeBatch(together);
  if (next) reply(next);
});
port.postMessage({ id: 0, value: "ready" } satisfies WorkerReply);

/** An error as plain data: a class does not survive the way between threads. */
function describe(error: unknown): { message: string; code: string } {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return { message: error instanceof Error ? error.message : String(error), code };
}
