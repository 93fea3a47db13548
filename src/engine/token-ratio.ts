import type { Db } from "../store/index.ts";
import type { EngineHost } from "./host.ts";

/** Beyond these a figure is a mistake, not a tokenizer. */
const ratioMin = 0.4;
const ratioMax = 3;
/** Older figures count less and less: above this the sums are halved. */
const remembered = 2_000_000;
/** A few words say little about a tokenizer. */
const leastTokens = 200;

/** How many tokens a model's provider counts for one that was estimated; 1 when nothing is known of it. */
export async function tokenRatio(host: EngineHost, model: string | undefined): Promise<number> {
  return model === undefined ? 1 : ratioOf(await ratioQuery(host.store.db, model).executeTakeFirst());
}

/** What is known of a model, for whoever reads more with it. */
export function ratioQuery(db: Db, model: string) {
  return db.selectFrom("token_ratios").select(["estimated", "reported"]).where("model", "=", model);
}

export function ratioOf(row: { estimated: number; reported: number } | undefined): number {
  if (!row || row.estimated < leastTokens) return 1;
  return Math.min(ratioMax, Math.max(ratioMin, row.reported / row.estimated));
}

/** Enough is known of a model's tokenizer when another prompt would hardly change it. */
async function isKnown({ store }: EngineHost, model: string, ratio: number): Promise<boolean> {
  const row = await store.db.selectFrom("token_ratios").selectAll().where("model", "=", model).executeTakeFirst();
  if (!row || row.estimated < settled) return false;
  const known = row.reported / row.estimated;
  return Math.abs(ratio - known) < known * hardly;
}

const settled = 50_000;
const hardly = 0.05;

/** Notes what a provider counted for a prompt that was estimated. */
export async function noteTokens(
  host: EngineHost,
  { model, estimatedTokens, observedTokens }: { model?: string; estimatedTokens?: number; observedTokens?: number },
): Promise<void> {
  if (model === undefined || estimatedTokens === undefined || observedTokens === undefined) return;
  if (estimatedTokens < leastTokens || observedTokens <= 0) return;
  const ratio = observedTokens / estimatedTokens;
  if (ratio < ratioMin || ratio > ratioMax) return;
  if (await isKnown(host, model, ratio)) return;
  await host.store.transaction(async (tx) => {
    await tx.lock(`tokens ${model}`);
    const row = await tx.db.selectFrom("token_ratios").selectAll().where("model", "=", model).executeTakeFirst();
    const keep = (row?.estimated ?? 0) > remembered ? 0.5 : 1;
    const next = {
      model,
      estimated: Math.round((row?.estimated ?? 0) * keep + estimatedTokens),
      reported: Math.round((row?.reported ?? 0) * keep + observedTokens),
      updated_at: host.clock.now(),
    };
    await tx.db
      .insertInto("token_ratios")
      .values(next)
      .onConflict((conflict) => conflict.column("model").doUpdateSet(next))
      .execute();
  });
}
