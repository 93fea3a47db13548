import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { VarveError } from "../domain/index.ts";
import type { TlsPair } from "./tls.ts";

export type HttpServer = Server | TlsServer;

const headersTimeoutMs = 15_000;
const keepAliveMs = 10_000;
const checkingMs = 5_000;

/** Creates a server that limits the time for headers and bodies; with a certificate, a server for TLS. */
export function createHttpServer(listener: RequestListener, requestTimeoutMs: number, tls?: TlsPair): HttpServer {
  const limits = {
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(checkingMs, requestTimeoutMs),
    keepAliveTimeout: keepAliveMs,
    maxHeaderSize: 16 * 1024,
  };
  const server: HttpServer = tls
    ? createTlsServer({ ...limits, ...tls, minVersion: "TLSv1.2" }, listener)
    : createServer(limits, listener);
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
