import { type Clock, newId, type Random, VarveError } from "../domain/index.ts";
import { dropLease, type Store, takeLease } from "../store/index.ts";
import type { ConversationRef, StoredSummary } from "./dag.ts";
import { type Frontier, loadFrontier } from "./frontier.ts";
import type { ContextItem } from "./items.ts";
import { condensedNode, leafNode } from "./make-summary.ts";
import { planCondensedPass, planLeafPass } from "./plan.ts";
import type { CompactionPolicy } from "./policy.ts";
import { publish } from "./publish.ts";
import type { Summarise } from "./summarise.ts";
import { newestRaw, oldestRaw, rawTokens, type SaidEntry } from "./window.ts";

export interface CompactHost {
  store: Store;
  clock: Clock;
  random: Random;
  summarise: Summarise;
}

export interface CompactOptions {
  policy: CompactionPolicy;
  /** Stop once the context holds no more than this; everything that can be compacted when absent. */
  targetTokens?: number;
  /** Passes at most; a sweep that stops here leaves a consistent state. */
  maxPasses: number;
  deadlineMs: number;
  instructions?: string;
  signal?: AbortSignal;
}

export interface CompactResult {
  status: "done" | "nothing" | "busy" | "stopped";
  tokensBefore: number;
  tokensAfter: number;
  leafPasses: number;
  condensedPasses: number;
  calls: number;
  levels: Record<string, number>;
  /** Why it stopped before it reached its target, when it did. */
  because?: string;
}

const leaseMs = 90_000;
const wideningMax = 256;

/**
 * A sweep: leaf passes, oldest first, then condensation from the shallowest depth, until the target is reached or
 * nothing is left to do. Summaries are made between transactions; only one process sweeps a conversation at a time.
 */
export async function compact(
  host: CompactHost,
  ref: ConversationRef,
  options: CompactOptions,
): Promise<CompactResult> {
  const owner = newId(host.clock, host.random);
  const lease = await takeLease(
    host.store,
    `compact ${ref.agent} ${ref.conversation}`,
    owner,
    host.clock.now(),
    leaseMs,
  );
  const first = await loadFrontier(host.store, ref);
  const before = summaryTokens(first) + (await rawTokens(host.store, ref, first));
  const result: CompactResult = {
    status: "nothing",
    tokensBefore: before,
    tokensAfter: before,
    leafPasses: 0,
    condensedPasses: 0,
    calls: 0,
    levels: {},
  };
  if (!lease) return { ...result, status: "busy", because: "another process compacts this conversation" };
  try {
    await sweep(host, ref, options, result);
  } finally {
    await dropLease(host.store, lease);
  }
  if (result.leafPasses + result.condensedPasses > 0 && result.status === "nothing") result.status = "done";
  return result;
}

async function sweep(
  host: CompactHost,
  ref: ConversationRef,
  options: CompactOptions,
  result: CompactResult,
): Promise<void> {
  const endsAt = host.clock.now() + options.deadlineMs;
  const reached = () => options.targetTokens !== undefined && result.tokensAfter <= options.targetTokens;
  let stale = 0;
  for (let pass = 0; ; pass += 1) {
    options.signal?.throwIfAborted();
    if (reached()) return;
    if (pass >= options.maxPasses) return stop(result, `${options.maxPasses} passes are the limit of one sweep`);
    if (host.clock.now() > endsAt) return stop(result, "the time for one sweep is over");
    const done = (await leafPass(host, ref, options, result)) ?? (await condensedPass(host, ref, options, result));
    if (done === undefined) return;
    if (done === "saved") continue;
    if (done === "no gain") return stop(result, "the last summary was no shorter than what it stands for");
    stale += 1;
    if (stale > 3) return stop(result, "the conversation changed faster than it could be compacted");
  }
}

type PassOutcome = "saved" | "no gain" | "stale" | undefined;

