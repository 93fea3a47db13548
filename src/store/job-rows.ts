import type { NewJob, Store, StoreTransaction } from "./port.ts";
import type { Db, JobTable, Tx } from "./schema.ts";

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
  return store.transaction(async ({ db }) => {
    const held = await db
      .updateTable("jobs")
      .set({ lease_until: until })
      .where("agent", "=", job.agent)
      .where("id", "=", job.id)
      .where("lease_owner", "=", job.lease_owner)
      .where("attempts", "=", job.attempts)
      .executeTakeFirst();
    return Number(held.numUpdatedRows) === 1;
  });
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
  const dueIn = (db: Db | Tx) =>
    db
      .selectFrom("jobs")
      .selectAll()
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
  if ((await dueIn(store.db).executeTakeFirst()) === undefined) return undefined;
  return store.transaction(async ({ db }) => {
    let due = dueIn(db);
    if (store.engine === "postgres") due = due.forUpdate().skipLocked();
    const job = await due.executeTakeFirst();
    if (!job) return undefined;
    const leased = {
      state: "running",
      attempts: job.attempts + 1,
      lease_owner: owner,
      lease_until: now + leaseMs,
      updated_at: now,
    };
    await db.updateTable("jobs").set(leased).where("agent", "=", job.agent).where("id", "=", job.id).execute();
    return { ...job, ...leased };
  }, lost);
}

/** A lease, or the end of a job, that is lost with the power only has the job done again. */
const lost = { durable: false };

/** Ends a job whose lease is still the caller's; false when it was lost to another worker. */
export async function finishJob(store: Store, job: JobTable): Promise<boolean> {
  return store.transaction(async ({ db }) => {
    const done = await db
      .deleteFrom("jobs")
      .where("agent", "=", job.agent)
      .where("id", "=", job.id)
      .where("lease_owner", "=", job.lease_owner)
      .where("attempts", "=", job.attempts)
      .executeTakeFirst();
    return Number(done.numDeletedRows) === 1;
  }, lost);
}

/** Puts a failed job back for later, or sets it aside for a person to see after its last attempt. */
export async function failJob(
  store: Store,
  job: JobTable,
  error: string,
  retryAt: number | undefined,
  now: number,
): Promise<void> {
  await store.transaction(async ({ db }) => {
    await db
      .updateTable("jobs")
      .set({
        state: retryAt === undefined ? "failed" : "waiting",
        run_at: retryAt ?? job.run_at,
        lease_owner: null,
        lease_until: null,
        last_error: error,
        updated_at: now,
      })
      .where("agent", "=", job.agent)
      .where("id", "=", job.id)
      .where("lease_owner", "=", job.lease_owner)
      .where("attempts", "=", job.attempts)
      .execute();
  });
}
