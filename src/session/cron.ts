import { parseSessionKey, printSessionKey, type SessionKey } from "../domain/index.ts";
import type { Store, StoreTransaction } from "../store/index.ts";
import type { MayEnd, ResetAnnouncer } from "./announce-reset.ts";
import { renewSession } from "./renew.ts";
import { createSession, findSessionRow, lockName } from "./rows.ts";
import { type Session, sessionFromRow } from "./session.ts";

/** Fields that are cleared between runs; preferences (thinking, verbosity, labels, model, auth) stay. */
const clearedForRun = {
  channel: null,
  room: null,
  space: null,
  subject: null,
  send_policy: null,
  elevated_level: null,
  origin: null,
};
/** Keys of `metadata` that bind a run to where it ran. */
const clearedMetadata = ["routing", "queuePolicy", "runtime"];

/** The session of a scheduled job, renewed for a forced run. */
export async function beginCronRun(
  store: Store,
  agent: string,
  jobId: string,
  announcer: ResetAnnouncer,
): Promise<Session> {
  const key: SessionKey = parseSessionKey(printSessionKey({ kind: "cron", jobId }));
  const keyText = printSessionKey(key);
  const begin = async (tx: StoreTransaction, mayEnd: MayEnd): Promise<Session> => {
    await tx.lock(lockName(agent, keyText));
    const found = await findSessionRow(tx.db, agent, keyText);
    if (!found) return sessionFromRow(await createSession(tx, { agent, key, keyText, door: "owner" }));
    const previous = sessionFromRow(found);
    mayEnd({ session: previous, kind: "reset", reason: "cron" });
    const renewed = await renewSession(tx, previous, "reset", "cron run");
    const metadata = Object.fromEntries(
      Object.entries(renewed.metadata).filter(([name]) => !clearedMetadata.includes(name)),
    );
    await tx.db
      .updateTable("sessions")
      .set({ ...clearedForRun, metadata: JSON.stringify(metadata) })
      .where("agent", "=", agent)
      .where("key", "=", keyText)
      .execute();
    const row = await findSessionRow(tx.db, agent, keyText);
    return row ? sessionFromRow(row) : renewed;
  };
  return announcer.renew((mayEnd) => store.transaction((tx) => begin(tx, mayEnd)));
}

export interface RunLogLimits {
  maxBytes: number;
  maxRows: number;
}

/** Stores the log of a run and removes the oldest logs of the job that exceed the limits. */
export async function logCronRun(
  store: Store,
  run: { agent: string; jobId: string; runId: string; log: string },
  limits: RunLogLimits,
): Promise<{ pruned: number }> {
  const { agent, jobId, runId, log } = run;
  return store.transaction(async ({ db }) => {
    const kept = { time: store.clock.now(), bytes: Buffer.byteLength(log), log };
    await db
      .insertInto("cron_runs")
      .values({ agent, job_id: jobId, run_id: runId, ...kept })
      .onConflict((conflict) => conflict.columns(["agent", "job_id", "run_id"]).doUpdateSet(kept))
      .execute();
    const runs = await db
      .selectFrom("cron_runs")
      .select(["run_id", "bytes"])
      .where("agent", "=", agent)
      .where("job_id", "=", jobId)
      .orderBy("time", "desc")
      .orderBy("run_id", "desc")
      .execute();
    let bytes = 0;
    const over = runs.filter((row, index) => {
      bytes += row.bytes;
      // The newest log stays, however large it is.
      return index > 0 && (index >= limits.maxRows || bytes > limits.maxBytes);
    });
    for (const row of over) {
      await db
        .deleteFrom("cron_runs")
        .where("agent", "=", agent)
        .where("job_id", "=", jobId)
        .where("run_id", "=", row.run_id)
        .execute();
    }
    return { pruned: over.length };
  });
}
