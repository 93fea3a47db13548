import { narrowScopes, type Visibility } from "../authorization/index.ts";
import { newId, VarveError } from "../domain/index.ts";
import type { Db, StoreTransaction, Tx } from "../store/index.ts";
import type { Admission } from "./admission.ts";
import type { Place } from "./decisions.ts";
import type { Memory, MemoryDraft } from "./memory.ts";
import { readMemories } from "./read.ts";

/** A candidate whose admission score lies between the two thresholds. */
export interface Review {
  id: string;
  scope: string;
  agent: string;
  state: "held" | "accepted" | "rejected";
  candidate: MemoryDraft;
  score: number;
  features: Admission["features"];
  createdAt: number;
}

export async function holdForReview(
  tx: StoreTransaction,
  draft: MemoryDraft,
  admission: Admission,
  place: Place,
): Promise<string> {
  const id = `rev_${newId(tx.clock, tx.random)}`;
  await tx.db
    .insertInto("memory_reviews")
    .values({
      id,
      ...place,
      state: "held",
      candidate: JSON.stringify(draft),
      score: admission.score,
      features: JSON.stringify(admission.features),
      created_at: tx.clock.now(),
    })
    .execute();
  return id;
}

const reviewsMax = 1_000;

/** Reviews without a decision, the oldest first. */
export async function listReviews(
  db: Db | Tx,
  visibility: Visibility,
  filter: { scopes?: readonly string[]; id?: string; limit?: number },
): Promise<Review[]> {
  const scopes = narrowScopes(visibility, filter.scopes);
  if (scopes?.length === 0) return [];
  let query = db.selectFrom("memory_reviews").selectAll().where("state", "=", "held");
  if (scopes !== undefined) query = query.where("scope", "in", scopes);
  if (filter.id !== undefined) query = query.where("id", "=", filter.id);
  const rows = await query
    .orderBy("created_at")
    .orderBy("id")
    .limit(filter.limit ?? reviewsMax)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    scope: row.scope,
    agent: row.agent,
    state: row.state as Review["state"],
    candidate: JSON.parse(row.candidate) as MemoryDraft,
    score: row.score,
    features: JSON.parse(row.features) as Admission["features"],
    createdAt: row.created_at,
  }));
}

export async function getReview(db: Db | Tx, visibility: Visibility, id: string): Promise<Review> {
  const [review] = await listReviews(db, visibility, { id });
  if (review) return review;
  throw new VarveError("NOT_FOUND", `There is no open review ${JSON.stringify(id.slice(0, 100))}.`, {
    remedy: "Run `varve memory review` to list the open reviews.",
  });
}

/** Records the decision; false when it was already decided. */
export async function closeReview(
  tx: StoreTransaction,
  id: string,
  state: "accepted" | "rejected",
  now: number,
): Promise<boolean> {
  const done = await tx.db
    .updateTable("memory_reviews")
    .set({ state, decided_at: now })
    .where("id", "=", id)
    .where("state", "=", "held")
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