async function leafPass(
  host: CompactHost,
  ref: ConversationRef,
  options: CompactOptions,
  result: CompactResult,
  widening = 1,
): Promise<PassOutcome> {
  const frontier = await loadFrontier(host.store, ref);
  const policy = { ...options.policy, leafChunkTokens: options.policy.leafChunkTokens * widening };
  const oldest = await oldestRaw(host.store, ref, frontier, policy.leafChunkTokens);
  const said = await withTail(host, ref, frontier, policy, oldest);
  const items: ContextItem[] = [...frontier.summaries.map(summaryItem), ...said.map((one) => one.item)];
  const run = planLeafPass(items, policy);
  if (!run) return undefined;
  const chosen = said.slice(run.from - frontier.summaries.length, run.to - frontier.summaries.length);
  const made = await leafNode(host, ref, chosen, frontier.summaries.at(-1), options);
  count(result, made);
  const spent = chosen.reduce((sum, one) => sum + one.item.tokens, 0);
  if (made.node.tokens >= spent) {
    // A few short messages before a large one are too little to gain anything: take the large one along.
    return widening < wideningMax ? leafPass(host, ref, options, result, widening * 4) : "no gain";
  }
  const summaries = [...frontier.summaries, made.node];
  if (!(await publish(host.store, host.clock, ref, frontier, { ...made, summaries }))) return "stale";
  result.leafPasses += 1;
  result.tokensAfter += made.node.tokens - spent;
  return "saved";
}

/** The newest messages go along behind a gap, so that the planner sees where the fresh tail begins. */
async function withTail(
  host: CompactHost,
  ref: ConversationRef,
  frontier: Frontier,
  policy: CompactionPolicy,
  oldest: SaidEntry[],
): Promise<SaidEntry[]> {
  const count = Math.min(policy.freshTailCount, 1000) + 16;
  const newest = await newestRaw(host.store, ref, frontier, count);
  const last = oldest.at(-1)?.item.seq ?? 0;
  return [...oldest, ...newest.filter((one) => one.item.seq > last)];
}

async function condensedPass(
  host: CompactHost,
  ref: ConversationRef,
  options: CompactOptions,
  result: CompactResult,
): Promise<PassOutcome> {
  const frontier = await loadFrontier(host.store, ref);
  const items = frontier.summaries.map(summaryItem);
  const run =
    planCondensedPass(items, options.policy) ??
    // Only a target that is not reached yet is worth the hard way.
    (options.targetTokens === undefined ? undefined : planCondensedPass(items, options.policy, { hard: true }));
  if (!run) return undefined;
  const sources = frontier.summaries.slice(run.from, run.to);
  const made = await condensedNode(host, ref, sources, frontier.summaries[run.from - 1], options);
  count(result, made);
  const spent = sources.reduce((sum, one) => sum + one.tokens, 0);
  if (made.node.tokens >= spent) return "no gain";
  const summaries = [...frontier.summaries.slice(0, run.from), made.node, ...frontier.summaries.slice(run.to)];
  if (!(await publish(host.store, host.clock, ref, frontier, { ...made, summaries }))) return "stale";
  result.condensedPasses += 1;
  result.tokensAfter += made.node.tokens - spent;
  return "saved";
}

function stop(result: CompactResult, because: string): void {
  result.status = "stopped";
  result.because = because;
}

function count(result: CompactResult, made: { node: StoredSummary; calls: number }): void {
  result.calls += made.calls;
  result.levels[made.node.level] = (result.levels[made.node.level] ?? 0) + 1;
}

function summaryItem(summary: StoredSummary): ContextItem {
  const { id, depth, tokens, earliestAt, latestAt } = summary;
  return { kind: "summary", id, depth, tokens, earliestAt, latestAt };
}

export function summaryTokens(frontier: Frontier): number {
  return frontier.summaries.reduce((sum, one) => sum + one.tokens, 0);
}

/** Refuses a budget nothing can fit. */
export function checkBudget(budgetTokens: number): void {
  if (Number.isInteger(budgetTokens) && budgetTokens >= 256) return;
  throw new VarveError("BAD_REQUEST", `A budget of ${budgetTokens} tokens is too small, or no whole number.`, {
    remedy: "Send a whole number of at least 256.",
  });
}
