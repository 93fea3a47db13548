import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { toPlainError, WorkerConnection } from "./worker-connection.ts";
import type { SpareData, WorkerData, WorkerReply, WorkerRequest } from "./worker-protocol.ts";

/**
 * The worker thread that owns SQLite connections: one for the program's end of its own port, and one for each port that is
 * attached. Each processes its requests in order, so that the event loop of the program never waits for a disk.
 */

if (!parentPort) throw new Error("this file must run as a worker thread");
const ownPort: MessagePort = parentPort;
serveConnection(ownPort, receiveSettings(workerData as WorkerData | SpareData));

/** A spare thread waits for its database; see `startSpareThreads`. */
function receiveSettings(data: WorkerData | SpareData): WorkerData {
  if ("file" in data) return data;
  Atomics.wait(new Int32Array(data.assigned), 0, 0);
  return receiveMessageOnPort(ownPort)?.message as WorkerData;
}

/** Opens the database and answers the requests of a port until it is asked to close. */
function serveConnection(port: MessagePort, settings: WorkerData): void {
  const connection = new WorkerConnection(port, settings);
  port.on("message", (request: WorkerRequest) => {
    if (request.op === "attach") serveAttached(request.port, request.settings);
    else connection.receive(request);
  });
  port.postMessage({ id: 0, value: "ready" } satisfies WorkerReply);
}

/** A failure to open ends an own thread; for an attached port it is reported as the answer to opening. */
function serveAttached(port: MessagePort, settings: WorkerData): void {
  try {
    serveConnection(port, settings);
  } catch (error) {
    port.postMessage({ id: 0, error: toPlainError(error) } satisfies WorkerReply);
  }
}

/** When a gateway, whose program can collect garbage on demand, returns what the start of this thread left. */
const collectMs = 1_000;
setTimeout(() => globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" }), collectMs).unref();
