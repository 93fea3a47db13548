import { compareFacts } from "./compare/compare-facts.ts";
import { chooseTier, dayMs } from "./decay.ts";
import { applyDecision, type Decision, linkConflicts } from "./decisions.ts";
import { categories, type Memory } from "./memory.ts";
import type { MemoryContext } from "./memory-context.ts";
import { selectMemories } from "./read.ts";
import { loadMemories } from "./rows.ts";
import { findSimilar } from "./similar-memories.ts";
import { dropUnconfirmed } from "./tentative.ts";
import { getFactText } from "./versions.ts";

export interface MemoryMaintenance {
  looked: number;
  moved: Record<string, number>;
  merged: number;
  /** Tentative memories that nobody confirmed in time. */
  dropped: number;
}

const page = 500;
/** The cosine of words from which memories are compared. */
const nearDuplicateFrom = 0.8;
const mergesMax = 200;
/** Only memories of the last days are checked for near-duplicates; older ones were checked before. */
const newDays = 30;
/** New memories are compared with others for conflicts. */
const linkDays = 2;

/** Updates the tiers of memories and merges near-duplicates; every version is preserved. */
export async function maintainMemories(context: MemoryContext, signal?: AbortSignal): Promise<MemoryMaintenance> {
  const dropped = await dropUnconfirmed(context, context.store.clock.now());
  const result: MemoryMaintenance = { looked: 0, moved: {}, merged: 0, dropped };
  for (let last = 0; ; ) {
    signal?.throwIfAborted();
    const rows = await selectMemories(context.store.db, undefined, {}, context.store.clock.now())
      .selectAll()
      .where("num", ">", last)
      .orderBy("num")
      .limit(page)
      .execute();
    if (rows.length === 0) return result;
    last = rows.at(-1)?.num ?? last;
    const memories = await loadMemories(context.store.db, rows);
    result.looked += memories.length;
    await moveTiers(context, memories, result);
    const since = context.store.clock.now() - newDays * dayMs;
    for (const memory of memories.filter((one) => one.createdAt >= since)) {
      if (result.merged >= mergesMax) break;
      if (await mergeDuplicate(context, memory)) result.merged += 1;
    }
    const linkSince = context.store.clock.now() - linkDays * dayMs;
    for (const memory of memories.filter((one) => one.createdAt >= linkSince)) await linkWithOthers(context, memory);
  }
}

async function moveTiers(
  context: MemoryContext,
  memories: readonly Memory[],
  result: MemoryMaintenance,
): Promise<void> {
  const now = context.store.clock.now();
  const moves = memories
    .map((memory) => ({ memory, tier: chooseTier(memory, now, context.settings) }))
    .filter(({ memory, tier }) => memory.tier !== tier);
  if (moves.length === 0) return;
  await context.store.transaction(async (tx) => {
    for (const { memory, tier } of moves) {
      await tx.db
        .updateTable("memories")
        .set({ tier })
        .where("id", "=", memory.id)
        .where("access_count", "=", memory.accessCount)
        .execute();
    }
  });
  for (const { memory, tier } of moves) {
    const step = `${memory.tier} → ${tier}`;
    result.moved[step] = (result.moved[step] ?? 0) + 1;
  }
}

/** Merges a memory into an older one that says the same. */
async function mergeDuplicate(context: MemoryContext, memory: Memory): Promise<boolean> {
  if (!categories[memory.category].merges) return false;
  const draft = { ...memory, label: "general" as const };
  const similar = await findSimilar(
    context.store,
    memory.scope,
    { draft },
    { limit: 5, duplicatesFrom: nearDuplicateFrom, thorough: true },
  );
  const nearDuplicate = similar.find(
    ({ memory: other }) =>
      other.id < memory.id &&
      other.category === memory.category &&
      other.fiction === memory.fiction &&
      compareFacts(getFactText(memory), getFactText(other)).relation === "same",
  )?.memory;
  if (!nearDuplicate) return false;
  const merged = {
    abstract: memory.abstract,
    overview: memory.overview,
    content: chooseLonger(nearDuplicate.content, memory.content),
  };
  const decision: Decision = {
    kind: "merge",
    match: nearDuplicate.id,
    label: "general",
    reason: "near-duplicate",
    merged,
  };
  const now = context.store.clock.now();
  return context.store.transaction(async (tx) => {
    await tx.lock(`memories ${memory.scope}`);
    const done = await tx.db
      .updateTable("memories")
      .set({ invalidated_at: now })
      .where("id", "=", memory.id)
      .where("invalidated_at", "is", null)
      .executeTakeFirst();
    if (Number(done.numUpdatedRows) !== 1) return false;
    const { agent, scope } = memory;
    const applied = await applyDecision(tx, { draft: { ...draft, validFrom: now } }, decision, { agent, scope });
    await tx.db
      .updateTable("memories")
      .set({ superseded_by: applied.memory ?? null })
      .where("id", "=", memory.id)
      .execute();
    return true;
  });
}

/** Links a new memory with older ones that it may be in conflict with. Storing one compares it with few others. */
async function linkWithOthers(context: MemoryContext, memory: Memory): Promise<void> {
  const draft = { ...memory, label: "general" as const };
  const similar = await findSimilar(context.store, memory.scope, { draft }, { limit: 12, rarest: true });
  const others = similar.flatMap(({ memory: other }) => {
    const isKnown = memory.relations.some((relation) => relation.memory === other.id);
    if (isKnown || other.id >= memory.id || other.fiction !== memory.fiction) return [];
    const { relation } = compareFacts(getFactText(memory), getFactText(other), context);
    return relation === "conflict" ? [other.id] : [];
  });
  if (others.length === 0) return;
  await context.store.transaction(async (tx) => {
    await tx.lock(`memories ${memory.scope}`);
    await linkConflicts(tx, memory.id, others, memory.scope);
  });
}

function chooseLonger(a: string, b: string): string {
  return a.length > b.length ? a : b;
}
