/** Connections whose statements are watched, so that a server that goes silent holds nobody. */
import { AsyncLocalStorage } from "node:async_hooks";
import { Socket } from "node:net";
import pg from "pg";
import type { PooledServer, ServerEndpoint } from "./pooled-server.ts";
import { isAnswering, type ServerSelector } from "./servers.ts";

export interface WatchLimits {
  /** The longest time for one statement; 0 for no limit. */
  statementTimeoutMs: number;
  /** After this time without an answer the server is asked whether it is alive; 0 never asks. */
  silenceMs: number;
  /** The time for the server to answer that. */
  probeTimeoutMs: number;
}

const unlimited = new AsyncLocalStorage<true>();

/** Runs statements without a time limit, for migrations, dumps and the building of indexes. */
export function withoutStatementLimit<T>(work: () => Promise<T>): Promise<T> {
  return unlimited.run(true, work);
}

interface Watched {
  generation: number;
  /** When each unanswered statement was sent, and whether its time is limited. */
  pending: Set<{ since: number; isLimited: boolean }>;
  /** When the connection was taken out of the pool; undefined while it is in there. */
  usedSince: number | undefined;
  end(reason: Error): void;
}

const readOnly = "25006";
/** How often the age of what is known about a pooled server is compared with its limit. */
const poolerCheckMs = 1_000;

/** A query that the driver only passes messages to, such as a flight of statements. */
interface Submittable {
  submit: unknown;
  callback(error: Error | null, results?: unknown): void;
}

function isSubmittable(query: unknown): query is Submittable {
  const { submit, callback } = (query ?? {}) as Partial<Submittable>;
  return typeof submit === "function" && typeof callback === "function";
}

/** Watches all connections of a pool. The timer runs only while statements are unanswered. */
export class ConnectionWatch {
  readonly #selector: ServerSelector;
  readonly #limits: WatchLimits;
  readonly #pooled: PooledServer;
  readonly #clients = new Map<pg.ClientBase, Watched>();
  #timer: NodeJS.Timeout | undefined;
  #poolerTimer: NodeJS.Timeout | undefined;
  #isAsking = false;

  constructor(selector: ServerSelector, limits: WatchLimits, pooled: PooledServer) {
    this.#selector = selector;
    this.#limits = limits;
    this.#pooled = pooled;
  }

  /** Whether the server of a connection was given up since it was opened. */
  isStale(client: pg.ClientBase): boolean {
    return this.#clients.get(client)?.generation !== this.#selector.generation;
  }

  /** Notes which connections of the pool are in use. */
  observe(pool: pg.Pool): void {
    const note = (client: pg.ClientBase, usedSince: number | undefined) => {
      const watched = this.#clients.get(client);
      if (watched) watched.usedSince = usedSince;
    };
    pool.on("acquire", (client) => note(client, performance.now()));
    pool.on("release", (_error, client) => note(client, undefined));
  }

  /** Begins to watch the server behind a pooler, also while there are no statements. */
  followPooler(endpoint: ServerEndpoint | undefined): void {
    if (this.#limits.silenceMs === 0 || this.#poolerTimer !== undefined) return;
    // Its answer is not awaited: nothing depends on it yet.
    void this.#pooled.learn(endpoint);
    this.#poolerTimer = setInterval(() => {
      if (this.#pooled.isOutdated) void this.#askPooledServer();
    }, poolerCheckMs);
    this.#poolerTimer.unref();
  }

