import type { Server } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { allRights } from "../authorization/index.ts";
import { type Clock, type Random, systemClock, systemRandom, VarveError } from "../domain/index.ts";
import type { Varve } from "../engine.ts";
import { inUrl, isLoopback, type Place } from "./addresses.ts";
import { createApp } from "./app.ts";
import type { GatewayHost, GatewayLogRecord } from "./context.ts";
import { defaultDeadlines, type GatewayDeadlines } from "./deadlines.ts";
import { createEventBus } from "./events.ts";
import { removeGatewayFile, writeGatewayFile } from "./gateway-file.ts";
import { createLogins } from "./logins.ts";
import { createMetrics } from "./metrics.ts";
import { createRateLimiter } from "./rate-limit.ts";
import { closeServer, listen, makeServer } from "./server.ts";
import { readOrMakeToken, tokenFilePath } from "./token-file.ts";
import { configuredTokens, hashSecret, type Token } from "./tokens.ts";

export interface GatewayOptions {
  /** The address to listen on; `gateway.host` of the settings when absent. */
  host?: string;
  /** The port to listen on, 0 for any free one; `gateway.port` of the settings when absent. */
  port?: number;
  log?: (record: GatewayLogRecord) => void;
  clock?: Clock;
  random?: Random;
  /** How long to wait where no setting says so; the usual times when absent. */
  deadlines?: Partial<GatewayDeadlines>;
}

export interface Gateway {
  readonly url: string;
  readonly port: number;
  /** The file with the token of this machine; absent when the settings name tokens. */
  readonly tokenFile: string | undefined;
  /** A link that logs one browser in, once, within a minute. */
  createLoginLink(): string;
  /** Ends the turns or hands them over, waits up to `drainMs` for running requests, ends event streams. The engine stays open. */
  close(): Promise<void>;
}

/**
 * Opens the gateway over an open engine.
 *
 * @example
 * const varve = await openVarve();
 * const gateway = await startGateway(varve, { port: 0 });
 * console.log(gateway.createLoginLink());
 * await gateway.close();
 * await varve.close();
 */
export async function startGateway(varve: Varve, options: GatewayOptions = {}): Promise<Gateway> {
  const settings = varve.settings.config.gateway;
  const bindHost = options.host ?? settings.host;
  const port = options.port ?? settings.port;
  const clock = options.clock ?? systemClock;
  const random = options.random ?? systemRandom;
  const { tokens, tokenFile } = openDoors(varve, bindHost, random);
  const place: Place = { ...settings, host: bindHost, port };
  const host: GatewayHost = {
    varve,
    settings,
    clock,
    deadlines: { ...defaultDeadlines, ...options.deadlines },
    place,
    tokens,
    logins: createLogins(clock, random),
    limiter: createRateLimiter(clock, settings.requestsPerMinute),
    bus: createEventBus(clock, random),
    metrics: createMetrics(),
    closers: [],
    log: options.log ?? (() => undefined),
  };
  const unhook = varve.onEvent((event) => {
    host.metrics.event(event);
    host.bus.publish({ ...event, data: { ...event.data } });
    // What was said is in the transcript; the log says only that something was.
    const { reply: _, ...data } = { reply: undefined, ...event.data };
    host.log({ event: event.type, key: event.key, ...data });
  });
  const app = createApp(host);
  const listener = getRequestListener(app.fetch as Parameters<typeof getRequestListener>[0], {
    errorHandler: answerUnreadable,
  });
  const server = makeServer(listener, settings.requestTimeoutMs);
  const address = await listen(server, bindHost, port);
  await refuseSurprise(server, address.address, tokenFile);
  place.port = address.port;
  varve.turns.start();
  const url = `http://${inUrl(isWildcard(bindHost) ? "127.0.0.1" : bindHost)}:${address.port}`;
  writeGatewayFile(varve.settings.home, url);
  let closing: Promise<void> | undefined;
  return {
    url,
    port: address.port,
    tokenFile,
    createLoginLink: () => `${url}/auth?code=${host.logins.makeCode()}`,
    close: () => {
      closing ??= (async () => {
        removeGatewayFile(varve.settings.home, url);
        // Whoever listens to a turn hears its end; a turn that takes too long is left to other processes.
        await varve.turns.stop();
        unhook();
        host.bus.close();
        host.metrics.close();
        await Promise.all([closeServer(server, host.deadlines.drainMs), ...host.closers.map((close) => close())]);
      })();
      return closing;
    },
  };
}

/** The tokens that open the gateway. Without any in the settings, only this machine may reach it, with the file's. */
function openDoors(varve: Varve, bindHost: string, random: Random): { tokens: Token[]; tokenFile: string | undefined } {
  const { home, config } = varve.settings;
  const tokens = configuredTokens(config.gateway.tokens, process.env);
  if (tokens.length > 0) return { tokens, tokenFile: undefined };
  if (!isLoopback(bindHost)) throw openToAll(bindHost);
  const tokenFile = tokenFilePath(home);
  const hash = hashSecret(readOrMakeToken(tokenFile, random));
  return { tokens: [{ name: "token file", hash, rights: allRights }], tokenFile };
}

function openToAll(bindHost: string): VarveError {
  return new VarveError(
    "REFUSED",
    `The gateway does not listen on ${JSON.stringify(bindHost)}, where other machines can reach it, without tokens.`,
    {
      remedy:
        "Name who may come in under gateway.tokens in config.yaml, for example " +
        '[{name: laptop, token: "env:VARVE_LAPTOP_TOKEN", rights: [read, write]}], or listen on 127.0.0.1.',
    },
  );
}

/** `localhost` is only a name: a machine may have it lead elsewhere. */
async function refuseSurprise(server: Server, address: string, tokenFile: string | undefined): Promise<void> {
  if (tokenFile === undefined || isLoopback(address)) return;
  await closeServer(server, 0);
  throw openToAll(address);
}

function isWildcard(host: string): boolean {
  return host === "0.0.0.0" || host === "::" || host === "[::]";
}

/** What never became a request: a missing or impossible Host header, a broken target. */
function answerUnreadable(error: unknown): Response {
  const fault = new VarveError("BAD_REQUEST", "The request's address or Host header cannot be read.", { cause: error });
  return Response.json(fault.toJSON(), { status: fault.httpStatus, headers: { Connection: "close" } });
}
