import type { Store } from "../store/index.ts";

/** The limits of model usage for the memories of an agent. */
export interface Budget {
  callsPerHour: number;
  tokensPerDay: number;
}

const spans = { calls: 3_600_000, tokens: 86_400_000 } as const;
type SpanName = keyof typeof spans;

/** The number of calls left, or when the budget is renewed. */
export type BudgetLeft = { calls: number } | { at: number; because: string };

export async function readBudgetLeft(store: Store, agent: string, budget: Budget, now: number): Promise<BudgetLeft> {
  const limits = { calls: budget.callsPerHour, tokens: budget.tokensPerDay };
  const rows = await store.db.selectFrom("memory_spend").selectAll().where("agent", "=", agent).execute();
  let calls = limits.calls;
  for (const name of Object.keys(spans) as SpanName[]) {
    const row = rows.find((one) => one.span === name);
    const isOver = !row || now - row.started_at >= spans[name] || now < row.started_at;
    const used = isOver ? 0 : row.used;
    if (name === "calls") calls -= used;
    if (used < limits[name]) continue;
    const span = name === "calls" ? "hour" : "day";
    const at = (isOver ? now : row.started_at) + spans[name];
    return { at, because: `the budget for memories (${limits[name]} ${name} per ${span}) is used up` };
  }
  return { calls };
}

/** Records model usage, also of calls without a result. */
export async function recordUsage(
  store: Store,
  agent: string,
  used: Record<SpanName, number>,
  now: number,
): Promise<void> {
  if (used.calls === 0) return;
  await store.transaction(async (tx) => {
    await tx.lock(`memory spend ${agent}`);
    for (const span of Object.keys(spans) as SpanName[]) {
      const row = await tx.db
        .selectFrom("memory_spend")
        .selectAll()
        .where("agent", "=", agent)
        .where("span", "=", span)
        .executeTakeFirst();
      const isOver = !row || now - row.started_at >= spans[span] || now < row.started_at;
      const next = {
        agent,
        span,
        started_at: isOver ? now : row.started_at,
        used: (isOver ? 0 : row.used) + used[span],
      };
      await tx.db
        .insertInto("memory_spend")
        .values(next)
        .onConflict((conflict) => conflict.columns(["agent", "span"]).doUpdateSet(next))
        .execute();
    }
  });
}
