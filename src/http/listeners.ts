import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { Config } from "../config/index.ts";
import { type Random, VarveError } from "../domain/index.ts";
import { formatUrlHost } from "./addresses.ts";
import type { GatewayLogRecord } from "./context.ts";
import { closeServer, createHttpServer, defaultConnectionLimits, type HttpServer, listen } from "./server.ts";
import { readTlsFiles, resolveTlsFiles, type TlsFiles, TlsWatcher } from "./tls.ts";
import { listenOnSocket, resolveSocketPath, type UnixSocket } from "./unix-socket.ts";

export interface ListenOptions {
  listener: RequestListener;
  settings: Config["gateway"];
  home: string;
  host: string;
  port: number;
  random: Random;
  /** How often the TLS files are checked for a change. */
  tlsCheckMs: number;
  /** Called with every connection of the Unix socket. */
  onLocalConnection(socket: object): void;
  log(record: GatewayLogRecord): void;
}

/** The open ports of a gateway: one address, with or without TLS, and a Unix socket. */
export interface Listeners {
  url: string;
  address: AddressInfo;
  /** The path of the Unix socket; undefined without one. */
  socket: string | undefined;
  close(drainMs: number): Promise<void>;
}

export async function openListeners(options: ListenOptions): Promise<Listeners> {
  const { listener, settings, home, host, port } = options;
  const tlsFiles = resolveTlsFiles(settings.tls, home);
  const { requestTimeoutMs, maxConnections } = settings;
  const limits = { ...defaultConnectionLimits, requestTimeoutMs, maxConnections };
  const server = createHttpServer(listener, limits, tlsFiles && readTlsFiles(tlsFiles));
  const address = await listen(server, host, port);
  const watch = tlsFiles && followTlsFiles(server, tlsFiles, options);
  const localServer = createHttpServer(listener, limits);
  localServer.on("connection", options.onLocalConnection);
  const close = async (drainMs: number, socket?: UnixSocket): Promise<void> => {
    clearInterval(watch);
    socket?.remove();
    await Promise.all([closeServer(server, drainMs), localServer.listening && closeServer(localServer, drainMs)]);
  };
  try {
    const socket = await openSocket(localServer, options);
    const scheme = tlsFiles ? "https" : "http";
    return {
      url: `${scheme}://${formatUrlHost(isWildcard(host) ? "127.0.0.1" : host)}:${address.port}`,
      address,
      socket: socket?.path,
      close: (drainMs) => close(drainMs, socket),
    };
  } catch (error) {
    await close(0);
    throw error;
  }
}

/** The default socket is an addition: when it cannot be opened, the gateway works without it and says so. */
async function openSocket(
  server: HttpServer,
  { settings, home, random, log }: ListenOptions,
): Promise<UnixSocket | undefined> {
  const path = resolveSocketPath(settings.socket, home);
  if (path === undefined) return undefined;
  try {
    return await listenOnSocket(server, path, random);
  } catch (error) {
    if (settings.socket !== true || !(error instanceof VarveError)) throw error;
    log({ event: "error", method: "", path: "the gateway's socket", error });
    return undefined;
  }
}

function followTlsFiles(server: HttpServer, files: TlsFiles, { tlsCheckMs, log }: ListenOptions): NodeJS.Timeout {
  const watcher = new TlsWatcher(files);
  const check = (): void => {
    try {
      const pair = watcher.readChange();
      if (pair && "setSecureContext" in server) server.setSecureContext(pair);
    } catch (error) {
      log({ event: "error", method: "", path: "the TLS files", error });
    }
  };
  return setInterval(check, tlsCheckMs).unref();
}

function isWildcard(host: string): boolean {
  return host === "0.0.0.0" || host === "::" || host === "[::]";
}
