import { hostname } from "node:os";
import { sql } from "kysely";
import { runAsEngine } from "../../authorization/index.ts";
import type { Store } from "../../store/index.ts";
import { type AuditEvent, type AuditRecord, type ChainLink, recordFromRow } from "./audit-record.ts";
import { AuditWriter, putLink } from "./audit-writer.ts";
import { type ChainReport, verifyChain } from "./verify-chain.ts";

export interface AuditQuery {
  /** Only records from this time on. */
  since?: number;
  /** Only records with a smaller number: the next page of a list. */
  beforeNum?: number;
  /** A caller as it is recorded, or the name or the id of a token in the database. */
  principal?: string;
  /** Default: 50. */
  limit?: number;
}

/** The log of who read or changed what. */
export interface AuditLog {
  /** Whether events are recorded: the setting `gateway.audit`. */
  readonly enabled: boolean;
  /**
   * Records an event, unless the log is off. The promise resolves when the record is on disk; with `durable: false`, when
   * it would survive a crash of this process.
   */
  record(event: AuditEvent, options?: { durable?: boolean }): Promise<void>;
  /** Whether so many records could not be written that no more are accepted. */
  readonly isBlocked: boolean;
  /** The newest first. */
  list(query?: AuditQuery): Promise<AuditRecord[]>;
  /** Checks the chain from its start; `expected` is a head that was noted earlier. */
  verify(expected?: ChainLink): Promise<ChainReport>;
  /** Removes the records before a time, and keeps the link to them, so that the rest can still be checked. */
  removeBefore(time: number): Promise<number>;
  /** Writes what is pending. */
  close(): Promise<void>;
}

/** Tokens of the database are recorded as `NAME (ID)`. */
function isCaller(asked: string) {
  const escaped = asked.replaceAll(/[\\%_]/g, "\\$&");
  return sql<boolean>`(principal = ${asked} or principal like ${`${escaped} (token\\_%)`} escape '\\' or principal like ${`% (${escaped})`} escape '\\')`;
}

export function createAuditLog(store: Store, enabled: boolean): AuditLog {
  const writer = new AuditWriter(store, `${process.pid}@${hostname()}`);
  return {
    enabled,
    async record(event, { durable = true } = {}) {
      // The log belongs to no tenant.
      if (enabled) await runAsEngine(() => writer.append(event, durable));
    },
    get isBlocked() {
      return writer.isFull;
    },
    async list({ since, beforeNum, principal, limit = 50 } = {}) {
      let query = store.db.selectFrom("audit").selectAll().orderBy("num", "desc").limit(limit);
      if (since !== undefined) query = query.where("time", ">=", since);
      if (beforeNum !== undefined) query = query.where("num", "<", beforeNum);
      if (principal !== undefined) query = query.where(isCaller(principal));
      return (await query.execute()).map(recordFromRow);
    },
    verify: (expected) => verifyChain(store, expected),
    removeBefore: (time) =>
      store.transaction(async (tx) => {
        await tx.lock("audit");
        const kept = await tx.db
          .selectFrom("audit")
          .select((eb) => eb.fn.min("num").as("num"))
          .where("time", ">=", time)
          .executeTakeFirst();
        const removed = tx.db.selectFrom("audit").select(["num", "hash"]).orderBy("num", "desc").limit(1);
        const last = await (kept?.num == null
          ? removed
          : removed.where("num", "<", Number(kept.num))
        ).executeTakeFirst();
        if (last === undefined) return 0;
        const { numDeletedRows } = await tx.db
          .deleteFrom("audit")
          .where("num", "<=", last.num)
          .executeTakeFirstOrThrow();
        await putLink(tx.db, "anchor", { num: last.num, hash: last.hash }).execute();
        return Number(numDeletedRows);
      }),
    close: () => writer.flush(),
  };
}
