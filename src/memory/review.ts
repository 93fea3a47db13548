import { narrowScopes, type Visibility } from "../authorization/index.ts";
import { newId, VarveError } from "../domain/index.ts";
import type { Db, StoreTransaction, Tx } from "../store/index.ts";
import type { Admission } from "./admission.ts";
import type { Place } from "./decisions.ts";
import type { Memory, MemoryDraft } from "./memory.ts";
import { readMemories } from "./read.ts";

/** `held`: between the thresholds, stored as a tentative memory. `refused`: below both, not stored. */
export type ReviewState = "held" | "refused" | "accepted" | "rejected";

/** A candidate that admission did not simply accept. */
export interface Review {
  id: string;
  scope: string;
  agent: string;
  state: ReviewState;
  candidate: MemoryDraft;
  score: number;
  features: Admission["features"];
  /** The tentative memory of a held candidate. */
  memory?: string;
  createdAt: number;
}

/** Records how admission judged a candidate. */
export async function insertReview(
  tx: StoreTransaction,
  {
    state,
    draft,
    admission,
    memory,
  }: { state: "held" | "refused"; draft: MemoryDraft; admission: Admission; memory?: string },
  place: Place,
): Promise<string> {
  const id = `rev_${newId(tx.clock, tx.random)}`;
  await tx.db
    .insertInto("memory_reviews")
    .values({
      id,
      ...place,
      state,
      candidate: JSON.stringify(draft),
      score: admission.score,
      features: JSON.stringify(admission.features),
      memory: memory ?? null,
      created_at: tx.clock.now(),
    })
    .execute();
  return id;
}

const reviewsMax = 1_000;

/** Reviews without a decision, the oldest first; a held one ends with its tentative memory. */
export async function listReviews(
  db: Db | Tx,
  visibility: Visibility,
  filter: { scopes?: readonly string[]; id?: string; limit?: number; refused?: boolean },
  now: number,
): Promise<Review[]> {
  const scopes = narrowScopes(visibility, filter.scopes);
  if (scopes?.length === 0) return [];
  let query = selectOpenReviews(db, now, filter.id === undefined ? [filter.refused ? "refused" : "held"] : openStates);
  if (scopes !== undefined) query = query.where("r.scope", "in", scopes);
  if (filter.id !== undefined) query = query.where("r.id", "=", filter.id);
  const rows = await query
    .selectAll("r")
    .orderBy("r.created_at")
    .orderBy("r.id")
    .limit(filter.limit ?? reviewsMax)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    scope: row.scope,
    agent: row.agent,
    state: row.state as ReviewState,
    candidate: JSON.parse(row.candidate) as MemoryDraft,
    score: row.score,
    features: JSON.parse(row.features) as Admission["features"],
    ...(row.memory === null ? {} : { memory: row.memory }),
    createdAt: row.created_at,
  }));
}

const openStates = ["held", "refused"] as const;

/** Open reviews of some states; held ones whose tentative memory is not current any more are decided. */
function selectOpenReviews(db: Db | Tx, now: number, states: readonly ReviewState[]) {
  return db
    .selectFrom("memory_reviews as r")
    .leftJoin("memories as m", "m.id", "r.memory")
    .where("r.state", "in", states)
    .where("m.invalidated_at", "is", null)
    .where((where) => where.or([where("r.memory", "is", null), where("m.tentative_until", ">", now)]));
}

export async function getReview(db: Db | Tx, visibility: Visibility, id: string, now: number): Promise<Review> {
  const [review] = await listReviews(db, visibility, { id }, now);
  if (review) return review;
  throw new VarveError("NOT_FOUND", `There is no open review ${JSON.stringify(id.slice(0, 100))}.`, {
    remedy: "Run `varve memory review` to list the open reviews.",
  });
}

/** Records the decision; false when it was already decided. */
export async function closeReview(
  tx: StoreTransaction,
  id: string,
  { from, to }: { from: ReviewState; to: "accepted" | "rejected" },
  now: number,
): Promise<boolean> {
  const done = await tx.db
    .updateTable("memory_reviews")
    .set({ state: to, decided_at: now })
    .where("id", "=", id)
    .where("state", "=", from)
    .executeTakeFirst();
  return Number(done.numUpdatedRows) === 1;
}

const conflictsMax = 200;

/** Pairs of believed memories that are linked as perhaps in conflict, the newest first. */
export async function listConflicts(
  db: Db | Tx,
  visibility: Visibility,
  only?: readonly string[],
): Promise<[Memory, Memory][]> {
  const scopes = narrowScopes(visibility, only);
  if (scopes?.length === 0) return [];
  let query = db
    .selectFrom("memory_relations as r")
    .innerJoin("memories as a", "a.id", "r.memory")
    .innerJoin("memories as b", "b.id", "r.other")
    .select(["r.memory as first", "r.other as second"])
    .where("r.kind", "=", "conflicts")
    .where("a.invalidated_at", "is", null)
    .where("b.invalidated_at", "is", null)
    // A pair is linked in both directions.
    .whereRef("r.memory", "<", "r.other");
  if (scopes !== undefined) query = query.where("a.scope", "in", scopes).where("b.scope", "in", scopes);
  const rows = await query.orderBy("r.created_at", "desc").orderBy("r.memory").limit(conflictsMax).execute();
  const pairs: [Memory, Memory][] = [];
  for (const row of rows) {
    const [first, second] = await readMemories(db, visibility, [row.first, row.second]);
    if (first && second) pairs.push([first, second]);
  }
  return pairs;
}
