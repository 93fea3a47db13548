import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import Database from "better-sqlite3";
import type { MemoryTextMatch, VectorPage } from "../port.ts";
import { appendInTransaction } from "./append.ts";
import { insertMemory, NearDuplicateFinder } from "./memory-worker.ts";
import { configureReader, configureWriter } from "./pragmas.ts";
import { Statements } from "./statements.ts";
import { readVectors } from "./vector-pages.ts";
import { beginWithoutSync, type WorkerData, type WorkerReply, type WorkerRequest } from "./worker-protocol.ts";

type Write = Extract<WorkerRequest, { op: "append" | "insertMemory" | "writeAll" }>;

const sharedCommitMax = 64;

/** One SQLite connection inside a worker thread. */
export class WorkerConnection {
  private readonly port: MessagePort;
  private readonly db: Database.Database;
  private readonly mode: WorkerData["mode"];
  private readonly statements: Statements;
  private readonly nearDuplicates: NearDuplicateFinder;
  /** The durability of the next transactions; SQLite cannot change it inside one. */
  private isSynced = true;

  constructor(port: MessagePort, settings: WorkerData) {
    this.port = port;
    this.mode = settings.mode;
    this.db = new Database(settings.file, {
      readonly: settings.mode === "reader",
      fileMustExist: settings.mode === "reader",
      timeout: settings.busyTimeoutMs,
    });
    if (settings.mode === "writer") configureWriter(this.db, settings.cacheMiB, settings.busyTimeoutMs);
    else configureReader(this.db, settings.cacheMiB, settings.busyTimeoutMs);
    this.statements = new Statements(this.db);
    this.nearDuplicates = new NearDuplicateFinder(this.statements);
  }

  /** Answers a request; own transactions that are queued after it are committed together with it. */
  receive(request: WorkerRequest): void {
    if (!isOwnTransaction(request)) {
      this.reply(request);
      return;
    }
    const queued: Write[] = [request];
    let next: WorkerRequest | undefined;
    while (queued.length < sharedCommitMax) {
      next = receiveMessageOnPort(this.port)?.message as WorkerRequest | undefined;
      if (!next || !isOwnTransaction(next)) break;
      queued.push(next);
      next = undefined;
    }
    if (queued.length === 1) this.reply(request);
    else this.commitTogether(queued);
    if (next) this.reply(next);
  }

  private reply(request: WorkerRequest): void {
    this.handle(request).then(
      (value) =>
        this.port.postMessage(
          { id: request.id, value } satisfies WorkerReply,
          request.op === "readVectors" ? listBuffers(value as VectorPage) : [],
        ),
      (error: unknown) => this.port.postMessage({ id: request.id, error: toPlainError(error) } satisfies WorkerReply),
    );
  }

  private async handle(request: WorkerRequest): Promise<unknown> {
    switch (request.op) {
      case "execute":
        return this.execute(request.sql, request.parameters);
      case "executeAll":
        return request.statements.map(({ sql, parameters }) => this.execute(sql, parameters));
      case "append":
      case "insertMemory":
      case "writeAll":
        return this.write(
          () => this.run(request),
          request.op === "writeAll" || request.ownTransaction,
          needsSync(request),
        );
      case "matchNearDuplicates":
        return this.nearDuplicates.find(request.query);
      case "readVectors":
        return readVectors(this.statements, request.query);
      case "rollback":
        if (this.db.inTransaction) this.statements.run("rollback");
        return undefined;
      case "rebuildText":
        return rebuildTextChunk(this.statements, request.rows);
      case "backup":
        await this.db.backup(request.file, { progress: () => 2000 });
        return undefined;
      case "close":
        this.db.close();
        return undefined;
      case "attach":
        throw new Error("a port is attached by its thread");
    }
  }

  private setSync(sync: boolean): void {
    if (sync === this.isSynced || this.mode === "reader" || this.db.inTransaction) return;
    this.db.pragma(`synchronous = ${sync ? "FULL" : "NORMAL"}`);
    this.isSynced = sync;
  }

  private write<T>(work: () => T, ownTransaction: boolean, sync = true): T {
    if (!ownTransaction) return work();
    this.setSync(sync);
    return this.statements.inTransaction(work);
  }

  private execute(text: string, parameters: readonly unknown[]): unknown {
    // A full disk or an I/O error already ended the transaction; then there is nothing to roll back.
    if (text === "rollback" && !this.db.inTransaction) return { rows: [], changes: 0 };
    this.setSync(text !== beginWithoutSync);
    return this.statements.execute(text === beginWithoutSync ? "begin immediate" : text, parameters);
  }

  private run(request: Write): unknown {
    switch (request.op) {
      case "append":
        return appendInTransaction(this.statements, request.batch);
      case "insertMemory":
        return this.insertUnlessDuplicate(request);
      case "writeAll":
        return request.statements.map(({ sql, parameters }) => this.statements.execute(sql, parameters));
    }
  }

  /** Checks inside the write transaction, so that of two concurrent near-duplicates the second finds the first. */
  private insertUnlessDuplicate({ memory, unless }: Extract<Write, { op: "insertMemory" }>): MemoryTextMatch[] {
    const like = unless ? this.nearDuplicates.find(unless) : [];
    if (like.length === 0) insertMemory(this.statements, memory);
    return like;
  }

  /**
   * Commits queued writes in one transaction, so that they share one flush. If any of them fails, each is retried in its
   * own transaction: no write fails because of another.
   */
  private commitTogether(requests: readonly Write[]): void {
    let values: unknown[];
    try {
      values = this.write(() => requests.map((request) => this.run(request)), true, requests.some(needsSync));
    } catch {
      // Nothing was written; the failing request gets its error from its own attempt.
      for (const request of requests) this.reply(request);
      return;
    }
    for (const [index, { id }] of requests.entries()) {
      this.port.postMessage({ id, value: values[index] } satisfies WorkerReply);
    }
  }
}

/** Whether the request is a complete transaction of its own. */
function isOwnTransaction(request: WorkerRequest): request is Write {
  if (request.op === "writeAll") return true;
  return (request.op === "append" || request.op === "insertMemory") && request.ownTransaction;
}

function needsSync(request: Write): boolean {
  if (request.op === "writeAll") return request.sync;
  return request.op === "insertMemory" || request.batch.sync !== false;
}

/** Buffers that are transferred to the program instead of being copied. */
function listBuffers({ seqs, conversations, times, vectors }: VectorPage): ArrayBuffer[] {
  return [seqs, conversations, times, vectors].map(({ buffer }) => buffer);
}

/** Errors cross threads as plain data, because a class instance would lose its prototype. */
export function toPlainError(error: unknown): { message: string; code: string } {
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
