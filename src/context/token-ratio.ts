import { sql } from "kysely";
import type { Db, Store } from "../store/index.ts";

/** A ratio outside these limits is a mistake, not a tokenizer. */
const ratioMin = 0.4;
const ratioMax = 3;
/** Older figures count less: above this the sums are halved. */
const remembered = 2_000_000;
/** Shorter prompts say little about a tokenizer. */
const leastTokens = 200;

/** How many tokens a model's provider counts for one estimated token; 1 when nothing is known. */
export async function readTokenRatio(store: Store, model: string | undefined): Promise<number> {
  return model === undefined ? 1 : computeRatio(await ratioQuery(store.db, model).executeTakeFirst());
}

/** Reads the sums of a model; to be combined with other queries. */
export function ratioQuery(db: Db, model: string) {
  return db.selectFrom("token_ratios").select(["estimated", "reported"]).where("model", "=", model);
}

export function computeRatio(row: { estimated: number; reported: number } | undefined): number {
  if (!row || row.estimated < leastTokens) return 1;
  return Math.min(ratioMax, Math.max(ratioMin, row.reported / row.estimated));
}

/** The budget of a view follows the ratio in steps of this size. */
const budgetStep = 0.05;

/**
 * The ratio that a budget is divided by: rounded up to a step, so that small corrections do not change the budget, and
 * with it the prefix of the prompt, in every turn.
 */
export function roundRatioForBudget(ratio: number): number {
  return Math.ceil(ratio / budgetStep - 1e-9) * budgetStep;
}

/** Whether another prompt would hardly change the ratio. */
async function isKnown(store: Store, model: string, ratio: number): Promise<boolean> {
  const row = await store.db.selectFrom("token_ratios").selectAll().where("model", "=", model).executeTakeFirst();
  if (!row || row.estimated < settled) return false;
  const known = row.reported / row.estimated;
  return Math.abs(ratio - known) < known * hardly;
}

const settled = 50_000;
const hardly = 0.05;

/** Records what a provider counted for an estimated prompt. */
export async function recordTokens(
  store: Store,
  { model, estimatedTokens, observedTokens }: { model?: string; estimatedTokens?: number; observedTokens?: number },
): Promise<void> {
  if (model === undefined || estimatedTokens === undefined || observedTokens === undefined) return;
  if (estimatedTokens < leastTokens || observedTokens <= 0) return;
  const ratio = observedTokens / estimatedTokens;
  if (ratio < ratioMin || ratio > ratioMax) return;
  if (await isKnown(store, model, ratio)) return;
  const estimated = Math.round(estimatedTokens);
  const reported = Math.round(observedTokens);
  const updated_at = store.clock.now();
  const kept = (column: "estimated" | "reported", added: number) => {
    const sum = sql.ref<number>(`token_ratios.${column}`);
    return sql<number>`case when token_ratios.estimated > ${sql.lit(remembered)} then ${sum} / 2 else ${sum} end + ${added}`;
  };
  const record = store.db
    .insertInto("token_ratios")
    .values({ model, estimated, reported, updated_at })
    .onConflict((conflict) =>
      conflict.column("model").doUpdateSet({
        estimated: kept("estimated", estimated),
        reported: kept("reported", reported),
        updated_at,
      }),
    );
  // The figures of a turn that are lost in a power failure change nothing.
  await store.writeBatch([record], { sync: false });
}
