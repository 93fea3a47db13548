import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { VarveError } from "../../domain/index.ts";
import type { BackupResult } from "../port.ts";
import { toSqliteError } from "./errors.ts";
import type { WorkerCall, WorkerData, WorkerReply } from "./worker-protocol.ts";

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** The main-thread side of one worker thread: sends calls in order and resolves their promises. */
export class Connection {
  private readonly worker: Worker;
  private readonly file: string;
  private readonly waiting = new Map<number, Waiting>();
  private readonly opened: Promise<void>;
  private nextId = 1;
  private ended: Error | undefined;

  constructor(data: WorkerData) {
    this.file = data.file;
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    this.worker = new Worker(new URL(`./worker.${extension}`, import.meta.url), {
      workerData: data,
      // Rows live for one call. Without a limit the young generation of each thread grows to 192 MB.
      resourceLimits: { maxYoungGenerationSizeMb: 16 },
    });
    this.opened = new Promise((resolve, reject) => this.waiting.set(0, { resolve: () => resolve(), reject }));
    this.opened.catch(() => undefined);
    this.worker.on("message", (reply: WorkerReply) => this.settle(reply));
    this.worker.on("error", (error) => this.end(toSqliteError(error, this.file)));
    this.worker.on("exit", () => this.end(new VarveError("STORE_CLOSED", "The store is closed.")));
  }

  ready(): Promise<void> {
    return this.opened;
  }

  call(request: WorkerCall): Promise<unknown> {
    if (this.ended) return Promise.reject(this.ended);
    const id = this.nextId;
    this.nextId += 1;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.ref();
      this.worker.postMessage({ ...request, id });
    });
  }

  async close(): Promise<void> {
    if (this.ended) return;
    await this.call({ op: "close" });
    await this.worker.terminate();
  }

  private settle(reply: WorkerReply): void {
    const waiting = this.waiting.get(reply.id);
    this.waiting.delete(reply.id);
    // An open store does not keep the process alive; a call in progress does.
    if (this.waiting.size === 0) this.worker.unref();
    if (!waiting) return;
    if (reply.error) waiting.reject(toSqliteError(reply.error, this.file));
    else waiting.resolve(reply.value);
  }

  private end(error: Error): void {
    this.ended ??= error;
    for (const waiting of this.waiting.values()) waiting.reject(error);
    this.waiting.clear();
  }
}

/** Copies the database while it is in use; the copy gets its final name only when it is complete and on disk. */
export async function backupInto(connection: Connection, file: string): Promise<BackupResult> {
  const partial = `${file}.partial`;
  rmSync(partial, { force: true });
  try {
    // Nobody else may read it while it is written.
    closeSync(openSync(partial, "a", 0o600));
    await connection.call({ op: "backup", file: partial });
    const handle = openSync(partial, "r+");
    fsyncSync(handle);
    closeSync(handle);
    renameSync(partial, file);
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
  return { file, bytes: statSync(file).size };
}
