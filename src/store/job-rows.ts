import type { NewJob, Store, StoreTransaction } from "./port.ts";
import type { JobTable } from "./schema.ts";

/**
 * Writes a job in the caller's transaction. A pending job with the same key is left as it is; a failed one is queued
 * again.
 */
export async function enqueueJob(tx: StoreTransaction, job: NewJob, now: number): Promise<void> {
  await tx.db
    .insertInto("jobs")
    .values({
      agent: job.agent,
      id: job.id,
      kind: job.kind,
      key: job.key,
      payload: job.payload,
      state: "waiting",
      attempts: 0,
      run_at: job.runAt,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) =>
      conflict
        .columns(["agent", "kind", "key"])
        .doUpdateSet({ state: "waiting", attempts: 0, payload: job.payload, run_at: job.runAt, updated_at: now })
        .where("jobs.state", "=", "failed"),
    )
    .execute();
}

/** Extends the lease of a job; false when another worker holds it now. */
export async function extendJob(store: Store, job: JobTable, until: number): Promise<boolean> {
  const [held] = await store.writeBatch([updateHeldJob(store, job).set({ lease_until: until })], withoutSync);
  return held.changes === 1;
}

/** Matches the job only while the caller holds its lease. */
function updateHeldJob({ db }: Store, job: JobTable) {
  return db
    .updateTable("jobs")
    .where("agent", "=", job.agent)
    .where("id", "=", job.id)
    .where("lease_owner", "=", job.lease_owner)
    .where("attempts", "=", job.attempts);
}

/** Leases one job that is due or whose lease has expired. No two workers ever get the same one. */
export async function leaseJob(
  store: Store,
  kinds: string[],
  owner: string,
  now: number,
  leaseMs: number,
): Promise<JobTable | undefined> {
  if (kinds.length === 0) return undefined;
  const due = store.db
    .selectFrom("jobs")
    .select(["agent", "id"])
    .where("kind", "in", kinds)
    .where((where) =>
      where.or([
        where.and([where("state", "=", "waiting"), where("run_at", "<=", now)]),
        where.and([where("state", "=", "running"), where("lease_until", "<=", now)]),
      ]),
    )
    .orderBy("run_at")
    .orderBy("id")
    .limit(1);
  // A read without a lock first: an idle worker must not block the writer.
  if ((await due.executeTakeFirst()) === undefined) return undefined;
  const first = store.engine === "postgres" ? due.forUpdate().skipLocked() : due;
  // Materialised so that it is evaluated once: a second evaluation could return the next job.
  const lease = store.db
    .with(
      (cte) => cte("due").materialized(),
      () => first,
    )
    .updateTable("jobs")
    .set((eb) => ({
      state: "running",
      attempts: eb("attempts", "+", 1),
      lease_owner: owner,
      lease_until: now + leaseMs,
      updated_at: now,
    }))
    .where(({ eb, refTuple, selectFrom }) =>
      eb(refTuple("agent", "id"), "in", selectFrom("due").select(["due.agent", "due.id"]).$asTuple("agent", "id")),
    )
    .returningAll();
  const [leased] = await store.writeBatch([lease], withoutSync);
  return leased.rows[0];
}

/** Losing a lease or the end of a job in a power failure only repeats the job. */
const withoutSync = { sync: false };

/** Deletes a finished job; false when another worker holds its lease now. */
export async function finishJob(store: Store, job: JobTable): Promise<boolean> {
  const done = store.db
    .deleteFrom("jobs")
    .where("agent", "=", job.agent)
    .where("id", "=", job.id)
    .where("lease_owner", "=", job.lease_owner)
    .where("attempts", "=", job.attempts);
  const [ended] = await store.writeBatch([done], withoutSync);
  return ended.changes === 1;
}

/** Schedules a failed job for a retry, or marks it `failed` after its last attempt (`retryAt` undefined). */
export async function failJob(
  store: Store,
  job: JobTable,
  error: string,
  retryAt: number | undefined,
  now: number,
): Promise<void> {
  const put = updateHeldJob(store, job).set({
    state: retryAt === undefined ? "failed" : "waiting",
    run_at: retryAt ?? job.run_at,
    lease_owner: null,
    lease_until: null,
    last_error: error,
    updated_at: now,
  });
  await store.writeBatch([put]);
}

/** Returns an unfinished job to the queue without counting the attempt. */
export async function returnJob(store: Store, job: JobTable, now: number): Promise<void> {
  const returned = updateHeldJob(store, job).set({
    state: "waiting",
    attempts: job.attempts - 1,
    lease_owner: null,
    lease_until: null,
    updated_at: now,
  });
  await store.writeBatch([returned], withoutSync);
}
