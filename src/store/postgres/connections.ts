/** The connections to PostgreSQL: which server, how long to wait for it, and which connections are dropped. */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { OpenStoreOptions } from "../port.ts";
import { parseAddress, type SessionTarget } from "./address.ts";
import { isConnectionLost, toPostgresError } from "./errors.ts";
import { askDirectly, PooledServer, readEndpoint } from "./pooled-server.ts";
import { connectBriefly, ServerSelector } from "./servers.ts";
import { ConnectionWatch } from "./watched-client.ts";

export const defaultPoolSize = 10;
const keepAliveMs = 10_000;
const retryMs = 100;
const endMs = 2_000;
/** A silent server is given up within this and `silenceMs`, so that people wait less than 10 seconds. */
const probeTimeoutMsMax = 3_000;

export interface Connections {
  /** A connection to a suitable server. Fails when there is none, after `reconnectMs` once `isEstablished` is set. */
  checkOut(): Promise<pg.PoolClient>;
  /** Set when the database has been reached, so that later calls wait for it to come back. */
  isEstablished: boolean;
  /** Whether a connection ends at a pooler. The server behind it is watched from now on. */
  detectPooler(client: pg.PoolClient): Promise<boolean>;
  end(): Promise<void>;
}

/** `defaultTarget`: which of several hosts may be used when the address does not say. */
export function openConnections(options: OpenStoreOptions, defaultTarget?: SessionTarget): Connections {
  const { database, statementTimeoutMs = 60_000, silenceMs = 2_000, reconnectMs = 5_000 } = options;
  const address = parseAddress(database, defaultTarget);
  const connectTimeoutMs = address.connectTimeoutMs ?? options.connectTimeoutMs ?? 5_000;
  const selector = new ServerSelector(address, connectTimeoutMs);
  const probeTimeoutMs = Math.min(connectTimeoutMs, probeTimeoutMsMax);
  // Without a limit for connections no answer is ever too late.
  const limits = { statementTimeoutMs, silenceMs: connectTimeoutMs === 0 ? 0 : silenceMs, probeTimeoutMs };
  const pooled = new PooledServer({
    locate: async () => (await connectBriefly(selector.current, probeTimeoutMs, readEndpoint)).endpoint,
    ask: (endpoint) => askDirectly(endpoint, probeTimeoutMs),
    nowMs: () => performance.now(),
  });
  const watch = new ConnectionWatch(selector, limits, pooled);
  const pool = new pg.Pool({
    Client: watch.createClientClass(),
    max: options.poolSize ?? defaultPoolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: options.idleTimeoutMs ?? 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    types: numberTypes,
  });
  watch.observe(pool);
  // The pool replaces a connection that breaks while idle; the next call reports a lasting failure.
  pool.on("error", () => undefined);
  // A discarded connection may still receive an error from the server; nobody waits for it.
  pool.on("connect", (client) => client.on("error", () => undefined));

  const connect = async (): Promise<pg.PoolClient> => {
    for (;;) {
      await selector.choose();
      const { generation } = selector;
      const client = await pool.connect().catch((error: unknown) => {
        selector.suspect(generation);
        throw error;
      });
      if (!watch.isStale(client)) return client;
      client.release(true);
    }
  };
  const connections: Connections = {
    isEstablished: false,
    async checkOut() {
      const deadline = performance.now() + (connections.isEstablished ? reconnectMs : 0);
      // The server that was chosen last may be gone: with several, the next attempt asks all of them.
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await connect();
        } catch (error) {
          const isLast = performance.now() >= deadline && (attempt > 1 || address.servers.length === 1);
          if (isLast || !isConnectionLost(error)) throw toPostgresError(error, database);
          await sleep(retryMs);
        }
      }
    },
    async detectPooler(client) {
      const { isDirect, endpoint } = await readEndpoint(client);
      if (!isDirect) watch.followPooler(endpoint);
      return !isDirect;
    },
    async end() {
      // A silent server never confirms the end of a connection.
      const timer = setTimeout(() => watch.endAll(), endMs);
      await pool.end();
      clearTimeout(timer);
      watch.stop();
    },
  };
  return connections;
}

/** Parses 64-bit integers as numbers: no count or time here exceeds 2^53. */
function parseNumbers(types: typeof pg.types): typeof pg.types.getTypeParser {
  const int8 = 20;
  const numeric = 1700;
  return ((id: number, format: "text") =>
    id === int8 || id === numeric ? Number : types.getTypeParser(id, format)) as typeof pg.types.getTypeParser;
}

export const numberTypes = { getTypeParser: parseNumbers(pg.types) } as pg.CustomTypesConfig;
