import { PassThrough } from "node:stream";
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type RequestId,
  type Transport,
} from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Varve } from "../index.ts";
import { createServer, type McpOptions } from "./server.ts";

const drainMs = 10_000;

/** Serves one client on standard input and output, until the input ends or the signal is aborted. */
export async function serveOnStdio(
  varve: Varve,
  { signal, ...options }: McpOptions & { signal: AbortSignal },
): Promise<void> {
  const transport = new DrainingTransport();
  const running = new Set<Promise<unknown>>();
  const onRun = (run: Promise<unknown>): void => {
    running.add(run);
    void run.finally(() => running.delete(run));
  };
  const handle = serveStdio(() => createServer(varve, { ...options, onRun }), {
    transport,
    onerror: options.onFailure,
  });
  const stopped = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => stopped.resolve(), { once: true });
  if (signal.aborted) stopped.resolve();
  await Promise.race([transport.ended, stopped.promise]);
  await handle.close();
  // Cancelled calls release what they hold, such as a grant, before the store closes.
  await Promise.allSettled(running);
  // A terminal or a pipe that is still open would keep the process alive.
  process.stdin.destroy();
}

/**
 * The transport of the MCP package aborts running calls when its input ends, so a piped request would get no answer.
 * This transport first finishes them, for up to 10 s.
 */
class DrainingTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #input = new PassThrough();
  readonly #wire = new StdioServerTransport(this.#input, process.stdout);
  readonly #pending = new Set<RequestId>();
  readonly #ended = Promise.withResolvers<void>();
  #inputEnded = false;

  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  async start(): Promise<void> {
    this.#wire.onmessage = (message) => this.#receive(message);
    this.#wire.onerror = (error) => this.onerror?.(error);
    this.#wire.onclose = () => {
      this.onclose?.();
      this.#ended.resolve();
    };
    await this.#wire.start();
    process.stdin.pipe(this.#input, { end: false });
    process.stdin.once("end", () => this.#endInput());
    process.stdin.once("error", () => this.#endInput());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#wire.send(message);
    if ("id" in message && !("method" in message) && message.id !== undefined) this.#pending.delete(message.id);
    this.#endWhenDone();
  }

  async close(): Promise<void> {
    process.stdin.unpipe(this.#input);
    await this.#wire.close();
  }

  #receive(message: JSONRPCMessage): void {
    if (isJSONRPCRequest(message)) this.#pending.add(message.id);
    else if (isJSONRPCNotification(message) && message.method === "notifications/cancelled") {
      this.#pending.delete(message.params?.requestId as RequestId);
    }
    this.onmessage?.(message);
  }

  #endInput(): void {
    this.#inputEnded = true;
    setTimeout(() => this.#input.end(), drainMs).unref();
    this.#endWhenDone();
  }

  #endWhenDone(): void {
    if (!this.#inputEnded || this.#pending.size > 0) return;
    const bufferedBytes = this.#input.readableLength + this.#input.writableLength;
    if (bufferedBytes > 0) setImmediate(() => this.#endWhenDone());
    else this.#input.end();
  }
}
