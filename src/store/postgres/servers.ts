/** Chooses the server of an address that connections are opened to, and notices when it has to be chosen again. */
import { Socket } from "node:net";
import pg from "pg";
import { VarveError } from "../../domain/index.ts";
import type { DatabaseAddress, ServerAddress, SessionTarget } from "./address.ts";

/** The state of a server, as far as the choice depends on it. */
interface ServerRole {
  isStandby: boolean;
  isReadOnly: boolean;
}

/** Connects to a server and reads its role; rejects when it does not answer in time. */
export type ProbeServer = (server: ServerAddress, timeoutMs: number) => Promise<ServerRole>;

const isSuitable: Record<SessionTarget, (role: ServerRole) => boolean> = {
  any: () => true,
  "read-write": (role) => !role.isReadOnly,
  "read-only": (role) => role.isReadOnly,
  primary: (role) => !role.isStandby,
  standby: (role) => role.isStandby,
  "prefer-standby": (role) => role.isStandby,
};

/** Connections of an earlier generation belong to a server that failed or changed its role. */
export class ServerSelector {
  readonly #address: DatabaseAddress;
  readonly #timeoutMs: number;
  readonly #probe: ProbeServer;
  #current: ServerAddress;
  #isChosen: boolean;
  #generation = 0;
  #choosing: Promise<void> | undefined;

  constructor(address: DatabaseAddress, timeoutMs: number, probe: ProbeServer = probeServer) {
    this.#address = address;
    this.#timeoutMs = timeoutMs;
    this.#probe = probe;
    this.#current = address.servers[0];
    this.#isChosen = this.#hasNoChoice;
  }

  /** The server that new connections are opened to. */
  get current(): ServerAddress {
    return this.#current;
  }

  get generation(): number {
    return this.#generation;
  }

  /** A single server of any role is used without asking it. */
  get #hasNoChoice(): boolean {
    return this.#address.servers.length === 1 && this.#address.target === "any";
  }

  /** Makes sure that a server is chosen; all callers share one search. Rejects when no server is suitable. */
  async choose(): Promise<void> {
    if (this.#isChosen) return;
    this.#choosing ??= this.#search().finally(() => {
      this.#choosing = undefined;
    });
    await this.#choosing;
  }

  /** After a connection failed: the next one chooses a server. Other connections stay when it is the same. */
  suspect(generation = this.#generation): void {
    if (generation === this.#generation) this.#isChosen = this.#hasNoChoice;
  }

  /** After a server went silent or became read-only: none of its connections is used again. */
  abandon(generation = this.#generation): void {
    if (generation !== this.#generation) return;
    this.#generation += 1;
    this.#isChosen = this.#hasNoChoice;
  }

  /** Asks all servers at the same time, because a silent one answers only by its timeout. The first suitable one wins. */
  async #search(): Promise<void> {
    const { servers, target } = this.#address;
    const roles = servers.map((server) => this.#probe(server, this.#timeoutMs));
    const pick = (test: (role: ServerRole) => boolean) =>
      Promise.any(
        servers.map(async (server, index) => {
          const role = await roles[index];
          if (!role || !test(role)) throw new Error(`is ${role?.isReadOnly ? "read-only" : "writable"}`);
          return server;
        }),
      );
    try {
      const chosen = await pick(isSuitable[target]).catch((error: AggregateError) => {
        if (target === "prefer-standby") return pick(isSuitable.any);
        throw error;
      });
      if (chosen !== this.#current) this.#generation += 1;
      this.#current = chosen;
      this.#isChosen = true;
    } catch (error) {
      throw this.#describeFailure((error as AggregateError).errors);
    }
  }

  #describeFailure(reasons: readonly unknown[]): VarveError {
    const { servers, target } = this.#address;
    const each = servers.map(({ name }, index) => `${name}: ${describeReason(reasons[index])}`);
    return new VarveError(
      "STORE_UNREACHABLE",
      `No PostgreSQL server of the address can be used (target_session_attrs=${target}): ${each.join("; ")}.`,
      {
        remedy:
          "Check that the servers are running and that one of them is the primary; after a failover, promote the standby. Varve connects again by itself.",
        details: { servers: servers.map(({ name }) => name), target },
      },
    );
  }
}

function describeReason(reason: unknown): string {
  const { message, code } = reason as { message?: string; code?: string };
  return message || code || String(reason);
}

const roleQuery = "select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as read_only";

/** Reads the role over a connection of its own. */
async function probeServer(server: ServerAddress, timeoutMs: number): Promise<ServerRole> {
  return connectBriefly(server, timeoutMs, async (client) => {
    const { rows } = await client.query<{ standby: boolean; read_only: boolean }>(roleQuery);
    return { isStandby: rows[0]?.standby ?? false, isReadOnly: rows[0]?.read_only ?? false };
  });
}

/**
 * Whether a server completes the start of a connection in time. A full pooler does so too, while a frozen server does
 * not, although the system accepts connections in its name.
 */
export async function isAnswering(server: ServerAddress, timeoutMs: number): Promise<boolean> {
  try {
    return await connectBriefly(server, timeoutMs, async () => true);
  } catch (error) {
    // A server that refuses a connection, because there are too many for example, has answered.
    return error instanceof pg.DatabaseError;
  }
}

/** Runs work over a connection of its own, which is closed when that takes longer than the limit. */
export async function connectBriefly<T>(
  { url }: ServerAddress,
  timeoutMs: number,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const socket = new Socket();
  const client = new pg.Client({ connectionString: url, application_name: "varve-probe", stream: () => socket });
  // An error after the end of the work concerns nobody.
  client.on("error", () => undefined);
  const timer =
    timeoutMs === 0
      ? undefined
      : setTimeout(() => socket.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  try {
    await client.connect();
    return await work(client);
  } finally {
    clearTimeout(timer);
    // A silent server confirms nothing, so its end is not awaited.
    socket.destroySoon();
  }
}
