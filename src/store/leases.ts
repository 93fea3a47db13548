import { sql } from "kysely";
import type { Store } from "./port.ts";

export interface Lease {
  name: string;
  owner: string;
  until: number;
  fence: number;
}

/** Acquires a lease that is free, expired or already held by `owner`; `undefined` when another owner holds it. */
export async function takeLease(
  store: Store,
  name: string,
  owner: string,
  now: number,
  ttlMs: number,
): Promise<Lease | undefined> {
  const until = now + ttlMs;
  const take = store.db
    .insertInto("leases")
    .values({ name, owner, until, fence: 1 })
    .onConflict((conflict) =>
      conflict
        .column("name")
        .doUpdateSet({
          owner,
          until,
          fence: sql<number>`leases.fence + case when leases.owner = excluded.owner then 0 else 1 end`,
        })
        .where((where) => where.or([where("leases.owner", "=", owner), where("leases.until", "<=", now)])),
    )
    .returning("fence");
  const [taken] = await store.writeBatch([take]);
  const fence = taken.rows[0]?.fence;
  return fence === undefined ? undefined : { name, owner, until, fence };
}

/** Releases a lease unless another owner has acquired it since. */
export async function dropLease(store: Store, lease: Lease): Promise<void> {
  const drop = store.db.deleteFrom("leases").where("name", "=", lease.name).where("owner", "=", lease.owner);
  await store.writeBatch([drop]);
}

export async function listStaleLeases(store: Store, now: number): Promise<Lease[]> {
  return store.db.selectFrom("leases").selectAll().where("until", "<=", now).orderBy("name").execute();
}
