import { newId } from "../domain/index.ts";
import type { MemoryHost } from "./host.ts";
import { loadMemories } from "./rows.ts";
import { nextTier } from "./tiers.ts";
import { countAccess } from "./write.ts";

/** Counts the use of memories. Many uses are written at once, a moment later. */
export interface AccessCounter {
  note(ids: readonly string[]): void;
  /** Writes what was noted; also done by itself. */
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
 * A batch has a name that is written with it. When the answer to a write got lost, the batch is written again under the
 * same name, and what was counted is not counted twice. A crash loses what was not written yet, once.
 */
export function createAccessCounter(
  host: Pick<MemoryHost, "store" | "clock" | "random">,
  debounceMs: number,
): AccessCounter {
  let pending: Batch | undefined;
  let sending: Batch | undefined;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  const send = async (): Promise<void> => {
    sending ??= pending;
    if (!sending) return;
    if (sending === pending) pending = undefined;
    await write(host, sending);
    sending = undefined;
    if (pending) await send();
  };
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const next = running.then(send);
    running = next.catch(() => undefined);
    return next;
  };
  return {
    note(ids) {
      if (ids.length === 0) return;
      pending ??= { id: newId(host.clock, host.random), counts: new Map() };
      const lastAt = host.clock.now();
      for (const id of ids) {
        const times = (pending.counts.get(id)?.times ?? 0) + 1;
        pending.counts.set(id, { times, lastAt });
      }
      // What could not be written stays for the next time.
      if (pending.counts.size >= batchMax) void flush().catch(() => undefined);
      timer ??= setTimeout(() => void flush().catch(() => undefined), debounceMs);
      timer.unref();
    },
    flush,
    async stop() {
      // Whether a write that failed was done is not known; the second one finds out.
      await flush().catch(() => flush());
    },
  };
}

async function write({ store, clock }: Pick<MemoryHost, "store" | "clock">, batch: Batch): Promise<void> {
  await store.transaction(async (tx) => {
    const now = clock.now();
    const done = await tx.db
      .insertInto("memory_accesses")
      .values({ batch: batch.id, time: now })
      .onConflict((conflict) => conflict.column("batch").doNothing())
      .executeTakeFirst();
    if (Number(done.numInsertedOrUpdatedRows ?? 0) === 0) return;
    // The same order everywhere, so that two processes never wait for each other.
    for (const [id, { times, lastAt }] of [...batch.counts].sort(([a], [b]) => (a < b ? -1 : 1))) {
      await countAccess(tx, id, times, lastAt);
    }
    const ids = [...batch.counts.keys()];
    const rows = await tx.db.selectFrom("memories").selectAll().where("id", "in", ids).execute();
    for (const memory of await loadMemories(tx.db, rows)) {
      const tier = nextTier(memory, now);
      if (tier !== memory.tier) await tx.db.updateTable("memories").set({ tier }).where("id", "=", memory.id).execute();
    }
    await tx.db
      .deleteFrom("memory_accesses")
      .where("time", "<", now - keptMs)
      .execute();
  });
}
