import { requireWritable, type Visibility } from "../authorization/index.ts";
import { VarveError } from "../domain/index.ts";
import type { StoreTransaction } from "../store/index.ts";
import type { Admission } from "./admission.ts";
import { dayMs } from "./decay.ts";
import { type AppliedDecision, applyDecision, linkConflicts, type Place } from "./decisions.ts";
import { decideByRules } from "./extract/decide.ts";
import type { MemoryContext } from "./memory-context.ts";
import { closeReview, getReview, insertReview } from "./review.ts";
import { type Candidate, findSimilar, type SimilarMemory } from "./similar-memories.ts";
import { confirmMemory, insertMemory } from "./write.ts";

/** Stores a candidate between the two thresholds as a tentative memory. It changes no other memory. */
export async function storeTentative(
  tx: StoreTransaction,
  { draft, vector }: Candidate,
  { admission, conflicts, days }: { admission: Admission; conflicts: readonly string[]; days: number },
  place: Place,
): Promise<string> {
  const tentativeUntil = tx.clock.now() + days * dayMs;
  const memory = await insertMemory(tx, draft, { ...place, vector, tentativeUntil });
  await linkConflicts(tx, memory, conflicts, place.scope);
  await insertReview(tx, { state: "held", draft, admission, memory }, place);
  return memory;
}

/** Stores or rejects a candidate that admission held or refused. */
export async function decideReview(
  context: MemoryContext,
  visibility: Visibility,
  id: string,
  verdict: "accepted" | "rejected",
): Promise<AppliedDecision | undefined> {
  const now = context.store.clock.now();
  const review = await getReview(context.store.db, visibility, id, now);
  const { scope, agent, memory, state } = review;
  requireWritable(visibility, scope);
  const candidate = { draft: review.candidate };
  const isAccepted = verdict === "accepted";
  const similar = isAccepted ? await findComparableMemories(context, scope, candidate, memory) : [];
  return context.store.transaction(async (tx) => {
    await tx.lock(`memories ${scope}`);
    if (!(await closeReview(tx, id, { from: state, to: verdict }, now))) {
      throw new VarveError("CONFLICT", `The review ${id} has been decided in the meantime.`, {
        remedy: "List the reviews again.",
      });
    }
    if (!isAccepted) {
      if (memory !== undefined) await endTentative(tx, memory, { time: now, isForgotten: true });
      return undefined;
    }
    const decision = decideByRules(candidate, similar, context);
    if (memory === undefined) return applyDecision(tx, candidate, decision, { agent, scope });
    if (decision.kind === "create") {
      await confirmMemory(tx, memory);
      return { decision: "create", reason: "accepted by a person", memory };
    }
    const applied = await applyDecision(tx, candidate, decision, { agent, scope });
    await endTentative(tx, memory, { time: now, by: applied.memory ?? applied.match });
    return applied;
  });
}

const comparedMax = 12;

async function findComparableMemories(
  { store }: MemoryContext,
  scope: string,
  candidate: Candidate,
  itself: string | undefined,
): Promise<SimilarMemory[]> {
  const similar = await findSimilar(store, scope, candidate, { limit: comparedMax + 1 });
  return similar.filter((one) => one.memory.id !== itself).slice(0, comparedMax);
}

async function endTentative(
  tx: StoreTransaction,
  id: string,
  { time, by, isForgotten = false }: { time: number; by?: string; isForgotten?: boolean },
): Promise<void> {
  await tx.db
    .updateTable("memories")
    .set({
      invalidated_at: time,
      ...(by === undefined ? {} : { superseded_by: by }),
      ...(isForgotten ? { forgotten_at: time } : {}),
    })
    .where("id", "=", id)
    .where("invalidated_at", "is", null)
    .execute();
}

/** Forgets the tentative memories that nobody confirmed in time, and removes old records of refused candidates. */
export async function dropUnconfirmed(
  { store, settings }: Pick<MemoryContext, "store" | "settings">,
  now: number,
): Promise<number> {
  return store.transaction(async (tx) => {
    const dropped = await tx.db
      .updateTable("memories")
      .set({ invalidated_at: now, forgotten_at: now })
      .where("tentative_until", "<=", now)
      .where("invalidated_at", "is", null)
      .executeTakeFirst();
    await tx.db
      .deleteFrom("memory_reviews")
      .where("state", "=", "refused")
      .where("created_at", "<", now - settings.tentativeDays * dayMs)
      .execute();
    return Number(dropped.numUpdatedRows);
  });
}
