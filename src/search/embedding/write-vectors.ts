import { type Embedded, toBytes } from "../../models/index.ts";
import { isOfAgent, type Schema, type Store, type StoreTransaction } from "../../store/index.ts";
import { toSignedBytes, toUnsignedBytes } from "../vectors/math.ts";
import type { PendingPage, PendingText } from "./pending-texts.ts";
import { formatGaps } from "./progress.ts";

type RowsToWrite = { [Table in "entry_vectors" | "entry_tokens" | "document_vectors"]: Schema[Table][] };

interface Target {
  agent: string;
  space: number;
}

/** Writes the vectors of a page and its progress in one transaction: after a crash the page is embedded again. */
export async function writePage(
  store: Store,
  { agent, space }: Target,
  page: PendingPage,
  vectors: readonly Embedded[],
): Promise<void> {
  const write = async ({ db }: StoreTransaction): Promise<void> => {
    const seqs = page.items.flatMap((item) => ("seq" in item.key ? item.key.seq : []));
    // Entries that were deleted while they were embedded are skipped.
    const existing = new Set(
      seqs.length === 0
        ? []
        : (
            await db
              .selectFrom("entries")
              .select("seq")
              .where("seq", "in", seqs)
              .where(isOfAgent(store, agent))
              .execute()
          ).map((row) => row.seq),
    );
    const rows = toVectorRows(store, { agent, space }, page.items, vectors, existing);
    for (const table of ["entry_vectors", "entry_tokens", "document_vectors"] as const) {
      if (rows[table].length === 0) continue;
      await db
        .insertInto(table)
        .values(rows[table])
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
    if (existing.size === 0 && page.progress === undefined) return;
    const now = store.clock.now();
    const gaps = page.progress && formatGaps(page.progress.gaps);
    await db
      .insertInto("search_states")
      .values({ agent, space, entry_seq: page.progress?.entrySeq ?? 0, entries: existing.size, updated_at: now, gaps })
      .onConflict((conflict) =>
        conflict.columns(["agent", "space"]).doUpdateSet((eb) => ({
          ...(page.progress ? { entry_seq: page.progress.entrySeq, gaps } : {}),
          entries: eb("search_states.entries", "+", existing.size),
          updated_at: now,
        })),
      )
      .execute();
  };
  // Vectors and their progress are lost together in a power failure, and made again.
  await store.transaction(write, { sync: false });
}

function toVectorRows(
  store: Store,
  { agent, space }: Target,
  items: readonly PendingText[],
  vectors: readonly Embedded[],
  existing: ReadonlySet<number>,
): RowsToWrite {
  const encode = store.vectors?.encode;
  const rows: RowsToWrite = { entry_vectors: [], entry_tokens: [], document_vectors: [] };
  for (const [index, { key }] of items.entries()) {
    const made = vectors[index];
    if (!made) continue;
    const vector = toUnsignedBytes(toBytes(made.vector));
    const states = toUnsignedBytes(made.tokens ?? new Int8Array(0));
    if (!("seq" in key)) rows.document_vectors.push({ agent, space, ...key, vector, states });
    else if (existing.has(key.seq)) {
      const { seq, conversation, time } = key;
      rows.entry_vectors.push({
        ...{ agent, space, seq, conversation, time, vector },
        ...(encode ? { embedding: encode(made.vector) } : {}),
      });
      if (made.tokens) rows.entry_tokens.push({ agent, space, seq, conversation, states });
    }
  }
  return rows;
}

/** Skips memories that were purged while they were embedded. */
export async function writeMemoryVectors(
  store: Store,
  space: number,
  memories: readonly { scope: string; num: number; id: string }[],
  vectors: readonly Embedded[],
): Promise<void> {
  const values = memories.flatMap(({ scope, num, id }, index) => {
    const made = vectors[index];
    return made ? [{ scope, space, num, memory: id, vector: toUnsignedBytes(toBytes(made.vector)) }] : [];
  });
  await store.transaction(async ({ db }) => {
    const ids = values.map((row) => row.memory);
    const rows = ids.length === 0 ? [] : await db.selectFrom("memories").select("id").where("id", "in", ids).execute();
    const existing = new Set(rows.map((row) => row.id));
    const left = values.filter((row) => existing.has(row.memory));
    if (left.length === 0) return;
    await db
      .insertInto("memory_vectors")
      .values(
        left.map((row) =>
          store.vectors ? { ...row, embedding: store.vectors.encode(toSignedBytes(row.vector)) } : row,
        ),
      )
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  });
}
