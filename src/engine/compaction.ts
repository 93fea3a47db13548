import { setTimeout as sleep } from "node:timers/promises";
import {
  type CompactionPolicy,
  type CompactResult,
  compact,
  findCompactionTrigger,
  manualPolicy,
  messagesSince,
  type Summarise,
} from "../context/index.ts";
import { hasUnseen } from "../memory/index.ts";
import { addNotice, readSessionStart, type Session } from "../session/index.ts";
import { enqueueJob } from "../store/index.ts";
import { appendEntries } from "../transcript/index.ts";
import { bootstrapTokens, type ContextSettings, contextSettings, mayCompact, policyOf } from "./context-settings.ts";
import type { EngineHost } from "./host.ts";
import { extractJob, mayExtract } from "./memory-settings.ts";
import { summariserFor } from "./summariser.ts";
import { refOf } from "./transcripts.ts";

export interface CompactRequest {
  /** Compact until the context holds no more than this. */
  budgetTokens?: number;
  /** What a manual compaction leaves as it is: a number of tokens, or true for `context.keepRecentTokens`. */
  keepRecentTokens?: number | true;
  /**
   * Whether a turn that is longer than the budget may be compacted too, its request included; the caller has to restate
   * the request then.
   */
  splitTurns?: boolean;
  instructions?: string;
  /** The summary itself, by whoever asks: it stands for everything that is compacted. */
  summary?: string;
  model?: string;
  signal?: AbortSignal;
}

/** What is known of a turn when it is over. */
export interface TurnFacts {
  windowTokens?: number;
  /** What the provider counted for the prompt. */
  observedTokens?: number;
  /** What had been estimated for the same prompt; with it, the estimates for the model get better. */
  estimatedTokens?: number;
  model?: string;
}

export type CompactTrigger = "manual" | "leaf" | "threshold" | "budget" | "overflow" | "new" | "import";

/** How much of a budget a compaction aims at: the rest is for what comes next and for what prompts bring up. */
const targetShare = 0.45;
const tailShareOfBudget = 0.25;
/** When a provider has refused the prompt, little is kept: what was estimated was wrong, and it must fit now. */
const emergencyShare = 0.2;
const emergencyTail = 2;
const tailShareOfWindow = 0.35;
/** The largest share of a budget that one leaf stands for, so that small budgets still get several. */
const leafShareOfBudget = 0.5;
const leafTokensMin = 1_000;
const busyWaitMs = 30_000;
const busyPollMs = 100;
const sweepsToBudgetMax = 10;

/** Manual, or to a budget: what a caller asks for and waits for. Another process at the same work is waited for. */
export async function compactSession(
  host: EngineHost,
  session: Session,
  request: CompactRequest,
): Promise<CompactResult> {
  const { budgetTokens } = request;
  const settings = contextSettings(host.loaded.config, { session, model: request.model });
  const { summary } = request;
  const run = (): Promise<CompactResult> =>
    summary !== undefined
      ? compactAs(host, session, settings, { ...request, summary })
      : budgetTokens === undefined
        ? sweep(host, session, settings, "manual", {
            policy: manualPolicy(policyOf(settings), keepRecent(host, request.keepRecentTokens)),
            request,
          })
        : compactUntilUnder(host, session, { ...request, budgetTokens }, "budget");
  const waitsUntil = performance.now() + busyWaitMs;
  for (;;) {
    const result = await run();
    if (result.status !== "busy" || performance.now() > waitsUntil) return result;
    await sleep(busyPollMs, undefined, { signal: request.signal });
  }
}

/** One summary, written by the caller, in the place of all that is not recent. */
function compactAs(
  host: EngineHost,
  session: Session,
  settings: ContextSettings,
  request: CompactRequest & { summary: string },
): Promise<CompactResult> {
  const policy = manualPolicy(policyOf(settings), keepRecent(host, request.keepRecentTokens));
  return sweep(host, session, settings, "manual", {
    policy: { ...policy, leafChunkTokens: Number.MAX_SAFE_INTEGER },
    maxLeafPasses: 1,
    maxDepth: 0,
    given: request.summary,
    request,
  });
}

/** Without a number, and without one in the settings, a manual compaction is a hard checkpoint. */
function keepRecent(host: EngineHost, asked: number | true | undefined): number | undefined {
  const { config, sources } = host.loaded;
  if (typeof asked === "number") return asked;
  const isSet = sources.get("context.keepRecentTokens")?.kind !== "default";
  return asked === true || isSet ? config.context.keepRecentTokens : undefined;
}

