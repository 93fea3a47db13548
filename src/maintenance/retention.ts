import type { Config } from "../config/index.ts";
import { newId, parseDuration, roles } from "../domain/index.ts";
import { eraseMemoryVersions } from "../memory/index.ts";
import type { AuditLog } from "../security/index.ts";
import { dropLease, type Store, type Tx, takeLease } from "../store/index.ts";
import { redactEntries } from "../transcript/index.ts";

/** Counts of rows that retention removed; a kind without a period is absent. */
export interface RetentionReport {
  messages?: {
    /** Entries whose content was replaced by a placeholder. */
    removed: number;
    /** Summaries whose content was replaced, because all of their messages are older. */
    summaries: number;
    /** Summaries that still describe removed messages, because they also cover newer ones. */
    summariesKept: number;
  };
  memories?: { removed: number };
  /** Answered messages of the inbox. */
  inbox?: { removed: number };
  /** Results of turns; answered messages too when these have no period of their own. */
  turns?: { removed: number };
  audit?: { removed: number };
}

interface RetentionTarget {
  store: Store;
  config: Config;
  audit: AuditLog;
}

const placeholder = "[This message was removed: it is older than the retention period.]";
const summaryPlaceholder = "[This summary was removed: its messages are older than the retention period.]";
/** Marks a removed summary in a column that is never encrypted. */
const removedQuality = '{"faults":[],"removed":true}';
const cursorName = "retention_messages";
const pageRows = 500;
const deletedRows = 5_000;
const leaseMs = 600_000;
/** Entries with content. Others only place messages in the conversation. */
const contentKinds = [...roles, "custom_message", "custom", "compaction", "branch_summary", "label"];

/** Removes what is older than the periods of the settings. Undefined when another process is doing it. */
export async function applyRetention({ store, config, audit }: RetentionTarget): Promise<RetentionReport | undefined> {
  const { messages, memories, inbox, turns, audit: auditPeriod } = config.retention;
  const now = store.clock.now();
  const before = (period: string) => now - (parseDuration(period) ?? 0);
  const removeResults = async (period: string): Promise<number> => {
    const answered = inbox === undefined ? await removeInbox(store, before(period)) : 0;
    return answered + (await removeTurns(store, before(period)));
  };
  const lease = await takeLease(store, "retention", newId(store.clock, store.random), now, leaseMs);
  if (lease === undefined) return undefined;
  try {
    return {
      ...(messages === undefined ? {} : { messages: await removeMessages(store, before(messages)) }),
      ...(memories === undefined ? {} : { memories: await removeMemories(store, before(memories)) }),
      ...(inbox === undefined ? {} : { inbox: { removed: await removeInbox(store, before(inbox)) } }),
      ...(turns === undefined ? {} : { turns: { removed: await removeResults(turns) } }),
      ...(auditPeriod === undefined ? {} : { audit: { removed: await audit.removeBefore(before(auditPeriod)) } }),
    };
  } finally {
    await dropLease(store, lease);
  }
}

async function removeMessages(store: Store, cutoff: number): Promise<NonNullable<RetentionReport["messages"]>> {
  const cursor = await readCursor(store);
  let removed = 0;
  let seqMax = 0;
  for (let last = 0; ; ) {
    const page = await store.db
      .selectFrom("entries")
      .select(["agent", "seq"])
      .where("time", "<", cutoff)
      .where("kind", "in", contentKinds)
      .where("seq", ">", last)
      // Older ones are done, unless they were imported since.
      .where((eb) => eb.or([eb("time", ">=", cursor.time), eb("seq", ">", cursor.seq)]))
      .orderBy("seq")
      .limit(pageRows)
      .execute();
    for (const agent of new Set(page.map((row) => row.agent))) {
      const seqs = page.filter((row) => row.agent === agent).map(({ seq }) => seq);
      removed += (await store.transaction((tx) => redactEntries(tx, { agent, seqs }, placeholder))).entries;
    }
    last = page.at(-1)?.seq ?? last;
    seqMax = Math.max(seqMax, last);
    if (page.length < pageRows) break;
  }
  const summaries = await removeSummaries(store, cutoff);
  await writeCursor(store, { time: cutoff, seq: Math.max(cursor.seq, seqMax) });
  return { removed, ...summaries };
}

