import { type Clock, type ErrorCode, newId, type Random, VarveError } from "../domain/index.ts";
import { dropLease, type Store, takeLease } from "../store/index.ts";
import type { ConversationRef, StoredSummary } from "./dag.ts";
import { type Frontier, loadFrontier } from "./frontier.ts";
import type { ContextItem } from "./items.ts";
import { condensedNode, leafNode, type MadeSummary } from "./make-summary.ts";
import { planCondensedPass, planLeafPass } from "./plan.ts";
import type { CompactionPolicy } from "./policy.ts";
import { prunableUpTo } from "./prune.ts";
import { publish } from "./publish.ts";
import type { Summarise } from "./summarise.ts";
import { SweepBuffer } from "./sweep-buffer.ts";
import { type MessageEntry, newestRaw, rawTokens } from "./window.ts";

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
  /** Leaf passes at most; all there is to take when absent. */
  maxLeafPasses?: number;
  /** The deepest summary that is made; as deep as needed when absent. */
  maxDepth?: number;
  /** Summaries by a model at most. What is built in costs nothing, and only the deadline bounds it. */
  maxModelPasses: number;
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
  /** How many of the summaries a model was asked for. */
  modelPasses: number;
  calls: number;
  levels: Record<string, number>;
  /** What was wrong with what models answered, the last of it. */
  faults: string[];
  /** Why it stopped before it reached its target, when it did. */
  because?: string;
  /** The error that stopped it, where one did: a refused key, a model that rests or does not answer. */
  failure?: ErrorCode;
}

const leaseMs = 90_000;
const leaseBeatMs = 30_000;
/** A stop for a loop that should not be; the deadline comes long before. */
const passesMax = 100_000;
const wideningMax = 256;
const faultsKept = 20;
/** How many of the newest messages are looked at for the last few assistant turns. */
const prunedWindow = 200;

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
  const hold = () =>
    takeLease(host.store, `compact ${ref.agent} ${ref.conversation}`, owner, host.clock.now(), leaseMs);
  const lease = await hold();
  const first = await loadFrontier(host.store, ref);
  const before = summaryTokens(first) + (await rawTokens(host.store, ref, first));
  const result: CompactResult = {
    status: "nothing",
    tokensBefore: before,
    tokensAfter: before,
    leafPasses: 0,
    condensedPasses: 0,
    modelPasses: 0,
    calls: 0,
    levels: {},
    faults: [],
  };
  if (!lease) return { ...result, status: "busy", because: "another process compacts this conversation" };
  // A slow model may hold a pass for minutes. A beat that fails is made up for by the next, or by the check at the end.
  const beat = setInterval(() => void hold().catch(() => undefined), leaseBeatMs);
  beat.unref();
  try {
    await sweep(host, ref, options, result);
    if (result.leafPasses + result.condensedPasses > 0) await markPruned(host.store, ref);
  } finally {
    clearInterval(beat);
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
  const buffer = new SweepBuffer(host.store, ref);
  let stale = 0;
  for (let pass = 0; ; pass += 1) {
    options.signal?.throwIfAborted();
    if (reached()) return;
    if (result.modelPasses >= options.maxModelPasses) {
      return stop(result, `${options.maxModelPasses} summaries by a model are the limit of one sweep`);
    }
    if (pass >= passesMax) return stop(result, `${passesMax} passes are the limit of one sweep`);
    if (host.clock.now() > endsAt) return stop(result, "the time for one sweep is over");
    const done = await nextPass(host, ref, options, result, buffer);
    if (done === "failed") return;
    if (done === undefined) return;
    if (done === "saved") continue;
    if (done === "no gain") return stop(result, "the last summary was no shorter than what it stands for");
    stale += 1;
    if (stale > 3) return stop(result, "the conversation changed faster than it could be compacted");
  }
}

type PassOutcome = "saved" | "no gain" | "stale" | undefined;

/** What is wrong with a model and not with what it was asked: nothing is written, and what was saved before stays. */
const modelIsDown = new Set<ErrorCode>(["MODEL_KEY_REFUSED", "MODEL_PAUSED", "MODEL_TIMEOUT"]);

