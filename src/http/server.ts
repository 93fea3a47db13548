import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Server as TlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { VarveError } from "../domain/index.ts";
import type { TlsPair } from "./tls.ts";

export type HttpServer = Server | TlsServer;

const keepAliveMs = 10_000;

/** The limits of connections, in milliseconds and bytes. */
export interface ConnectionLimits {
  /** How long a client may take to send a whole request. */
  requestTimeoutMs: number;
  /** How long a client may take to send the headers, from the start of its connection. */
  headersTimeoutMs: number;
  /** How often connections are checked. */
  checkingMs: number;
  /** How often the progress of a body is checked, and what must have arrived by then. */
  bodyCheckMs: number;
  bodyBytesMin: number;
  /** When the rest of a body begins to be dropped after its request was answered; a client that reads closes first. */
  dropDelayMs: number;
  /** How often a piece of it is dropped, and how many of them. */
  dropMs: number;
  dropsMax: number;
  maxConnections: number;
}

/** A connection without headers is closed within 15 seconds, and so is one whose body arrives with less than 1 KiB/s. */
export const defaultConnectionLimits: Omit<ConnectionLimits, "requestTimeoutMs" | "maxConnections"> = {
  headersTimeoutMs: 10_000,
  checkingMs: 2_500,
  bodyCheckMs: 10_000,
  bodyBytesMin: 10 * 1024,
  dropDelayMs: 250,
  dropMs: 20,
  dropsMax: 500,
};

/** Creates a server that limits the number of connections and the time for headers and bodies; with a certificate, for TLS. */
export function createHttpServer(listener: RequestListener, limits: ConnectionLimits, tls?: TlsPair): HttpServer {
  const { requestTimeoutMs } = limits;
  const timeouts = {
    headersTimeout: Math.min(limits.headersTimeoutMs, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(limits.checkingMs, requestTimeoutMs),
    keepAliveTimeout: keepAliveMs,
    maxHeaderSize: 16 * 1024,
  };
  // An import statement reads every export of these modules, of which some load 15 MB of a client that is not used here.
  const server: HttpServer = tls
    ? process.getBuiltinModule("node:https").createServer({ ...timeouts, ...tls, minVersion: "TLSv1.2" }, listener)
    : process.getBuiltinModule("node:http").createServer(timeouts, listener);
  server.maxConnections = limits.maxConnections;
  // Before the listener, which may answer at once.
  server.prependListener("request", (request, response) => {
    if (!hasBody(request)) return;
    endSlowBody(request, response, limits);
    // Before the listener of Node, which would read the rest as fast as it arrives.
    response.prependListener("finish", () => dropRest(request, limits));
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) return socket.destroy();
    const status = parserErrorStatus(error.code);
    const body = JSON.stringify(
      new VarveError("BAD_REQUEST", "The request is not valid HTTP, or it was sent too slowly.").toJSON(),
    );
    socket.end(
      `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
  });
  return server;
}

function hasBody({ headers, complete }: IncomingMessage): boolean {
  return !complete && (headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined);
}

/** Ends a connection whose body stops or arrives too slowly, until the whole body arrived or the answer began. */
function endSlowBody(
  request: IncomingMessage,
  response: ServerResponse,
  { bodyCheckMs, bodyBytesMin }: ConnectionLimits,
): void {
  const { socket } = request;
  let before = socket.bytesRead;
  const timer = setInterval(() => {
    if (request.complete || response.headersSent) return clearInterval(timer);
    // Bytes that wait to be read are not the client's delay.
    if (request.readableLength === 0 && socket.bytesRead - before < bodyBytesMin) socket.destroy();
    before = socket.bytesRead;
  }, bodyCheckMs);
  timer.unref();
  response.on("close", () => clearInterval(timer));
}

/**
 * Drops the rest of a body whose request is answered, slowly, so that it takes no time from others. Many clients read the
 * answer only after they have sent everything. A connection that sends too much is closed.
 */
function dropRest(request: IncomingMessage, { dropDelayMs, dropMs, dropsMax }: ConnectionLimits): void {
  if (request.complete) return;
  // From here on the body counts as read, so that Node leaves it alone.
  request.read();
  let drops = 0;
  const drop = (): void => {
    if (request.destroyed || request.socket.destroyed) return;
    request.read();
    drops += 1;
    if (request.readableEnded) return;
    if (drops > dropsMax) request.socket.destroy();
    else setTimeout(drop, dropMs).unref();
  };
  setTimeout(drop, dropDelayMs).unref();
}

function parserErrorStatus(code: string | undefined): string {
  if (code === "HPE_HEADER_OVERFLOW") return "431 Request Header Fields Too Large";
  return code === "ERR_HTTP_REQUEST_TIMEOUT" ? "408 Request Timeout" : "400 Bad Request";
}

/** Starts to listen and returns the bound address. */
export function listen(server: HttpServer, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => reject(createListenError(error, host, port));
    server.once("error", fail);
    server.listen({ host, port, exclusive: true }, () => {
      server.off("error", fail);
      resolve(server.address() as AddressInfo);
    });
  });
}

function createListenError(error: NodeJS.ErrnoException, host: string, port: number): VarveError {
  switch (error.code) {
    case "EADDRINUSE":
      return new VarveError("PORT_IN_USE", `Port ${port} of ${host} is in use by another process.`, {
        remedy:
          "It may be another gateway: stop that process, or use another port with `varve start --port N` " +
          "(0 picks a free one).",
        cause: error,
        details: { host, port },
      });
    case "EACCES":
      return new VarveError("REFUSED", `This user may not listen on port ${port} of ${host}.`, {
        remedy: "Use a port from 1024 on: `varve start --port 7411`.",
        cause: error,
        details: { host, port },
      });
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
    case "EINVAL":
      return new VarveError("BAD_CONFIG", `${host} is not an address of this machine.`, {
        remedy: "Set gateway.host (or --host) to 127.0.0.1, or to an address that `ip addr` shows.",
        cause: error,
        details: { host, port },
      });
    default:
      return new VarveError("INTERNAL", `The gateway cannot listen on ${host}:${port}: ${error.message}.`, {
        cause: error,
      });
  }
}

/** Stops accepting connections, waits for running requests, and closes them after `drainMs`. */
export async function closeServer(server: HttpServer, drainMs: number): Promise<void> {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  // A keep-alive connection becomes idle after its request and would otherwise stay open.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const end = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(end);
}