/** Sweeps, in rounds, until the context is under a share of the budget. It always gets somewhere: see `mustProgress`. */
export async function compactUntilUnder(
  host: EngineHost,
  session: Session,
  request: CompactRequest & { budgetTokens: number },
  trigger: CompactTrigger,
): Promise<CompactResult> {
  const { budgetTokens } = request;
  const settings = contextSettings(host.loaded.config, { session, model: request.model });
  const policy = policyOf(settings);
  const tailMax = Math.floor(budgetTokens * tailShareOfBudget);
  const isEmergency = trigger === "overflow";
  return sweep(host, session, settings, trigger, {
    policy: {
      ...policy,
      freshTailCount: isEmergency ? Math.min(policy.freshTailCount, emergencyTail) : policy.freshTailCount,
      tailHoldsNewestUser: request.splitTurns !== true,
      freshTailMaxTokens: Math.min(policy.freshTailMaxTokens ?? Number.POSITIVE_INFINITY, tailMax),
      leafChunkTokens: Math.min(
        policy.leafChunkTokens,
        Math.max(leafTokensMin, Math.floor(budgetTokens * leafShareOfBudget)),
      ),
    },
    targetTokens: Math.floor(budgetTokens * (isEmergency ? emergencyShare : targetShare)),
    rounds: sweepsToBudgetMax,
    deadlineMs: settings.compactUntilUnderDeadlineMs,
    mustProgress: true,
    request,
  });
}

/** What is due after a turn: nothing, one leaf and its condensation, or a full sweep. */
export async function compactAfterTurn(
  host: EngineHost,
  session: Session,
  facts: TurnFacts,
  signal?: AbortSignal,
): Promise<CompactResult | undefined> {
  if (!mayCompact(host.loaded.config, session).may) return undefined;
  const settings = contextSettings(host.loaded.config, { session, ...facts });
  const policy = policyOf(settings);
  const { windowTokens } = settings;
  const due = await findCompactionTrigger(host.store, session, {
    policy,
    windowTokens,
    observedTokens: facts.observedTokens,
  });
  if (due.work === "none") return undefined;
  const request = { signal };
  if (due.work === "sweep") {
    // A small window cannot hold a long tail: what is left of it must be enough for the next turns.
    const tailMax = Math.floor(windowTokens * tailShareOfWindow);
    const freshTailMaxTokens = Math.min(policy.freshTailMaxTokens ?? Number.POSITIVE_INFINITY, tailMax);
    return sweep(host, session, settings, "threshold", { policy: { ...policy, freshTailMaxTokens }, request });
  }
  const maxDepth = policy.incrementalMaxDepth;
  return sweep(host, session, settings, "leaf", { policy, maxLeafPasses: 1, maxDepth, request });
}

/** Summarises what `/new` leaves behind, so that it can be found by what it was about. */
export async function compactLeftBehind(
  host: EngineHost,
  session: Session,
  signal?: AbortSignal,
): Promise<CompactResult | undefined> {
  const begin = await readSessionStart(host, session);
  if (begin === undefined) return undefined;
  const settings = contextSettings(host.loaded.config, { session });
  const since = await messagesSince(host.store, session, begin);
  const policy = { ...manualPolicy(policyOf(settings)), freshTailCount: since };
  return sweep(host, session, settings, "new", { policy, request: { signal } });
}

/** Summarises what was imported, but for its end, by what is built in: a history of years must not cost a model's fee. */
export async function compactImported(
  host: EngineHost,
  session: Session,
  signal?: AbortSignal,
): Promise<CompactResult | undefined> {
  const settings = contextSettings(host.loaded.config, { session });
  const policy = { ...policyOf(settings), freshTailMaxTokens: bootstrapTokens(settings) };
  const due = await findCompactionTrigger(host.store, session, { policy, windowTokens: settings.windowTokens });
  if (due.work === "none") return undefined;
  return sweep(host, session, settings, "import", { policy, builtInOnly: true, request: { signal } });
}

interface SweepPlan {
  policy: CompactionPolicy;
  targetTokens?: number;
  maxLeafPasses?: number;
  maxDepth?: number;
  rounds?: number;
  deadlineMs?: number;
  /** What is built in takes over where a model is down, because the window would overflow otherwise. */
  mustProgress?: boolean;
  builtInOnly?: boolean;
  /** The text of the summary, where nobody has to write it. */
  given?: string;
  request: Pick<CompactRequest, "instructions" | "signal">;
}