async function nextPass(
  host: CompactHost,
  ref: ConversationRef,
  options: CompactOptions,
  result: CompactResult,
  buffer: SweepBuffer,
): Promise<PassOutcome | "failed"> {
  try {
    return (
      (await leafPass(host, ref, options, result, buffer)) ?? (await condensedPass(host, ref, options, result, buffer))
    );
  } catch (error) {
    if (!(error instanceof VarveError) || !modelIsDown.has(error.code)) throw error;
    stop(result, error.message);
    result.failure = error.code;
    return "failed";
  }
}

async function leafPass(
  host: CompactHost,
  ref: ConversationRef,
  options: CompactOptions,
  result: CompactResult,
  buffer: SweepBuffer,
  widening = 1,
): Promise<PassOutcome> {
  if (result.leafPasses >= (options.maxLeafPasses ?? Number.POSITIVE_INFINITY)) return undefined;
  const frontier = await loadFrontier(host.store, ref, buffer.summaries);
  const policy = { ...options.policy, leafChunkTokens: options.policy.leafChunkTokens * widening };
  const oldest = await buffer.oldestBehind(frontier, policy.leafChunkTokens);
  const said = await withTail(frontier, policy, oldest, buffer);
  const items: ContextItem[] = [...frontier.summaries.map(summaryItem), ...said.map((one) => one.item)];
  const run = planLeafPass(items, policy);
  if (!run) return undefined;
  const chosen = said.slice(run.from - frontier.summaries.length, run.to - frontier.summaries.length);
  const made = await leafNode(host, ref, chosen, frontier.summaries.at(-1), options);
  count(result, made);
  const spent = chosen.reduce((sum, one) => sum + one.item.tokens, 0);
  if (made.node.tokens >= spent) {
    // A few short messages before a large one are too little to gain anything: take the large one along.
    return widening < wideningMax ? leafPass(host, ref, options, result, buffer, widening * 4) : "no gain";
  }
  const summaries = [...frontier.summaries, made.node];
  if (!(await publish(host.store, host.clock, ref, frontier, { ...made, summaries }))) return "stale";
  result.leafPasses += 1;
  result.tokensAfter += made.node.tokens - spent;
  return "saved";
}

/** The newest messages go along behind a gap, so that the planner sees where the fresh tail begins. */
async function withTail(
  frontier: Frontier,
  policy: CompactionPolicy,
  oldest: MessageEntry[],
  buffer: SweepBuffer,
): Promise<MessageEntry[]> {
  const count = Math.min(policy.freshTailCount, 1000) + 16;
  const newest = await buffer.newestOf(frontier, count);
  const last = oldest.at(-1)?.item.seq ?? 0;
  return [...oldest, ...newest.filter((one) => one.item.seq > last)];
}

async function condensedPass(
  host: CompactHost,
  ref: ConversationRef,
  options: CompactOptions,
  result: CompactResult,
  buffer: SweepBuffer,
): Promise<PassOutcome> {
  const frontier = await loadFrontier(host.store, ref, buffer.summaries);
  const items = frontier.summaries.map(summaryItem);
  const { maxDepth } = options;
  const run =
    planCondensedPass(items, options.policy, { maxDepth }) ??
    // Only a target that is not reached yet is worth the hard way.
    (options.targetTokens === undefined
      ? undefined
      : planCondensedPass(items, options.policy, { hard: true, maxDepth }));
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

/** The prompt changed anyway, so now is when old tool results may be cut short without spoiling a provider's cache. */
async function markPruned(store: Store, ref: ConversationRef): Promise<void> {
  const frontier = await loadFrontier(store, ref);
  const upTo = prunableUpTo(await newestRaw(store, ref, frontier, prunedWindow));
  await store.transaction(({ db }) =>
    db
      .updateTable("context_states")
      .set({ pruned_seq: upTo })
      .where("agent", "=", ref.agent)
      .where("conversation", "=", ref.conversation)
      .where("pruned_seq", "<", upTo)
      .execute(),
  );
}

function stop(result: CompactResult, because: string): void {
  result.status = "stopped";
  result.because = because;
}

function count(result: CompactResult, made: MadeSummary): void {
  result.calls += made.calls;
  result.modelPasses += made.calls > 0 ? 1 : 0;
  result.faults.push(...made.faults);
  if (result.faults.length > faultsKept) result.faults.splice(0, result.faults.length - faultsKept);
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