/** The nodes stay, so that the summaries above them still lead to their messages. */
async function removeSummaries(store: Store, cutoff: number): Promise<{ summaries: number; summariesKept: number }> {
  return store.transaction(async ({ db }) => {
    const old = await db
      .selectFrom("summaries")
      .select(["agent", "conversation", "id"])
      .where("latest_at", "<", cutoff)
      .where("quality", "<>", removedQuality)
      .execute();
    for (const { agent, conversation, id } of old) {
      await db
        .updateTable("summaries")
        .set({ content: summaryPlaceholder, quality: removedQuality })
        .where("agent", "=", agent)
        .where("conversation", "=", conversation)
        .where("id", "=", id)
        .execute();
      await db
        .deleteFrom("document_vectors")
        .where("agent", "=", agent)
        .where("kind", "=", "summary")
        .where("id", "=", id)
        .execute();
    }
    // A title may be the beginning of a removed message, and a recorded recall quotes messages.
    await db.updateTable("transcripts").set({ title: null }).where("started_at", "<", cutoff).execute();
    await db.deleteFrom("memory_recalls").where("time", "<", cutoff).execute();
    const kept = await db
      .selectFrom("summaries")
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .where("earliest_at", "<", cutoff)
      .where("latest_at", ">=", cutoff)
      .executeTakeFirstOrThrow();
    return { summaries: old.length, summariesKept: Number(kept.count) };
  });
}

/** Memories of which no version was stored or used since. */
async function removeMemories(store: Store, cutoff: number): Promise<{ removed: number }> {
  return store.transaction(async (tx) => {
    const roots = await tx.db
      .selectFrom("memories")
      .select("root")
      .groupBy("root")
      .having((eb) => eb(eb.fn.max("created_at"), "<", cutoff))
      .having((eb) => eb(eb.fn.coalesce(eb.fn.max("last_accessed_at"), eb.val(0)), "<", cutoff))
      .execute();
    let removed = 0;
    for (let from = 0; from < roots.length; from += pageRows) {
      const chunk = roots.slice(from, from + pageRows).map(({ root }) => root);
      const rows = await tx.db.selectFrom("memories").select("id").where("root", "in", chunk).execute();
      await eraseMemoryVersions(
        tx,
        rows.map(({ id }) => id),
      );
      removed += rows.length;
    }
    await tx.db.deleteFrom("memory_reviews").where("created_at", "<", cutoff).execute();
    return { removed };
  });
}

/** Answered messages only: one that waits or runs stays, however old it is. */
function removeInbox(store: Store, cutoff: number): Promise<number> {
  return removePages(store, (db) =>
    db
      .deleteFrom("inbox")
      .where("num", "in", (eb) =>
        eb
          .selectFrom("inbox")
          .select("num")
          .where("state", "=", "done")
          .where("updated_at", "<", cutoff)
          .orderBy("updated_at")
          .limit(deletedRows),
      ),
  );
}

function removeTurns(store: Store, cutoff: number): Promise<number> {
  return removePages(store, (db) =>
    db
      .deleteFrom("turns")
      .where(({ eb, refTuple, selectFrom }) =>
        eb(
          refTuple("agent", "conversation", "key"),
          "in",
          selectFrom("turns")
            .select(["agent", "conversation", "key"])
            .where("created_at", "<", cutoff)
            .orderBy("created_at")
            .limit(deletedRows)
            .$asTuple("agent", "conversation", "key"),
        ),
      ),
  );
}

/** Deletes page by page, each in a short transaction; returns how many rows there were. */
async function removePages(
  store: Store,
  remove: (db: Tx) => { executeTakeFirstOrThrow(): Promise<{ numDeletedRows: bigint }> },
): Promise<number> {
  for (let removed = 0; ; ) {
    const { numDeletedRows } = await store.transaction(({ db }) => remove(db).executeTakeFirstOrThrow());
    removed += Number(numDeletedRows);
    if (numDeletedRows < deletedRows) return removed;
  }
}

interface Cursor {
  /** Everything before this time was removed, up to this sequence number. */
  time: number;
  seq: number;
}

async function readCursor({ db }: Store): Promise<Cursor> {
  const row = await db.selectFrom("meta").select("value").where("name", "=", cursorName).executeTakeFirst();
  return row ? (JSON.parse(row.value) as Cursor) : { time: Number.MIN_SAFE_INTEGER, seq: 0 };
}

async function writeCursor(store: Store, cursor: Cursor): Promise<void> {
  const value = JSON.stringify(cursor);
  const write = store.db
    .insertInto("meta")
    .values({ name: cursorName, value })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ value }));
  await store.writeBatch([write]);
}
