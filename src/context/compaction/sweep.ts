import { type ErrorCode, newId, VarveError } from "../../domain/index.ts";
import { dropLease, type Store, takeLease } from "../../store/index.ts";
import type { ConversationRef, StoredSummary } from "../dag.ts";
import { type Frontier, loadFrontier, publish } from "../frontier.ts";
import type { ContextItem } from "../items.ts";
import { countSummaryTokens, measureContext, measureSummaries } from "../measure.ts";
import { isRetained, type SessionBoundary } from "../session-boundary.ts";
import type { Summarise } from "../summary/summary-request.ts";
import { prunableUpTo } from "../view/prune.ts";
import { type MessageEntry, newestRaw } from "../window.ts";
import { CompactionCancelled } from "./before-compact.ts";
import { condensedNode, leafNode, type MadeSummary } from "./make-summary.ts";
import { planCondensedPass, planLeafPass, type Run } from "./plan.ts";
import type { CompactionPolicy } from "./policy.ts";
import { SweepBuffer } from "./sweep-buffer.ts";

export interface SweepOptions {
  summarise: Summarise;
  policy: CompactionPolicy;
  /** Stop once the context holds no more than this; compact everything possible when absent. */
  targetTokens?: number;
  /** The most leaf passes; no limit when absent. */
  maxLeafPasses?: number;
  /** The greatest depth of a summary; as deep as needed when absent. */
  maxDepth?: number;
  /** The most summaries by a model. The built-in summariser costs nothing; only the deadline limits it. */
  maxModelPasses: number;
  deadlineMs: number;
  /** The session that is compacted; what precedes it counts only as far as its context retains it. */
  boundary?: SessionBoundary;
  /** The zone in which times are written. */
  timeZone?: string;
  /** Whether a leaf is published whatever its size: the caller wrote it. */
  acceptsAnySize?: boolean;
  /** A person asked for it: views do not open the summaries again. */
  isSealed?: boolean;
  instructions?: string;
  signal?: AbortSignal;
}

export interface CompactResult {
  /** `cancelled`: a hook cancelled it; the summaries that were published before stay. */
  status: "done" | "nothing" | "busy" | "stopped" | "cancelled";
  tokensBefore: number;
  tokensAfter: number;
  leafPasses: number;
  condensedPasses: number;
  /** How many summaries a model was asked for. */
  modelPasses: number;
  calls: number;
  levels: Record<string, number>;
  /** The last faults found in summaries of models. */
  faults: string[];
  /** Why it stopped before it reached its target. */
  because?: string;
  /** Notes for the caller, such as a hook's cancellation that had no effect. */
  notes?: string[];
  /** The error that stopped it: a refused key, a paused model, a timeout. */
  failure?: ErrorCode;
}

/** Short, so that another process continues soon after a crash; extended while the sweep runs. */
const leaseMs = 12_000;
const leaseBeatMs = 4_000;
/** A safety limit; the deadline ends a sweep long before. */
const passesMax = 100_000;
const wideningMax = 256;
const faultsKept = 20;
/** How many of the newest messages are searched for the last few assistant turns. */
const prunedWindow = 200;

/**
 * Compacts a conversation: leaf passes, oldest messages first, then condensation from the lowest depth, until the target
 * is reached or nothing is left to do. Summaries are written between transactions; a lease keeps other processes out.
 */
export async function sweepConversation(
  store: Store,
  ref: ConversationRef,
  options: SweepOptions,
): Promise<CompactResult> {
  const owner = newId(store.clock, store.random);
  const hold = () => takeLease(store, `compact ${ref.agent} ${ref.conversation}`, owner, store.clock.now(), leaseMs);
  const lease = await hold();
  const { boundary, timeZone } = options;
  const frontier = await loadFrontier(store, ref, { boundary });
  const { messageTokensMax } = options.policy;
  const { tokens: before } = await measureContext(store, ref, frontier, { boundary, messageTokensMax, timeZone });
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
  // A slow model may take minutes. A failed extension is made up for by the next one, or by the check when publishing.
  const beat = setInterval(() => void hold().catch(() => undefined), leaseBeatMs);
  beat.unref();
  try {
    await runPasses(store, ref, options, result);
    if (result.leafPasses + result.condensedPasses > 0) await markPruned(store, ref);
  } finally {
    clearInterval(beat);
    await dropLease(store, lease);
  }
  if (result.leafPasses + result.condensedPasses > 0 && result.status === "nothing") result.status = "done";
  return result;
}

