import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { LoadedConfig } from "../../config/index.ts";
import type { Clock, EngineEvent, Random } from "../../domain/index.ts";
import { createJob, type JobHandler, type JobQueue } from "../../jobs/index.ts";
import { canExtract, createExtractionJob, hasUnreadMessages } from "../../memory/index.ts";
import { addNotice, findSessionIfAny, readSessionStart, type Session } from "../../session/index.ts";
import { enqueueJob, type NewJob, type Store } from "../../store/index.ts";
import { estimateTokens } from "../../text/index.ts";
import { appendEntries } from "../../transcript/index.ts";
import {
  bootstrapTokens,
  type ContextSettings,
  canCompact,
  contextSettings,
  createPolicy,
} from "../context-settings.ts";
import { loadFrontier } from "../frontier.ts";
import { afterBoundary, measureContext } from "../measure.ts";
import { isRetained, type SessionBoundary, toBoundary } from "../session-boundary.ts";
import { checkSummariserIds } from "../summary/registered-summariser.ts";
import type { Summarise } from "../summary/summary-request.ts";
import { SummaryThread } from "../summary/summary-thread.ts";
import { messageShare } from "../view/message-groups.ts";
import { systemPromptAddition } from "../view/render-summaries.ts";
import { rawTokens } from "../window.ts";
import { type BeforeCompactHook, type SweepReason, withCompactionHook } from "./before-compact.ts";
import { chooseSummariser, createBuiltIn, getTargets, type SummaryWriters } from "./choose-summariser.ts";
import { canContinue, checkReached, joinResults, nothingToDo } from "./compact-results.ts";
import { findCompactionTrigger } from "./compaction-trigger.ts";
import { type CompactionPolicy, manualPolicy } from "./policy.ts";
import { type CompactResult, sweepConversation } from "./sweep.ts";

export interface CompactRequest {
  /** Compact until the context holds no more than this. */
  budgetTokens?: number;
  /** The newest tokens that a manual compaction keeps: a number, or true for `context.keepRecentTokens`. */
  keepRecentTokens?: number | true;
  /** Whether a turn longer than the budget may be compacted with its request; the caller must restate the request. */
  splitTurns?: boolean;
  instructions?: string;
  /** A summary written by the caller: it replaces everything that is compacted. */
  summary?: string;
  model?: string;
  signal?: AbortSignal;
}

/** Facts about a turn's prompt. */
export interface TurnFacts {
  windowTokens?: number;
  /** The tokens that the provider counted for the prompt. */
  observedTokens?: number;
  /** The estimate for the same prompt; with it, the estimates for the model improve. */
  estimatedTokens?: number;
  model?: string;
}

type JobReason = "turn" | "new" | "import";

export interface Compactor {
  /** A manual compaction, or one to a budget: the caller waits for it, and for another process at the same work. */
  compact(session: Session, request: CompactRequest): Promise<CompactResult>;
  /** Sweeps until the context is under a share of the budget; falls back to the built-in summariser if necessary. */
  compactUntilUnder(
    session: Session,
    request: CompactRequest & { budgetTokens: number },
    reason: "budget" | "overflow",
  ): Promise<CompactResult>;
}

export interface CompactorOptions extends SummaryWriters {
  loaded: LoadedConfig;
  store: Store;
  /** Is asked before each summary. */
  beforeCompact?: BeforeCompactHook;
  jobs: JobQueue;
  emit(event: EngineEvent): void;
}

/** The share of a budget that a compaction aims at: the rest is for the next messages and for recall. */
const targetShare = 0.45;
const tailShareOfBudget = 0.25;
/** After a provider refused the prompt, the estimates were too low and little is kept. */
const emergencyShare = 0.2;
const emergencyTail = 2;
const tailShareOfWindow = 0.35;
/** The largest share of a budget that one leaf stands for, so that small budgets still get several. */
const leafShareOfBudget = 0.5;
const leafTokensMin = 1_000;
/** A long history gets longer leaves, up to the configured length: fewer steps lose less than many. */
const leavesWanted = 12;
/** The largest shares of a budget for one leaf and one condensed summary. */
const leafTargetShare = 0.3;
const condensedTargetShare = 0.25;
/** How many times the passes of one sweep a compaction to a budget may take. */
const budgetRounds = 10;
const busyWaitMs = 30_000;
const busyPollMs = 100;
/** How often one job continues a sweep that was cut short. */
const roundsMax = 100;

