import type { MemoryTable, StoreTransaction } from "../store/index.ts";
import { compareFacts, findSlotKey } from "./compare/compare-facts.ts";
import type { Memory, MemoryDraft } from "./memory.ts";
import { loadMemories } from "./rows.ts";
import { insertMemory, type Placement } from "./write.ts";

/** The text of a fact that is compared: all that was said, or a model's sentence for it. */
export function getFactText({
  abstract,
  content,
  extractor,
}: Pick<Memory, "abstract" | "content" | "extractor">): string {
  // What was stored directly may be several sentences; an extracted fact is one, with its owner and its dates.
  return extractor === "store" ? content : abstract;
}

export type PlacedVersion = { memory: string } | { repeated: Memory };

/**
 * Writes a version into the history of a fact at the time it is valid from, so that no two versions are valid at the
 * same time, in whatever order they arrive. A version that repeats the one valid at that time is not written.
 */
export async function placeVersion(
  tx: StoreTransaction,
  match: Memory,
  draft: MemoryDraft,
  place: Pick<Placement, "agent" | "scope" | "vector">,
): Promise<PlacedVersion> {
  const versions = (await readVersions(tx, match, draft)).filter(hasDuration);
  const from = draft.validFrom;
  const before = versions.findLast((one) => one.valid_from <= from && isValidAt(one, from));
  const next = versions.find((one) => one.valid_from > from && one.forgotten_at === null);
  const [after] = before ? await loadMemories(tx.db, [before]) : [];
  if (after && after.forgottenAt === undefined) {
    const { relation } = compareFacts(getFactText(draft), getFactText(after));
    if (relation === "same") return { repeated: after };
  }
  const keyed = { ...draft, factKey: match.factKey ?? draft.factKey };
  const memory = await insertMemory(tx, keyed, {
    ...place,
    lineage: match,
    ...(after ? { after } : {}),
    ...(next ? { until: { time: next.valid_from, by: next.id } } : {}),
  });
  const until = next?.valid_from ?? Number.POSITIVE_INFINITY;
  for (const one of versions) {
    const overlaps = one.valid_from < until && (one.invalidated_at ?? Number.POSITIVE_INFINITY) > from;
    // Only a forgotten version can begin within the new one: it is not believed, so it ends where it began.
    if (overlaps)
      await endVersion(tx, one.id, Math.max(one.valid_from, Math.min(from, one.invalidated_at ?? from)), memory);
  }
  if (next) await tx.db.updateTable("memories").set({ supersedes: memory }).where("id", "=", next.id).execute();
  return { memory };
}

function hasDuration({ valid_from, invalidated_at }: MemoryTable): boolean {
  return invalidated_at === null || invalidated_at > valid_from;
}

function isValidAt({ valid_from, invalidated_at }: MemoryTable, time: number): boolean {
  return valid_from <= time && (invalidated_at === null || invalidated_at > time);
}

/** All versions of a fact, the earliest first: those of the same memory, and of the same slot. */
async function readVersions(tx: StoreTransaction, match: Memory, draft: MemoryDraft): Promise<MemoryTable[]> {
  const slot = findSlotKey(getFactText(draft));
  const isSlot = slot !== undefined && !slot.endsWith("+") && draft.factKey === slot;
  return tx.db
    .selectFrom("memories")
    .selectAll()
    .where("scope", "=", match.scope)
    .where((where) => where.or([where("root", "=", match.root), ...(isSlot ? [where("fact_key", "=", slot)] : [])]))
    .orderBy("valid_from")
    .orderBy("num")
    .execute();
}

/** Ends a version at a time; it stays readable. */
async function endVersion(tx: StoreTransaction, id: string, time: number, by: string): Promise<void> {
  await tx.db.updateTable("memories").set({ invalidated_at: time, superseded_by: by }).where("id", "=", id).execute();
}

/**
 * Writes another text for a version. What is believed now is changed from now on; a version of the past or the future
 * is corrected for the time it is valid.
 */
export async function correctVersion(
  tx: StoreTransaction,
  version: Memory,
  draft: MemoryDraft,
  place: Pick<Placement, "agent" | "scope">,
): Promise<string> {
  const now = tx.clock.now();
  const isNow = version.validFrom <= now && (version.invalidatedAt ?? Number.POSITIVE_INFINITY) > now;
  const validFrom = isNow ? now : version.validFrom;
  const { invalidatedAt, supersededBy } = version;
  const until = invalidatedAt === undefined ? {} : { until: { time: invalidatedAt, by: supersededBy ?? null } };
  const memory = await insertMemory(tx, { ...draft, validFrom }, { ...place, after: version, ...until });
  await endVersion(tx, version.id, validFrom, memory);
  await tx.db
    .updateTable("memories")
    .set({ supersedes: memory })
    .where("supersedes", "=", version.id)
    .where("id", "<>", memory)
    .execute();
  return memory;
}
