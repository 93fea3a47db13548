import type { NewJob, Store, StoreTransaction } from "./port.ts";
import type { JobTable } from "./schema.ts";

/** Writes a job in the caller's transaction; one that waits under the same key already is enough, one that failed begins anew. */
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

/** Holds a job for longer; false when it was lost to another worker. */
export async function extendJob(store: Store, job: JobTable, until: number): Promise<boolean> {
  const [held] = await store.writeBatch([heldJob(store, job).set({ lease_until: until })], lost);
  return held.changes === 1;
}

/** The row of a job, as long as its lease is the caller's. */
function heldJob({ db }: Store, job: JobTable) {
  return db
    .updateTable("jobs")
    .where("agent", "=", job.agent)
    .where("id", "=", job.id)
    .where("lease_owner", "=", job.lease_owner)
    .where("attempts", "=", job.attempts);
}

/** Leases one job that is due, or whose worker died; two workers never get the same one. */
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
  // A look without a lock: who has nothing to do leaves the writer in peace.
  if ((await due.executeTakeFirst()) === undefined) return undefined;
  const first = store.engine === "postgres" ? due.forUpdate().skipLocked() : due;
  // Read once, whatever the plan is: read again it would be the next job.
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
  const [leased] = await store.writeBatch([lease], lost);
  return leased.rows[0];
}

/** A lease, or the end of a job, that is lost with the power only has the job done again. */
const lost = { sync: false };

/** Ends a job whose lease is still the caller's; false when it was lost to another worker. */
export async function finishJob(store: Store, job: JobTable): Promise<boolean> {
  const done = store.db
    .deleteFrom("jobs")
    .where("agent", "=", job.agent)
    .where("id", "=", job.id)
    .where("lease_owner", "=", job.lease_owner)
    .where("attempts", "=", job.attempts);
  const [ended] = await store.writeBatch([done], lost);
  return ended.changes === 1;
}

/** Puts a failed job back for later, or sets it aside for a person to see after its last attempt. */
export async function failJob(
  store: Store,
  job: JobTable,
  error: string,
  retryAt: number | undefined,
  now: number,
): Promise<void> {
  const put = heldJob(store, job).set({
    state: retryAt === undefined ? "failed" : "waiting",
    run_at: retryAt ?? job.run_at,
    lease_owner: null,
    lease_until: null,
    last_error: error,
    updated_at: now,
  });
  await store.writeBatch([put]);
}

/** Gives back a job that was begun and left, as if it had not been begun: whoever works next does it. */
export async function returnJob(store: Store, job: JobTable, now: number): Promise<void> {
  const given = heldJob(store, job).set({
    state: "waiting",
    attempts: job.attempts - 1,
    lease_owner: null,
    lease_until: null,
    updated_at: now,
  });
  await store.writeBatch([given], lost);
}
