/** Reads that tolerate some seconds of lag go to a replica; whatever is wrong with it, the primary answers. */
import { AsyncLocalStorage } from "node:async_hooks";
import type pg from "pg";
import { VarveError } from "../../domain/index.ts";
import type { OpenStoreOptions } from "../port.ts";
import { type Connections, openConnections } from "./connections.ts";

/** A replica that is further behind is not read. */
const defaultLagMsMax = 10_000;
/** How long a replica is left alone after a failure, and how often its lag is read. */
const checkMs = 5_000;

interface ReplicaRead {
  isOver: boolean;
  hasUsedReplica: boolean;
}

/** Undefined outside of such a read, and inside of a transaction that may write. */
const current = new AsyncLocalStorage<ReplicaRead | undefined>();

/** Runs work on the primary, wherever it was started. */
export function onPrimary<T>(work: () => Promise<T>): Promise<T> {
  return current.run(undefined, work);
}

// A server that has replayed everything it received is not behind, however long ago the last change was.
const lagQuery = `select case when not pg_is_in_recovery() or pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() then 0
  else coalesce(extract(epoch from now() - pg_last_xact_replay_timestamp()) * 1000, 0) end::float8 as lag`;

export interface ReplicaState {
  lagMs?: number;
  /** Why the primary answers instead. */
  fault?: string;
}

export class Replica {
  readonly #connections: Connections;
  readonly #lagMsMax: number;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #state: ReplicaState = {};
  #isPoolerDetected = false;

  constructor(options: OpenStoreOptions, address: string, lagMsMax = defaultLagMsMax) {
    this.#lagMsMax = lagMsMax;
    // It is never waited for: the primary is there.
    this.#connections = openConnections({ ...options, database: address, reconnectMs: 0 }, "any");
  }

  /** Runs reads on the replica, and once more on the primary when that fails. The work must not write. */
  async read<T>(work: () => Promise<T>): Promise<T> {
    const read: ReplicaRead = { isOver: false, hasUsedReplica: false };
    try {
      return await current.run(read, work);
    } catch (error) {
      if (!read.hasUsedReplica || !(error instanceof VarveError)) throw error;
      this.#leaveAlone(error.message);
      return onPrimary(work);
    } finally {
      // What the work has started in the background is not part of it.
      read.isOver = true;
    }
  }

  /** A connection to the replica where the caller reads with lag and the replica is usable; otherwise undefined. */
  async checkOut(): Promise<pg.PoolClient | undefined> {
    const read = current.getStore();
    if (read === undefined || read.isOver) return undefined;
    const isChecked = performance.now() - this.#checkedAt < checkMs;
    if (isChecked && this.#state.fault !== undefined) return undefined;
    let client: pg.PoolClient | undefined;
    try {
      client = await this.#connections.checkOut();
      if (!isChecked) await this.#check(client);
      if (this.#state.fault === undefined) {
        read.hasUsedReplica = true;
        return client;
      }
    } catch (error) {
      this.#leaveAlone(error instanceof Error ? error.message : String(error));
    }
    client?.release();
    return undefined;
  }

  async #check(client: pg.PoolClient): Promise<void> {
    if (!this.#isPoolerDetected) await this.#connections.detectPooler(client);
    this.#isPoolerDetected = true;
    const { rows } = await client.query<{ lag: number }>(lagQuery);
    const lagMs = Math.round(rows[0]?.lag ?? 0);
    const fault = `it is ${lagMs} ms behind, and at most ${this.#lagMsMax} are allowed`;
    this.#state = { lagMs, ...(lagMs > this.#lagMsMax ? { fault } : {}) };
    this.#checkedAt = performance.now();
  }

  #leaveAlone(fault: string): void {
    this.#state = { fault };
    this.#checkedAt = performance.now();
  }

  /** Asks the replica now. */
  async describe(): Promise<ReplicaState> {
    this.#checkedAt = Number.NEGATIVE_INFINITY;
    this.#state = {};
    const client = await current.run({ isOver: false, hasUsedReplica: false }, () => this.checkOut());
    client?.release();
    return this.#state;
  }

  end(): Promise<void> {
    return this.#connections.end();
  }
}
