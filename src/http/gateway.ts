import { allRights } from "../authorization/index.ts";
import { type Clock, type Random, systemClock, systemRandom, VarveError } from "../domain/index.ts";
import type { Varve } from "../index.ts";
import { type GatewayAddress, isLoopback } from "./addresses.ts";
import { createBodyReader } from "./body-reader.ts";
import type { GatewayContext, GatewayLogRecord } from "./context.ts";
import { defaultDeadlines, type GatewayDeadlines } from "./deadlines.ts";
import { createEventBus } from "./events.ts";
import { removeGatewayFile, writeGatewayFile } from "./gateway-file.ts";
import { proofSecretPath } from "./gateway-proof.ts";
import { type Listeners, openListeners } from "./listeners.ts";
import { openLoginFile } from "./login-file.ts";
import { createLogins } from "./logins.ts";
import { createMetrics } from "./metrics.ts";
import { createObservations } from "./observations.ts";
import { createRateLimiter } from "./rate-limit.ts";
import { createLazyListener, loadAppListener } from "./request-listener.ts";
import { readOrCreateToken, tokenFilePath } from "./token-file.ts";
import { createTokenRegistry } from "./token-registry.ts";
import { configuredTokens, hashSecret, type Token } from "./tokens.ts";
import { describeUnknownPerson } from "./unknown-person.ts";

/** A body that is read and then refused counts as so many requests of its sender. */
const refusedBodyRequests = 20;

export interface GatewayOptions {
  /** The address to listen on; default: the setting `gateway.host`. */
  host?: string;
  /** The port to listen on, 0 for a free one; default: the setting `gateway.port`. */
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
  /** The path of the Unix socket; undefined without one. */
  readonly socket: string | undefined;
  /** The file with this machine's access token; undefined when the settings define tokens. */
  readonly tokenFile: string | undefined;
  /** Creates a link that logs a browser in. It works once, within a minute. */
  createLoginLink(): string;
  /** Stops turns, waits up to `drainMs` for running requests and ends event streams. The engine stays open. */
  close(): Promise<void>;
}

/**
 * Starts the gateway on an open engine.
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
  const observations = createObservations(clock);
  const log = (record: GatewayLogRecord): void => {
    observations.record(record);
    options.log?.(record);
  };
  const { tokens, tokenFile } = await loadTokens(varve, bindHost, random);
  const ownAddress: GatewayAddress = { ...settings, host: bindHost, port };
  const limiter = createRateLimiter(clock, settings.requestsPerMinute);
  const gateway: GatewayContext = {
    varve,
    settings,
    clock,
    random,
    deadlines: { ...defaultDeadlines, ...options.deadlines },
    address: ownAddress,
    tokens: createTokenRegistry({
      fixed: tokens,
      stored: varve.accessTokens,
      clock,
      onFailure: (error) => log({ event: "error", method: "", path: "the last use of an access token", error }),
    }),
    logins: createLogins(
      clock,
      random,
      openLoginFile(varve.settings.home, (error) =>
        log({ event: "error", method: "", path: "gateway-logins.json", error }),
      ),
    ),
    limiter,
    bodies: createBodyReader({ onRefused: (caller) => limiter.charge(caller, refusedBodyRequests) }),
    bus: createEventBus(clock, random),
    metrics: createMetrics(),
    observations,
    localConnections: new WeakSet(),
    closers: [],
    log,
  };
  const unsubscribe = varve.onEvent((event) => {
    gateway.metrics.event(event);
    gateway.bus.publish({ ...event, data: { ...event.data } });
    // The log must not contain message text, so the reply is removed.
    const { reply: _, ...data } = { reply: undefined, ...event.data };
    const unknown = describeUnknownPerson(event, varve.settings.config.agent);
    gateway.log({ event: event.type, key: event.key, ...data, ...unknown });
  });
  // Clients read it before their first request.
  readOrCreateToken(proofSecretPath(varve.settings.home), random);
  const { listener, settle } = createLazyListener(loadAppListener(gateway), log);
  const listeners = await openListeners({
    ...{ listener, settings, home: varve.settings.home, host: bindHost, port, random, log },
    tlsCheckMs: gateway.deadlines.tlsCheckMs,
    onLocalConnection: (socket) => gateway.localConnections.add(socket),
  });
  const { url, address, socket } = listeners;
  await refusePublicAddress(listeners, tokenFile);
  ownAddress.port = address.port;
  ownAddress.secure = url.startsWith("https:");
  varve.turns.start();
  writeGatewayFile(varve.settings.home, { url, socket });
  let closing: Promise<void> | undefined;
  return {
    url,
    port: address.port,
    socket,
    tokenFile,
    createLoginLink: () => `${url}/auth?code=${gateway.logins.createCode()}`,
    close: () => {
      closing ??= (async () => {
        removeGatewayFile(varve.settings.home, url);
        // Clients that wait for a turn get its end; a turn that takes too long is left to other processes.
        await varve.turns.stop();
        unsubscribe();
        gateway.bus.close();
        gateway.metrics.close();
        await settle();
        gateway.closers.push(gateway.tokens.close);
        await Promise.all([listeners.close(gateway.deadlines.drainMs), ...gateway.closers.map((close) => close())]);
      })();
      return closing;
    },
  };
}

/**
 * Loads the access tokens that do not change while the gateway runs. Without any in the settings or the database, it
 * listens on loopback only, with the token file.
 */
