import { z } from "zod";
import type { Store } from "../../store/index.ts";
import type { Weights } from "./fit-weights.ts";

/** Weights that were learned from the history, and what they gain. */
export interface LearnedWeights {
  weights: Weights;
  /** How many examples they were fitted on and checked with. */
  fitted: number;
  checked: number;
  /** The mean reciprocal rank of the first right message in the checked examples, before and with these weights. */
  before: number;
  after: number;
  learnedAt: number;
}

const metaName = "search.learned_weights";
/** Other processes learn and undo too, so the row is read again after this time. */
const cachedMs = 30_000;

const schema = z.object({
  weights: z.record(z.string(), z.number().min(0)),
  fitted: z.number(),
  checked: z.number(),
  before: z.number(),
  after: z.number(),
  learnedAt: z.number(),
});

/** The learned weights in the database, which all processes share. */
export class LearnedWeightStore {
  private readonly store: Store;
  private cached: { value: LearnedWeights | undefined; at: number } | undefined;

  constructor(store: Store) {
    this.store = store;
  }

  async read(): Promise<LearnedWeights | undefined> {
    const now = this.store.clock.now();
    if (this.cached && now - this.cached.at < cachedMs) return this.cached.value;
    const row = await this.store.db.selectFrom("meta").select("value").where("name", "=", metaName).executeTakeFirst();
    const value = row && parseLearned(row.value);
    this.cached = { value, at: now };
    return value;
  }

  async write(learned: LearnedWeights): Promise<void> {
    const value = JSON.stringify(learned);
    await this.store.transaction(async ({ db }) => {
      await db
        .insertInto("meta")
        .values({ name: metaName, value })
        .onConflict((conflict) => conflict.column("name").doUpdateSet({ value }))
        .execute();
    });
    this.cached = undefined;
  }

  /** Whether there were any. */
  async remove(): Promise<boolean> {
    const known = await this.read();
    await this.store.transaction(async ({ db }) => {
      await db.deleteFrom("meta").where("name", "=", metaName).execute();
    });
    this.cached = undefined;
    return known !== undefined;
  }
}

/** A row that cannot be read is ignored: the settings apply. */
function parseLearned(text: string): LearnedWeights | undefined {
  try {
    const parsed = schema.safeParse(JSON.parse(text));
    return parsed.success ? (parsed.data as LearnedWeights) : undefined;
  } catch {
    return undefined;
  }
}
