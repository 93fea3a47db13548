/**
 * The server behind a pooler. A pooler completes new connections by itself and lets statements wait for a free connection of
 * the server, so over it a silent server looks like a busy one: the server is asked directly, too.
 */
import { connect } from "node:net";
import type pg from "pg";

/** The address of a server, as the server itself reports it. */
export interface ServerEndpoint {
  host: string;
  port: number;
}

export type DirectAnswer = "answered" | "refused" | "silent";

export interface PooledServerProbes {
  /** Sends a statement to the server over a new connection to the pooler. Rejects when there is no answer in time. */
  locate(): Promise<ServerEndpoint | undefined>;
  /** Asks the server without the pooler. */
  ask(endpoint: ServerEndpoint): Promise<DirectAnswer>;
  nowMs(): number;
}

/** A server that gives no sign of life. */
export interface Silence {
  /** The server as `host:port`. */
  name: string;
  /** Transactions that began earlier are on that server; later ones on another. */
  lostBeforeMs: number;
}

/**
 * A pooler may be told of another server at any time, so its address is read again. A transaction that began on the new server
 * before that is taken for one of the old server if that one is silent, so the time is short.
 */
const refreshMs = 10_000;
const retryMs = 1_000;

export class PooledServer {
  readonly #probes: PooledServerProbes;
  /** The server, if it has answered directly. */
  #endpoint: ServerEndpoint | undefined;
  /** Whether the last direct question to it had no answer. */
  #isDoubtful = false;
  /** Infinite while no pooler is known. */
  #refreshAtMs = Number.POSITIVE_INFINITY;
  #locating: Promise<Located | undefined> | undefined;

  constructor(probes: PooledServerProbes) {
    this.#probes = probes;
  }

  /** Whether it is time for a check although nothing seems wrong. */
  get isOutdated(): boolean {
    return this.#locating === undefined && this.#probes.nowMs() >= this.#refreshAtMs;
  }

  /**
   * Remembers where the server is, once it has answered directly: a firewall may keep gateways away from it. A server that has
   * just answered through the pooler and not directly may have gone silent in between, so it is forgotten the second time.
   */
  async learn(endpoint: ServerEndpoint | undefined): Promise<void> {
    this.#refreshAtMs = this.#probes.nowMs() + refreshMs;
    const hasAnswered = endpoint !== undefined && (await this.#probes.ask(endpoint)) === "answered";
    const isKept = isSameEndpoint(endpoint, this.#endpoint) && !this.#isDoubtful;
    this.#isDoubtful = !hasAnswered && isKept;
    this.#endpoint = hasAnswered || isKept ? endpoint : undefined;
  }

  /** After a connection failed, the pooler may use another server. */
  expire(): void {
    if (this.#refreshAtMs === Number.POSITIVE_INFINITY) return;
    this.#refreshAtMs = Math.min(this.#refreshAtMs, this.#probes.nowMs() + retryMs);
  }

  /**
   * Finds out whether the server gives no sign of life, neither directly nor through the pooler. One that answers directly is
   * alive, however long the pooler lets statements wait; one that refuses connections has broken those of the pooler. An
   * answer of another server through the pooler is no sign of the first one, and says which statements are with the new one.
   */
  async check(): Promise<Silence | undefined> {
    const endpoint = this.#endpoint;
    if (endpoint === undefined) {
      if (this.isOutdated) await this.#locate();
      return undefined;
    }
    const locating = this.#locate();
    if (await this.#isAlive(endpoint, locating)) return undefined;
    return { name: formatEndpoint(endpoint), lostBeforeMs: (await locating)?.atMs ?? this.#probes.nowMs() };
  }

  async #isAlive(endpoint: ServerEndpoint, locating: Promise<Located | undefined>): Promise<boolean> {
    const expect = async (sign: Promise<boolean>): Promise<void> => {
      if (!(await sign)) throw new Error("no sign of life");
    };
    const direct = this.#probes.ask(endpoint).then((answer) => answer !== "silent");
    const pooled = locating.then((found) => isSameEndpoint(found?.endpoint, endpoint));
    return Promise.any([expect(direct), expect(pooled)]).then(
      () => true,
      () => false,
    );
  }

  /** The server that the pooler uses now; undefined without an answer in time. Callers share one connection. */
  #locate(): Promise<Located | undefined> {
    this.#locating ??= this.#locateOnce().finally(() => {
      this.#locating = undefined;
    });
    return this.#locating;
  }

  async #locateOnce(): Promise<Located | undefined> {
    try {
      const endpoint = await this.#probes.locate();
      const atMs = this.#probes.nowMs();
      void this.learn(endpoint);
      return { ...(endpoint === undefined ? {} : { endpoint }), atMs };
    } catch {
      // The server that is known stays so: it may be the one that does not answer.
      this.#refreshAtMs = this.#probes.nowMs() + retryMs;
      return undefined;
    }
  }
}

/** The address of the server, and when it was reported. */
interface Located {
  endpoint?: ServerEndpoint;
  atMs: number;
}

function isSameEndpoint(one: ServerEndpoint | undefined, other: ServerEndpoint | undefined): boolean {
  return one !== undefined && one.host === other?.host && one.port === other.port;
}

function formatEndpoint({ host, port }: ServerEndpoint): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/**
 * Whether the connection ends at the server itself, and otherwise where the server is: a pooler gives clients other process
 * numbers than the server's. A server that the pooler reaches by a socket file has no address.
 */
export async function readEndpoint(client: pg.ClientBase): Promise<{ isDirect: boolean; endpoint?: ServerEndpoint }> {
  const { rows } = await client.query<{ pid: number; host: string | null; port: number | null }>(
    "select pg_backend_pid() as pid, host(inet_server_addr()) as host, inet_server_port() as port",
  );
  const { pid, host = null, port = null } = rows[0] ?? {};
  const isDirect = pid === (client as unknown as { processID?: number }).processID;
  return { isDirect, ...(isDirect || host === null || port === null ? {} : { endpoint: { host, port } }) };
}

/** The message that asks for encryption: every server answers it with one byte, before it looks at any right of access. */
const encryptionRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
/** Errors that mean that no machine answered. */
const unanswered = new Set(["ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "EHOSTDOWN"]);

/** Whether a server answers at all. Sends no name and no password. */
export function askDirectly({ host, port }: ServerEndpoint, timeoutMs: number): Promise<DirectAnswer> {
  const { promise, resolve } = Promise.withResolvers<DirectAnswer>();
  const socket = connect(port, host, () => socket.write(encryptionRequest));
  const timer = setTimeout(() => resolve("silent"), timeoutMs);
  socket
    .once("data", () => resolve("answered"))
    .once("error", ({ code = "" }: NodeJS.ErrnoException) => resolve(unanswered.has(code) ? "silent" : "refused"))
    .once("close", () => resolve("refused"));
  // No process stays alive for an answer.
  socket.unref();
  timer.unref();
  return promise.finally(() => {
    clearTimeout(timer);
    socket.destroy();
  });
}