async function loadTokens(
  varve: Varve,
  bindHost: string,
  random: Random,
): Promise<{ tokens: Token[]; tokenFile: string | undefined }> {
  const { home, config } = varve.settings;
  const tokens = configuredTokens(config.gateway.tokens, process.env);
  await refuseSameNames(varve, tokens);
  if (tokens.length > 0) return { tokens, tokenFile: undefined };
  if (!isLoopback(bindHost)) {
    if (bindHost !== "" && (await varve.accessTokens.countActive()) > 0) return { tokens: [], tokenFile: undefined };
    throw createPublicBindError(bindHost);
  }
  const tokenFile = tokenFilePath(home);
  const hash = hashSecret(readOrCreateToken(tokenFile, random));
  return { tokens: [{ name: "token file", hash, rights: allRights }], tokenFile };
}

/** The audit log and quotas name a token of the settings by its name only. */
async function refuseSameNames({ accessTokens }: Varve, configured: readonly Token[]): Promise<void> {
  if (configured.length === 0) return;
  const names = new Set(configured.map(({ name }) => name));
  const same = (await accessTokens.list()).find(({ name, state }) => state === "active" && names.has(name));
  if (same === undefined) return;
  throw new VarveError(
    "BAD_CONFIG",
    `A token of gateway.tokens has the name ${JSON.stringify(same.name)}, as the token ${same.id} in the database has.`,
    { remedy: `Rename it in gateway.tokens, or run \`varve tokens revoke ${same.id}\`.` },
  );
}

function createPublicBindError(bindHost: string): VarveError {
  return new VarveError(
    "REFUSED",
    `The gateway cannot listen on ${JSON.stringify(bindHost)} without access tokens, because other machines could reach it.`,
    {
      remedy:
        "Create an access token with `varve tokens create NAME --rights read,write`, or define some under " +
        'gateway.tokens in config.yaml, for example [{name: laptop, token: "env:VARVE_LAPTOP_TOKEN", rights: ' +
        "[read, write]}]; or listen on 127.0.0.1.",
    },
  );
}

/** Checks the address that was bound: `localhost` may resolve to an address that other machines can reach. */
async function refusePublicAddress(listeners: Listeners, tokenFile: string | undefined): Promise<void> {
  const { address } = listeners.address;
  if (tokenFile === undefined || isLoopback(address)) return;
  await listeners.close(0);
  throw createPublicBindError(address);
}
