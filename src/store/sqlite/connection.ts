import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { VarveError } from "../../domain/index.ts";
import type { BackupResult } from "../port.ts";
import { toSqliteError } from "./errors.ts";
import type { SpareData, WorkerCall, WorkerData, WorkerReply } from "./worker-protocol.ts";

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** The main-thread side of one SQLite connection in a worker thread: sends calls in order and resolves their promises. */
export class Connection {
  private readonly worker: Worker;
  /** The worker itself, or the port of a connection that shares the thread of another. */
  private readonly channel: Worker | MessagePort;
  private readonly file: string;
  private readonly waiting = new Map<number, Waiting>();
  private readonly opened: Promise<void>;
  private nextId = 1;
  private ended: Error | undefined;

  /** With `host`, the connection is opened in the thread of that one, which must be closed after it. */
  constructor(data: WorkerData, host?: Connection) {
    this.file = data.file;
    this.worker = host?.worker ?? takeSpareThread(data) ?? startThread(data);
    this.channel = host ? attachPort(host.worker, data) : this.worker;
    this.opened = new Promise((resolve, reject) => this.waiting.set(0, { resolve: () => resolve(), reject }));
    this.opened.catch(() => undefined);
    this.channel.on("message", (reply: WorkerReply) => this.settle(reply));
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
      this.channel.ref();
      this.channel.postMessage({ ...request, id });
    });
  }

  async close(): Promise<void> {
    if (this.ended) return;
    await this.call({ op: "close" });
    if (this.channel === this.worker) await this.worker.terminate();
    else {
      (this.channel as MessagePort).close();
      this.end(new VarveError("STORE_CLOSED", "The store is closed."));
    }
  }

  private settle(reply: WorkerReply): void {
    const waiting = this.waiting.get(reply.id);
    this.waiting.delete(reply.id);
    // An open store does not keep the process alive; a call in progress does.
    if (this.waiting.size === 0) this.channel.unref();
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

/** Asks the thread to serve another connection. Returns this side of its port. */
function attachPort(worker: Worker, settings: WorkerData): MessagePort {
  const { port1, port2 } = new MessageChannel();
  worker.postMessage({ op: "attach", port: port2, settings } satisfies WorkerCall, [port2]);
  return port1;
}

interface SpareThread {
  worker: Worker;
  assigned: Int32Array<SharedArrayBuffer>;
}

const spareThreads: SpareThread[] = [];

/**
 * Starts threads for the connections that are opened next, while the program still loads code and settings. A thread that
 * no connection takes does not keep the process alive.
 */
export function startSpareThreads(count: number): void {
  for (let started = 0; started < count; started += 1) {
    const assigned = new Int32Array(new SharedArrayBuffer(4));
    const worker = startThread({ assigned: assigned.buffer });
    worker.unref();
    spareThreads.push({ worker, assigned });
  }
}

/** A spare thread that opens the database from now on; undefined when there is none. */
function takeSpareThread(data: WorkerData): Worker | undefined {
  const spare = spareThreads.shift();
  if (!spare) return undefined;
  const { worker, assigned } = spare;
  worker.ref();
  worker.postMessage(data);
  Atomics.store(assigned, 0, 1);
  Atomics.notify(assigned, 0);
  return worker;
}

function startThread(workerData: WorkerData | SpareData): Worker {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return new Worker(new URL(`./worker.${extension}`, import.meta.url), {
    workerData,
    // Rows live for one call. Without a limit the young generation of each thread grows to 192 MB.
    resourceLimits: { maxYoungGenerationSizeMb: 16 },
  });
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