async function runPasses(
  store: Store,
  ref: ConversationRef,
  options: SweepOptions,
  result: CompactResult,
): Promise<void> {
  const endsAt = store.clock.now() + options.deadlineMs;
  const reached = () => options.targetTokens !== undefined && result.tokensAfter <= options.targetTokens;
  const buffer = new SweepBuffer(store, ref);
  // Runs that no summary shortens. They are passed over; the sweep continues with the others.
  const skipped = new Set<string>();
  let stale = 0;
  for (let pass = 0; ; pass += 1) {
    options.signal?.throwIfAborted();
    if (reached()) return;
    if (result.modelPasses >= options.maxModelPasses) {
      return stopEarly(result, `${options.maxModelPasses} summaries by a model are the limit of one sweep`);
    }
    if (pass >= passesMax) return stopEarly(result, `${passesMax} passes are the limit of one sweep`);
    if (store.clock.now() > endsAt) return stopEarly(result, "the time for one sweep is over");
    const done = await nextPass(store, ref, options, result, buffer, skipped);
    if (done === "failed") return;
    if (done === undefined) return;
    if (done === "saved" || done === "skipped") continue;
    stale += 1;
    if (stale > 3) return stopEarly(result, "the conversation changed faster than it could be compacted");
  }
}

/** One pass of a sweep. The frontier is loaded once for it. */
interface Pass {
  store: Store;
  ref: ConversationRef;
  options: SweepOptions;
  result: CompactResult;
  buffer: SweepBuffer;
  frontier: Frontier;
  skipped: Set<string>;
}

type PassOutcome = "saved" | "skipped" | "stale" | undefined;

/** The model is unavailable: nothing more is written, and what was published stays. */
const modelIsDown = new Set<ErrorCode>(["MODEL_KEY_REFUSED", "MODEL_PAUSED", "MODEL_TIMEOUT"]);

async function nextPass(
  store: Store,
  ref: ConversationRef,
  options: SweepOptions,
  result: CompactResult,
  buffer: SweepBuffer,
  skipped: Set<string>,
): Promise<PassOutcome | "failed"> {
  try {
    const frontier = await loadFrontier(store, ref, { known: buffer.summaries, boundary: options.boundary });
    const pass: Pass = { store, ref, options, result, buffer, frontier, skipped };
    return (await leafPass(pass)) ?? (await condensedPass(pass));
  } catch (error) {
    if (error instanceof CompactionCancelled) {
      result.status = "cancelled";
      result.because = error.message;
      return "failed";
    }
    if (!(error instanceof VarveError) || !modelIsDown.has(error.code)) throw error;
    stopEarly(result, error.message);
    result.failure = error.code;
    return "failed";
  }
}

async function leafPass(pass: Pass, widening = 1, tried = 0): Promise<PassOutcome> {
  const { store, ref, options, result, buffer, frontier, skipped } = pass;
  const leafKey = `leaf ${frontier.coveredSeq}`;
  if (skipped.has(leafKey)) return undefined;
  const maxPasses = options.maxLeafPasses ?? Number.POSITIVE_INFINITY;
  if (result.leafPasses >= maxPasses) return undefined;
  const policy = { ...options.policy, leafChunkTokens: options.policy.leafChunkTokens * widening };
  const oldest = await buffer.readOldest(frontier, policy.leafChunkTokens);
  const entries = await withTail(frontier, policy, oldest, buffer);
  const items: ContextItem[] = [...frontier.summaries.map(summaryItem), ...entries.map((one) => one.item)];
  const run = planLeafPass(items, policy);
  if (!run) return undefined;
  const chosen = entries.slice(run.from - frontier.summaries.length, run.to - frontier.summaries.length);
  if (chosen.length === tried && widening < wideningMax) return leafPass(pass, widening * 4, tried);
  if (result.leafPasses + 1 < maxPasses) {
    buffer.readAhead(frontier, chosen.at(-1)?.item.seq ?? 0, options.policy.leafChunkTokens);
  }
  const made = await leafNode(store, ref, chosen, frontier.summaries.at(-1), options);
  countSummary(result, made);
  const spent = chosen.reduce((sum, one) => sum + one.item.tokens, 0);
  const cost = countSummaryTokens(made.node, [], options.timeZone);
  // What precedes the session is not in view: its leaf takes nothing from it, however short the messages were.
  const isOutside = made.node.lastSeq < (options.boundary?.seq ?? 0);
  if (cost >= spent && options.acceptsAnySize !== true && !(isOutside && widening >= wideningMax)) {
    // A few short messages cannot be shortened: take the large message after them as well.
    if (widening < wideningMax) return leafPass(pass, widening * 4, chosen.length);
    skipped.add(leafKey);
    return "skipped";
  }
  const summaries = [...frontier.summaries, made.node];
  if (!(await publish(store, ref, frontier, { ...made, summaries }))) return "stale";
  result.leafPasses += 1;
  const most = options.policy.messageTokensMax ?? Number.POSITIVE_INFINITY;
  const shown = isOutside ? 0 : chosen.reduce((sum, one) => sum + Math.min(one.item.tokens, most), 0);
  result.tokensAfter += (isRetained(made.node, options.boundary) ? cost : 0) - shown;
  return "saved";
}

