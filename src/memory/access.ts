import { runAsEngine } from "../authorization/index.ts";
import { newId } from "../domain/index.ts";
import { chooseTier } from "./decay.ts";
import type { MemoryContext } from "./memory-context.ts";
import { loadMemories } from "./rows.ts";
import { countAccess } from "./write.ts";

/** Counts how often memories are used. Uses are collected and written together, with a delay. */
export interface AccessCounter {
  record(ids: readonly string[]): void;
  /** Writes the collected counts now. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

interface Batch {
  id: string;
  counts: Map<string, { times: number; lastAt: number }>;
}

const batchMax = 1_000;
const keptMs = 86_400_000;

/**
 * Each batch is written with an idempotency key: when the answer to a write is lost, it is written again under the same
 * key and counted once. A crash loses the counts that were not written yet.
 */
export function createAccessCounter(
  context: Pick<MemoryContext, "store" | "settings">,
  debounceMs: number,
): AccessCounter {
  const { store } = context;
  let pending: Batch | undefined;
  let sending: Batch | undefined;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  const send = async (): Promise<void> => {
    sending ??= pending;
    if (!sending) return;
    if (sending === pending) pending = undefined;
    await writeAccesses(context, sending);
    sending = undefined;
    if (pending) await send();
  };
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    // The counts of all principals are written together.
    const next = running.then(() => runAsEngine(send));
    running = next.catch(() => undefined);
    return next;
  };
  return {
    record(ids) {
      if (ids.length === 0) return;
      pending ??= { id: newId(store.clock, store.random), counts: new Map() };
      const lastAt = store.clock.now();
      for (const id of ids) {
        const times = (pending.counts.get(id)?.times ?? 0) + 1;
        pending.counts.set(id, { times, lastAt });
      }
      // A batch that failed is written again with the next one.
      if (pending.counts.size >= batchMax) void flush().catch(() => undefined);
      timer ??= setTimeout(() => void flush().catch(() => undefined), debounceMs);
      timer.unref();
    },
    flush,
    async stop() {
      // A failed write may have been committed; the retry with the same key detects it.
      await flush().catch(() => flush());
    },
  };
}

async function writeAccesses(
  { store, settings }: Pick<MemoryContext, "store" | "settings">,
  batch: Batch,
): Promise<void> {
  await store.transaction(async (tx) => {
    const now = store.clock.now();
    const done = await tx.db
      .insertInto("memory_accesses")
      .values({ batch: batch.id, time: now })
      .onConflict((conflict) => conflict.column("batch").doNothing())
      .executeTakeFirst();
    if (Number(done.numInsertedOrUpdatedRows ?? 0) === 0) return;
    // A fixed order prevents deadlocks between processes.
    for (const [id, { times, lastAt }] of [...batch.counts].sort(([a], [b]) => (a < b ? -1 : 1))) {
      await countAccess(tx, id, times, lastAt);
    }
    const ids = [...batch.counts.keys()];
    const rows = await tx.db.selectFrom("memories").selectAll().where("id", "in", ids).execute();
    for (const memory of await loadMemories(tx.db, rows)) {
      const tier = chooseTier(memory, now, settings);
      if (tier !== memory.tier) await tx.db.updateTable("memories").set({ tier }).where("id", "=", memory.id).execute();
    }
    await tx.db
      .deleteFrom("memory_accesses")
      .where("time", "<", now - keptMs)
      .execute();
  });
}