async function sweep(
  host: EngineHost,
  session: Session,
  settings: ContextSettings,
  trigger: CompactTrigger,
  plan: SweepPlan,
): Promise<CompactResult> {
  const started = performance.now();
  if (trigger !== "import") await extractBefore(host, session);
  const options = {
    policy: plan.policy,
    targetTokens: plan.targetTokens,
    maxLeafPasses: plan.maxLeafPasses,
    maxDepth: plan.maxDepth,
    maxModelPasses: settings.maxSweepIterations * (plan.rounds ?? 1),
    deadlineMs: plan.deadlineMs ?? settings.sweepDeadlineMs,
    instructions: [settings.customInstructions, plan.request.instructions].filter(Boolean).join("\n") || undefined,
    signal: plan.request.signal,
  };
  const by = (summarise: Summarise) => compact({ ...host, summarise }, session, options);
  const { given } = plan;
  let result = await by(
    given === undefined
      ? summariserFor(host, settings, plan.builtInOnly ? "built in" : "any")
      : async () => ({ content: given, level: "normal", promptVersion: 0, faults: [], calls: 0 }),
  );
  const stuck = result.failure !== undefined || (result.status === "stopped" && options.targetTokens !== undefined);
  if (plan.mustProgress && stuck && result.tokensAfter > (options.targetTokens ?? 0)) {
    result = joined(result, await by(summariserFor(host, settings, "built in")));
  }
  if (result.leafPasses + result.condensedPasses > 0) await record(host, session, result);
  host.emit({
    type: "compaction",
    agent: session.agent,
    key: session.key,
    sessionId: session.sessionId,
    data: {
      trigger,
      status: result.status,
      tokensBefore: result.tokensBefore,
      tokensAfter: result.tokensAfter,
      leafPasses: result.leafPasses,
      condensedPasses: result.condensedPasses,
      calls: result.calls,
      milliseconds: Math.round(performance.now() - started),
      ...(result.because === undefined ? {} : { because: result.because }),
    },
  });
  return result;
}

/** Memories are drawn before what they come from leaves the context; what was imported is left to its next turn. */
async function extractBefore(host: EngineHost, session: Session): Promise<void> {
  if (!mayExtract(host.loaded.config, session) || !(await hasUnseen(host.store, session))) return;
  await host.store.transaction((tx) => enqueueJob(tx, extractJob(host, session, "compaction"), host.clock.now()));
}

/** What a model began and what is built in ended. */
function joined(first: CompactResult, second: CompactResult): CompactResult {
  const levels = { ...first.levels };
  for (const [level, count] of Object.entries(second.levels)) levels[level] = (levels[level] ?? 0) + count;
  return {
    status: second.status === "nothing" ? first.status : second.status,
    tokensBefore: first.tokensBefore,
    tokensAfter: second.tokensAfter,
    leafPasses: first.leafPasses + second.leafPasses,
    condensedPasses: first.condensedPasses + second.condensedPasses,
    modelPasses: first.modelPasses + second.modelPasses,
    calls: first.calls + second.calls,
    levels,
    faults: [...first.faults, ...second.faults],
    because: [first.because, second.because].filter(Boolean).join("; then by what is built in: ") || undefined,
  };
}

/** An entry of the transcript says what a sweep did, and the session counts it. */
async function record(host: EngineHost, session: Session, result: CompactResult): Promise<void> {
  const { tokensBefore, tokensAfter, leafPasses, condensedPasses } = result;
  const summary = `${leafPasses} leaf and ${condensedPasses} condensed summaries: ${tokensBefore} → ${tokensAfter} tokens`;
  await host.store.transaction(async (tx) => {
    await appendEntries(tx, refOf(session), [{ type: "compaction", summary, tokensBefore, tokensAfter }], host);
    await tx.db
      .updateTable("sessions")
      .set((eb) => ({ compaction_count: eb("compaction_count", "+", 1), context_tokens: tokensAfter }))
      .where("agent", "=", session.agent)
      .where("key", "=", session.key)
      .execute();
  });
  if (session.verboseLevel !== undefined && session.verboseLevel !== "off") {
    await addNotice(host, session, `The conversation was compacted: ${tokensBefore} → ${tokensAfter} tokens.`);
  }
}