/** Adds the newest messages, so that the planner sees where the fresh tail begins. */
async function withTail(
  frontier: Frontier,
  policy: CompactionPolicy,
  oldest: MessageEntry[],
  buffer: SweepBuffer,
): Promise<MessageEntry[]> {
  const count = Math.min(policy.freshTailCount, 1000) + 16;
  const newest = await buffer.readNewest(frontier, count);
  const last = oldest.at(-1)?.item.seq ?? 0;
  return [...oldest, ...newest.filter((one) => one.item.seq > last)];
}

async function condensedPass({ store, ref, options, result, frontier, skipped }: Pass): Promise<PassOutcome> {
  const items = frontier.summaries.map(summaryItem);
  const { maxDepth } = options;
  const runKey = ({ from, to }: Run) => `${frontier.summaries[from]?.id} ${frontier.summaries[to - 1]?.id}`;
  const isSkipped = (one: Run) => skipped.has(runKey(one));
  const run =
    planCondensedPass(items, options.policy, { maxDepth, isSkipped }) ??
    // The hard fanout is used only while a target is not reached.
    (options.targetTokens === undefined
      ? undefined
      : planCondensedPass(items, options.policy, { hard: true, maxDepth, isSkipped }));
  if (!run) return undefined;
  const sources = frontier.summaries.slice(run.from, run.to);
  const made = await condensedNode(store, ref, sources, frontier.summaries[run.from - 1], options);
  countSummary(result, made);
  const sizes = await measureSummaries(store.db, ref.agent, sources, options.timeZone);
  const total = (some: readonly StoredSummary[]) => some.reduce((sum, one) => sum + (sizes.get(one.id) ?? 0), 0);
  const ids = sources.map(({ id }) => id);
  const cost = countSummaryTokens(made.node, ids, options.timeZone);
  if (cost >= total(sources)) {
    skipped.add(runKey(run));
    return "skipped";
  }
  const summaries = [...frontier.summaries.slice(0, run.from), made.node, ...frontier.summaries.slice(run.to)];
  if (!(await publish(store, ref, frontier, { ...made, summaries }))) return "stale";
  result.condensedPasses += 1;
  const isShown = (one: StoredSummary) => isRetained(one, options.boundary);
  result.tokensAfter += (isShown(made.node) ? cost : 0) - total(sources.filter(isShown));
  return "saved";
}

/** The prompt has changed anyway, so old tool results can be truncated now without another loss of the prompt cache. */
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

function stopEarly(result: CompactResult, because: string): void {
  result.status = "stopped";
  result.because = because;
}

function countSummary(result: CompactResult, made: MadeSummary): void {
  result.calls += made.calls;
  result.modelPasses += made.calls > 0 ? 1 : 0;
  result.faults.push(...made.faults);
  if (result.faults.length > faultsKept) result.faults.splice(0, result.faults.length - faultsKept);
  result.levels[made.node.level] = (result.levels[made.node.level] ?? 0) + 1;
}

function summaryItem(summary: StoredSummary): ContextItem {
  const { id, depth, tokens, earliestAt, latestAt, firstSeq } = summary;
  return { kind: "summary", id, depth, tokens, earliestAt, latestAt, firstSeq };
}

export function summaryTokens(frontier: Frontier): number {
  return frontier.summaries.reduce((sum, one) => sum + one.tokens, 0);
}

/** Refuses a budget that nothing fits into. */
export function checkBudget(budgetTokens: number): void {
  if (Number.isInteger(budgetTokens) && budgetTokens >= 256) return;
  throw new VarveError("BAD_REQUEST", `A budget of ${budgetTokens} tokens is too small, or no whole number.`, {
    remedy: "Send a whole number of at least 256.",
  });
}
