import { sql } from "kysely";
import type { Store } from "./port.ts";

export interface Lease {
  name: string;
  owner: string;
  until: number;
  fence: number;
}

/** Takes a lease that is free, expired or already one's own; `undefined` when another owner holds it. */
export async function takeLease(
  store: Store,
  name: string,
  owner: string,
  now: number,
  ttlMs: number,
): Promise<Lease | undefined> {
  const until = now + ttlMs;
  return store.transaction(async ({ db }) => {
    const taken = await sql<{ fence: number }>`
      insert into leases (name, owner, until, fence) values (${name}, ${owner}, ${until}, 1)
      on conflict (name) do update set owner = excluded.owner, until = excluded.until,
        fence = leases.fence + case when leases.owner = excluded.owner then 0 else 1 end
      where leases.owner = excluded.owner or leases.until <= ${now}
      returning fence`.execute(db);
    const fence = taken.rows[0]?.fence;
    return fence === undefined ? undefined : { name, owner, until, fence };
  });
}

/** Gives a lease back; one that another owner took meanwhile is left alone. */
export async function dropLease(store: Store, lease: Lease): Promise<void> {
  await store.transaction(async ({ db }) => {
    await db.deleteFrom("leases").where("name", "=", lease.name).where("owner", "=", lease.owner).execute();
  });
}

export async function staleLeases(store: Store, now: number): Promise<Lease[]> {
  return store.db.selectFrom("leases").selectAll().where("until", "<=", now).orderBy("name").execute();
}
