import type { Store } from "../store/index.ts";

/** The limits of model usage for the memories of an agent. */
export interface Budget {
  callsPerHour: number;
  tokensPerDay: number;
  /** The limit of calls for imported history; absent for everything else. */
  backlogCallsPerDay?: number;
}

const [hourMs, dayMs] = [3_600_000, 86_400_000];
const spans = {
  calls: { ms: hourMs, words: "calls per hour" },
  tokens: { ms: dayMs, words: "tokens per day" },
  backlogCalls: { ms: dayMs, words: "calls per day for imported history" },
} as const;
type SpanName = keyof typeof spans;

/** The number of calls left, or when the budget is renewed. */
export type BudgetLeft = { calls: number } | { at: number; because: string };

export async function readBudgetLeft(store: Store, agent: string, budget: Budget, now: number): Promise<BudgetLeft> {
  const limits = {
    calls: budget.callsPerHour,
    tokens: budget.tokensPerDay,
    backlogCalls: budget.backlogCallsPerDay ?? Number.POSITIVE_INFINITY,
  };
  const rows = await store.db.selectFrom("memory_spend").selectAll().where("agent", "=", agent).execute();
  let calls = Number.POSITIVE_INFINITY;
  for (const name of Object.keys(spans) as SpanName[]) {
    const { ms, words } = spans[name];
    const row = rows.find((one) => one.span === name);
    const isOver = !row || now - row.started_at >= ms || now < row.started_at;
    const used = isOver ? 0 : row.used;
    if (name !== "tokens") calls = Math.min(calls, limits[name] - used);
    if (used < limits[name]) continue;
    const at = (isOver ? now : row.started_at) + ms;
    return { at, because: `the budget for memories (${limits[name]} ${words}) is used up` };
  }
  return { calls };
}

/** Records model usage, also of calls without a result. */
export async function recordUsage(
  store: Store,
  agent: string,
  used: Record<"calls" | "tokens", number> & { backlogCalls?: number },
  now: number,
): Promise<void> {
  if (used.calls === 0) return;
  await store.transaction(async (tx) => {
    await tx.lock(`memory spend ${agent}`);
    for (const span of Object.keys(spans) as SpanName[]) {
      const added = used[span] ?? 0;
      if (added === 0) continue;
      const row = await tx.db
        .selectFrom("memory_spend")
        .selectAll()
        .where("agent", "=", agent)
        .where("span", "=", span)
        .executeTakeFirst();
      const isOver = !row || now - row.started_at >= spans[span].ms || now < row.started_at;
      const next = { started_at: isOver ? now : row.started_at, used: (isOver ? 0 : row.used) + added };
      await tx.db
        .insertInto("memory_spend")
        .values({ agent, span, ...next })
        .onConflict((conflict) => conflict.columns(["agent", "span"]).doUpdateSet(next))
        .execute();
    }
  });
}