  /** Ends all timers. */
  stop(): void {
    clearInterval(this.#timer);
    clearInterval(this.#poolerTimer);
  }

  /** Ends all connections without waiting for the server. */
  endAll(): void {
    for (const client of this.#clients.values()) client.end(createTimeout("the connection was closed"));
  }

  /** The class of the clients of the pool: each connects to the server that is chosen when it is created. */
  createClientClass(): new (config?: pg.ClientConfig) => pg.Client {
    const watch = this;
    return class extends pg.Client {
      constructor(config?: pg.ClientConfig) {
        const socket = new Socket();
        super({ ...config, connectionString: watch.#selector.current.url, stream: () => socket });
        watch.#add(this, socket);
      }
    };
  }

  #add(client: pg.Client, socket: Socket): void {
    const { generation } = this.#selector;
    const watched: Watched = {
      generation,
      pending: new Set(),
      usedSince: undefined,
      end: (reason) => socket.destroy(reason),
    };
    this.#clients.set(client, watched);
    client.on("error", () => {
      this.#selector.suspect(generation);
      this.#pooled.expire();
    });
    client.once("end", () => this.#clients.delete(client));
    const query = client.query.bind(client) as (...parameters: unknown[]) => unknown;
    const begin = () => {
      const statement = { since: performance.now(), isLimited: unlimited.getStore() === undefined };
      watched.pending.add(statement);
      this.#start();
      return (error?: unknown) => {
        watched.pending.delete(statement);
        if ((error as { code?: string } | undefined)?.code === readOnly) this.#selector.abandon(generation);
      };
    };
    const watchedQuery = (...parameters: unknown[]): unknown => {
      const [first] = parameters;
      const end = begin();
      if (isSubmittable(first)) {
        const settle = first.callback;
        first.callback = (error, results) => {
          end(error);
          settle(error, results);
        };
        return query(...parameters);
      }
      const result = query(...parameters);
      if (result instanceof Promise) result.then(() => end(), end);
      else end();
      return result;
    };
    client.query = watchedQuery as typeof client.query;
  }

  #start(): void {
    if (this.#timer !== undefined) return;
    const { statementTimeoutMs, silenceMs } = this.#limits;
    const shortest = Math.min(...[statementTimeoutMs, silenceMs].filter((ms) => ms > 0));
    if (shortest === Number.POSITIVE_INFINITY) return;
    this.#timer = setInterval(() => this.#check(), Math.max(10, shortest / 4));
    this.#timer.unref();
  }

  #check(): void {
    const { statementTimeoutMs, silenceMs } = this.#limits;
    const now = performance.now();
    let pending = 0;
    let oldest = 0;
    for (const client of this.#clients.values()) {
      for (const { since, isLimited } of client.pending) {
        pending += 1;
        const age = now - since;
        if (isLimited && statementTimeoutMs > 0 && age > statementTimeoutMs) client.end(tooLong(statementTimeoutMs));
        else if (client.generation === this.#selector.generation) oldest = Math.max(oldest, age);
      }
    }
    if (pending === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    } else if (silenceMs > 0 && oldest > silenceMs) void this.#askServer();
  }

  /** A statement may take long; a server that does not even accept a connection is gone. */
  async #askServer(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const { generation, current } = this.#selector;
    const { probeTimeoutMs, silenceMs } = this.#limits;
    try {
      if (await isAnswering(current, probeTimeoutMs)) {
        await this.#askPooledServer();
        return;
      }
      this.#selector.abandon(generation);
      const reason = createTimeout(
        `${current.name} did not answer a statement for ${silenceMs} ms, nor a new connection for ${probeTimeoutMs} ms`,
      );
      for (const client of this.#clients.values()) if (client.generation === generation) client.end(reason);
    } finally {
      this.#isAsking = false;
    }
  }

  /**
   * A pooler that lives says nothing about its server. Connections that are not in use stay: the pooler gives them another
   * connection to a server. Those in use may be in the middle of a transaction on the silent one.
   */
  async #askPooledServer(): Promise<void> {
    const { current } = this.#selector;
    const silence = await this.#pooled.check();
    if (silence === undefined) return;
    const reason = createTimeout(
      `${silence.name}, the server behind ${current.name}, did not answer a new connection for ${this.#limits.probeTimeoutMs} ms`,
    );
    for (const { usedSince, end } of this.#clients.values()) {
      if (usedSince !== undefined && usedSince < silence.lostBeforeMs) end(reason);
    }
  }
}

function tooLong(timeoutMs: number): Error {
  return createTimeout(`a statement took longer than store.statementTimeoutMs, which is ${timeoutMs} ms`);
}

/** The code of the system for a timeout, so that it is translated like one. */
function createTimeout(message: string): Error {
  return Object.assign(new Error(message), { code: "ETIMEDOUT" });
}