const jobPayload = z.object({
  because: z.enum(["turn", "new", "import"]),
  windowTokens: z.number().optional(),
  observedTokens: z.number().optional(),
  estimatedTokens: z.number().optional(),
  model: z.string().optional(),
});

interface SweepPlan {
  policy: CompactionPolicy;
  targetTokens?: number;
  maxLeafPasses?: number;
  maxDepth?: number;
  rounds?: number;
  deadlineMs?: number;
  /** The built-in summariser takes over when the model fails, because the window would overflow otherwise. */
  mustProgress?: boolean;
  builtInOnly?: boolean;
  /** The text of the summary, when the caller provides it. */
  given?: string;
  request: Pick<CompactRequest, "instructions" | "signal">;
}

/** Decides what is compacted and when, and registers the background jobs that do it. */
export function createCompactor(options: CompactorOptions): Compactor {
  const { loaded, store, jobs, emit } = options;
  const { config } = loaded;
  checkSummariserIds(loaded, options.summarisers);

  const { timezone: timeZone } = config;
  const thread = new SummaryThread();
  const readBoundary = async (session: Session): Promise<SessionBoundary | undefined> =>
    toBoundary(await readSessionStart(store, session), contextSettings(config, { session }).newSessionRetainDepth);

  const compactUntilUnder: Compactor["compactUntilUnder"] = async (session, request, reason) => {
    const { budgetTokens } = request;
    const configured = contextSettings(config, { session, model: request.model });
    // A summary must leave room for others in a small budget.
    const settings = {
      ...configured,
      leafTargetTokens: Math.min(configured.leafTargetTokens, Math.floor(budgetTokens * leafTargetShare)),
      condensedTargetTokens: Math.min(
        configured.condensedTargetTokens,
        Math.floor(budgetTokens * condensedTargetShare),
      ),
    };
    const policy = createPolicy(settings);
    const tailMax = Math.floor(budgetTokens * tailShareOfBudget);
    const isEmergency = reason === "overflow";
    const boundary = await readBoundary(session);
    const frontier = await loadFrontier(store, session, { boundary });
    const historyTokens = await rawTokens(store, session, afterBoundary(frontier, boundary));
    const result = await sweep(session, settings, reason, {
      policy: {
        ...policy,
        freshTailCount: isEmergency ? Math.min(policy.freshTailCount, emergencyTail) : policy.freshTailCount,
        tailHoldsNewestUser: request.splitTurns !== true,
        freshTailMaxTokens: Math.min(policy.freshTailMaxTokens ?? Number.POSITIVE_INFINITY, tailMax),
        messageTokensMax: Math.floor(budgetTokens * messageShare),
        leafChunkTokens: Math.min(
          policy.leafChunkTokens,
          Math.max(
            leafTokensMin,
            Math.floor(budgetTokens * leafShareOfBudget),
            Math.floor(historyTokens / leavesWanted),
          ),
        ),
      },
      targetTokens: Math.floor(budgetTokens * (isEmergency ? emergencyShare : targetShare)),
      rounds: budgetRounds,
      deadlineMs: settings.compactUntilUnderDeadlineMs,
      mustProgress: true,
      request,
    });
    return checkReached(result, budgetTokens);
  };

  const compactManually = (session: Session, request: CompactRequest): Promise<CompactResult> => {
    const settings = contextSettings(config, { session, model: request.model });
    const policy = manualPolicy(createPolicy(settings), keepRecent(loaded, request.keepRecentTokens));
    if (request.summary === undefined) return sweep(session, settings, "manual", { policy, request });
    // One summary, written by the caller, replaces everything that is not recent.
    return sweep(session, settings, "manual", {
      policy: { ...policy, leafChunkTokens: Number.MAX_SAFE_INTEGER },
      maxLeafPasses: 1,
      maxDepth: 0,
      given: request.summary,
      request,
    });
  };

  /** After a turn: nothing, one leaf and its condensation, or a full sweep. */
  const compactAfterTurn = async (
    session: Session,
    facts: TurnFacts,
    signal: AbortSignal,
  ): Promise<CompactResult | undefined> => {
    if (!canCompact(config, session)) return undefined;
    const settings = contextSettings(config, { session, ...facts });
    const policy = createPolicy(settings);
    const { windowTokens } = settings;
    const { observedTokens, estimatedTokens } = facts;
    const shown = { ...policy, messageTokensMax: Math.floor(windowTokens * messageShare) };
    const trigger = await findCompactionTrigger(store, session, {
      policy: shown,
      windowTokens,
      observedTokens,
      estimatedTokens,
      boundary: await readBoundary(session),
      timeZone,
    });
    if (trigger.work === "none") return undefined;
    const request = { signal };
    if (trigger.work === "sweep") {
      // A small window cannot hold a long tail: the rest of it must be enough for the next turns.
      const tailMax = Math.floor(windowTokens * tailShareOfWindow);
      const freshTailMaxTokens = Math.min(policy.freshTailMaxTokens ?? Number.POSITIVE_INFINITY, tailMax);
      const { messageTokensMax } = shown;
      return sweep(session, settings, "threshold", {
        policy: { ...policy, freshTailMaxTokens, messageTokensMax },
        request,
      });
    }
    const maxDepth = policy.incrementalMaxDepth;
    return sweep(session, settings, "leaf", { policy, maxLeafPasses: 1, maxDepth, request });
  };

  /** After `/new`: summarises the ended session, so that it can be found by its topics. */
  const compactEnded = async (session: Session, signal: AbortSignal): Promise<CompactResult | undefined> => {
    const start = await readSessionStart(store, session);
    if (start === undefined) return undefined;
    const settings = contextSettings(config, { session });
    // Bounded by an entry, not by a number of messages: more of the new session may arrive at any moment.
    const policy = { ...manualPolicy(createPolicy(settings)), endSeq: start };
    return sweep(session, settings, "new", { policy, request: { signal } });
  };

  /** After an import: by the built-in summariser alone, because a history of years must not cost a model's fee. */
  const compactImported = async (session: Session, signal: AbortSignal): Promise<CompactResult | undefined> => {
    const settings = contextSettings(config, { session });
    const policy = { ...createPolicy(settings), freshTailMaxTokens: bootstrapTokens(settings) };
    const trigger = await findCompactionTrigger(store, session, { policy, windowTokens: settings.windowTokens });
    if (trigger.work === "none") return undefined;
    return sweep(session, settings, "import", { policy, builtInOnly: true, request: { signal } });
  };

  async function sweep(
    session: Session,
    settings: ContextSettings,
    reason: SweepReason,
    plan: SweepPlan,
  ): Promise<CompactResult> {
    const started = performance.now();
    if (reason !== "import") await extractBefore(session);
    const { targetTokens } = plan;
    const boundary = await readBoundary(session);
    const run = (summarise: Summarise) =>
      sweepConversation(store, session, {
        summarise,
        policy: { ...plan.policy, barrierSeq: boundary?.seq },
        boundary,
        timeZone,
        targetTokens,
        maxLeafPasses: plan.maxLeafPasses,
        maxDepth: plan.maxDepth,
        maxModelPasses: settings.maxSweepIterations * (plan.rounds ?? 1),
        deadlineMs: plan.deadlineMs ?? settings.sweepDeadlineMs,
        isSealed: reason === "manual",
        acceptsAnySize: plan.given !== undefined,
        instructions: [settings.customInstructions, plan.request.instructions].filter(Boolean).join("\n") || undefined,
        signal: plan.request.signal,
      });
    const builtIn = createBuiltIn(settings, thread, timeZone);
    const { given } = plan;
    const notes = new Set<string>();
    const summarise = plan.builtInOnly ? builtIn : chooseSummariser(settings, options, thread, timeZone);
    const asked = { session, reason, notes, timeZone, ...getTargets(settings) };
    let result = await run(
      given !== undefined ? repeatText(given) : withCompactionHook(summarise, options.beforeCompact, asked),
    );
    const isStuck = result.failure !== undefined || (result.status === "stopped" && targetTokens !== undefined);
    if (plan.mustProgress && isStuck && result.tokensAfter > (targetTokens ?? 0)) {
      result = joinResults(result, await run(builtIn));
    }
    if (notes.size > 0) result.notes = [...notes];
    if (result.leafPasses + result.condensedPasses > 0) await recordCompaction(session, result);
    const { status, tokensBefore, tokensAfter, leafPasses, condensedPasses, calls, because } = result;
    emit({
      type: "compaction",
      agent: session.agent,
      key: session.key,
      sessionId: session.sessionId,
      data: {
        trigger: reason,
        status,
        tokensBefore,
        tokensAfter,
        leafPasses,
        condensedPasses,
        calls,
        milliseconds: Math.round(performance.now() - started),
        ...(because === undefined ? {} : { because }),
      },
    });
    return result;
  }

  /** The size of a session's context as it is sent, with the addition to the system prompt. */
  const countContext = async (session: Session, budgetTokens: number): Promise<number> => {
    const boundary = await readBoundary(session);
    const frontier = await loadFrontier(store, session, { boundary });
    const { tokens } = await measureContext(store, session, frontier, { boundary, timeZone });
    const retained = frontier.summaries.filter((one) => isRetained(one, boundary));
    return tokens + estimateTokens(systemPromptAddition(retained, { budgetTokens }) ?? "");
  };

  /** Memories are extracted before their messages leave the context; imported ones wait for their next turn. */
  const extractBefore = async (session: Session): Promise<void> => {
    if (!canExtract(config, session.key) || !(await hasUnreadMessages(store, session))) return;
    const job = createExtractionJob(store, session, "compaction");
    await store.transaction((tx) => enqueueJob(tx, job, store.clock.now()));
  };

  /** Writes an entry that records the sweep, and counts it in the session. */
  const recordCompaction = async (session: Session, result: CompactResult): Promise<void> => {
    const { tokensBefore, tokensAfter, leafPasses, condensedPasses } = result;
    const summary = `${leafPasses} leaf and ${condensedPasses} condensed summaries: ${tokensBefore} → ${tokensAfter} tokens`;
    await store.transaction(async (tx) => {
      await appendEntries(tx, session, [{ type: "compaction", summary, tokensBefore, tokensAfter }]);
      await tx.db
        .updateTable("sessions")
        .set((eb) => ({ compaction_count: eb("compaction_count", "+", 1), context_tokens: tokensAfter }))
        .where("agent", "=", session.agent)
        .where("key", "=", session.key)
        .execute();
    });
    if (session.verboseLevel !== undefined && session.verboseLevel !== "off") {
      const text = `The conversation was compacted: ${tokensBefore} → ${tokensAfter} tokens.`;
      await addNotice(store, session, text, "user");
    }
  };

  /** A failing model fails the job, so that it is retried later; a sweep that was cut short is continued. */
  const handler: JobHandler = async (job, signal) => {
    const { because, ...facts } = jobPayload.parse(job.payload);
    const session = await findSessionIfAny(store, job.key, job.agent);
    if (!session || !canCompact(config, session)) return;
    for (let round = 0; round < roundsMax; round += 1) {
      signal.throwIfAborted();
      const result = await (because === "new"
        ? compactEnded(session, signal)
        : because === "import"
          ? compactImported(session, signal)
          : compactAfterTurn(session, facts, signal));
      if (result === undefined || !canContinue(result) || because === "import") return;
      // The provider's count is from before this round; from now on the stored figures decide.
      facts.observedTokens = undefined;
      facts.estimatedTokens = undefined;
    }
  };
  for (const reason of ["turn", "new", "import"] as const) jobs.register(`compact ${reason}`, handler);

  return {
    compactUntilUnder,
    async compact(session, request) {
      const { budgetTokens } = request;
      const run = async () => {
        if (request.summary !== undefined || budgetTokens === undefined) return compactManually(session, request);
        const tokens = await countContext(session, budgetTokens);
        // What fits is left alone: a summary would only lose detail, and may even be longer.
        if (tokens <= budgetTokens) return nothingToDo(tokens);
        return compactUntilUnder(session, { ...request, budgetTokens }, "budget");
      };
      const waitsUntil = performance.now() + busyWaitMs;
      for (;;) {
        const result = await run();
        if (result.status !== "busy" || performance.now() > waitsUntil) return result;
        await sleep(busyPollMs, undefined, { signal: request.signal });
      }
    },
  };
}

/** Several turns make one job of a kind: its key is the session's. */
export function compactionJob(
  sources: { clock: Clock; random: Random },
  { agent, key }: { agent: string; key: string },
  because: JobReason,
  { windowTokens, observedTokens, estimatedTokens, model }: TurnFacts = {},
): NewJob {
  const payload = { because, windowTokens, observedTokens, estimatedTokens, model };
  return createJob(sources, { agent, kind: `compact ${because}`, key, payload });
}

/** Without a number, and without one in the settings, a manual compaction keeps nothing. */
function keepRecent({ config, sources }: LoadedConfig, requested: number | true | undefined): number | undefined {
  if (typeof requested === "number") return requested;
  const isSet = sources.get("context.keepRecentTokens")?.kind !== "default";
  return requested === true || isSet ? config.context.keepRecentTokens : undefined;
}

function repeatText(content: string): Summarise {
  return async () => ({ content, tokens: 0, level: "normal", promptVersion: 0, faults: [], calls: 0 });
}
