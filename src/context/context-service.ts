import type { Principal } from "../authorization/index.ts";
import type { LoadedConfig } from "../config/index.ts";
import { type EngineEvent, type EntryTrust, type Message, systemWait, type Wait } from "../domain/index.ts";
import type { JobQueue } from "../jobs/index.ts";
import {
  canExtract,
  createExtractionJob,
  extractionCursorQuery,
  type MemoryIndex,
  type MemoryService,
  recallsQuery,
  toRecordedRecall,
} from "../memory/index.ts";
import { isContextOverflow, type Models } from "../models/index.ts";
import type { SearchService } from "../search/index.ts";
import { readSessionStart, type Session, type SessionService, sessionStartQuery } from "../session/index.ts";
import { type AppendResult, prepareQuery, type Store } from "../store/index.ts";
import { type TranscriptWriter, toMessageDraft } from "../transcript/index.ts";
import { type CommittedTurn, commitTurn, type TurnExtras } from "./commit-turn.ts";
import type { BeforeCompactHook } from "./compaction/before-compact.ts";
import { activeBytes } from "./compaction/compaction-trigger.ts";
import { type CompactRequest, compactionJob, createCompactor, type TurnFacts } from "./compaction/compactor.ts";
import { type CompactResult, summaryTokens } from "./compaction/sweep.ts";
import { canCompact, contextSettings, promptBudget } from "./context-settings.ts";
import type { StoredSummary } from "./dag.ts";
import { loadFrontier } from "./frontier.ts";
import { summaryTree, type TreeNode } from "./history/describe-summary.ts";
import { expireGrants } from "./history/grants.ts";
import { type Handover, readHandover } from "./history/handover.ts";
import { createHistoryReader, type HistoryReader } from "./history/history-reader.ts";
import type { Layers } from "./layers/layer.ts";
import { type LayerRequest, readLayers } from "./layers/layers.ts";
import { readTinyCores, type TinyCore } from "./layers/tiny-cores.ts";
import { toBoundary } from "./session-boundary.ts";
import type { Summarisers } from "./summary/registered-summariser.ts";
import { computeRatio, ratioQuery, readTokenRatio, recordTokens, roundRatioForBudget } from "./token-ratio.ts";
import { assemble } from "./view/assemble.ts";
import { type Fitted, fitMidTurn } from "./view/mid-turn.ts";
import { recallBlock } from "./view/recall-messages.ts";
import { loadSummaryPrefix, type SummaryPrefix } from "./view/summary-prefix.ts";
import { recallForView } from "./view/view-memories.ts";
import {
  type ConversationSnapshot,
  readViewSnapshot,
  takeConversationSnapshot,
  viewSnapshotQueries,
} from "./view/view-snapshot.ts";
import type { AssembleOptions, ContextView } from "./view/view-types.ts";
import { rawTokens } from "./window.ts";

/** The composition of a session's context. */
export interface ContextOverview {
  summaries: StoredSummary[];
  summaryTokens: number;
  rawTokens: number;
  coveredSeq: number;
}

export type AssembleRequest = Partial<Pick<AssembleOptions, "budgetTokens">> &
  Pick<AssembleOptions, "prompt" | "provider"> & {
    model?: string;
    /** The model's context window; `context.windowTokens` when absent. */
    windowTokens?: number;
    /** Who reads the view; the one who acts in the session when absent. */
    principal?: Principal;
    /** Whether recalled memories are recorded as shown; true when absent, false for a preview. */
    record?: boolean;
  };

/** Assembles and compacts what the model sees, and opens what it no longer sees. */
export interface ContextService extends HistoryReader {
  /**
   * Appends all messages or none, durable when it returns; known ids are left alone. They continue the active branch, or
   * follow the entry `after`, on a new branch where others follow it already; null starts at the root.
   */
  ingest(
    session: Session,
    messages: Message[],
    options?: { after?: string | null; trust?: EntryTrust },
  ): Promise<AppendResult>;
  /** Appends a whole turn, once for each key, and enqueues the jobs that follow it. */
  commitTurn(session: Session, key: string, messages: Message[], facts?: TurnFacts): Promise<CommittedTurn>;
  /** Enqueues the jobs that follow a turn, for callers that ingest the messages themselves. */
  afterTurn(session: Session, facts?: TurnFacts): Promise<void>;
  /** Before a turn: compacts when the active transcript exceeds `context.maxActiveTranscriptBytes`. */
  prepare(session: Session, facts?: TurnFacts & { signal?: AbortSignal }): Promise<CompactResult | undefined>;
  /**
   * Inside a turn: tells whether a prompt fits and, with `context.midTurnPrecheck`, makes it fit by truncating tool
   * results. What still does not fit must be compacted.
   */
  fitMidTurn(session: Session, messages: Message[], facts?: TurnFacts): Fitted;
  /** Compacts when a provider refused the prompt as too long; undefined for every other error. */
  recoverFromOverflow(
    session: Session,
    error: unknown,
    facts?: TurnFacts & { signal?: AbortSignal },
  ): Promise<CompactResult | undefined>;
  /** The messages for a model within a budget: summaries, the recent messages, and what the prompt recalls. */
  assemble(session: Session, options?: AssembleRequest): Promise<ContextView>;
  /** Earlier messages that match a prompt, word for word, as one block of text; empty when there are none. */
  recall(session: Session, request: { prompt: string; tokens: number }): Promise<string>;
  compact(session: Session, request?: CompactRequest): Promise<CompactResult>;
  overview(session: Session): Promise<ContextOverview>;
  /** A title, one line and the state of the work, for someone who continues the conversation. It writes nothing. */
  handover(session: Session, options?: { tokens?: number }): Promise<Handover>;
  /** The summaries of the older part of the conversation, for callers that keep the newer part themselves. */
  summaryPrefix(session: Session, options?: { budgetTokens?: number }): Promise<SummaryPrefix>;
  /** How many tokens a model's provider counts for one estimated token. */
  tokenRatio(model: string): Promise<number>;
  /** Records what a provider counted for an estimated prompt: the estimates for its model improve. */
  recordTokens(facts: Pick<TurnFacts, "model" | "estimatedTokens" | "observedTokens">): Promise<void>;
  tree(session: Session): Promise<TreeNode[]>;
  /** The parts of a conversation at one level of detail: summaries, runs of messages, messages. */
  layers(session: Session, request?: LayerRequest): Promise<Layers>;
  /** The layers of several sessions of an agent, as a few numbers each. */
  tinyCores(keys: readonly string[], agent?: string): Promise<TinyCore[]>;
}

/** The part of the context service that turns use. */
export interface TurnContext extends ContextService {
  /** Like `assemble`, with a snapshot of the conversation that saves the end of the turn a read. */
  assembleForTurn(
    session: Session,
    request: AssembleRequest,
  ): Promise<ContextView & { snapshot?: ConversationSnapshot }>;
  /** Like `commitTurn`, with further statements in the same transaction. */
  commitWith(
    session: Session,
    key: string,
    messages: Message[],
    facts: TurnFacts & { snapshot?: ConversationSnapshot },
    more: TurnExtras,
  ): Promise<CommittedTurn>;
}

export interface ContextServiceOptions {
  loaded: LoadedConfig;
  store: Store;
  transcripts: TranscriptWriter;
  sessions: SessionService;
  search: SearchService;
  memory: MemoryService & MemoryIndex;
  models: Pick<Models, "summary" | "summaryWindowTokens" | "expansion">;
  /** The summarisers of the program, by id; `context.summariser` names one. */
  summarisers?: Summarisers;
  beforeCompact?: BeforeCompactHook;
  /** The timer of the time limits for functions of the program. */
  wait?: Wait;
  jobs: JobQueue;
  emit(event: EngineEvent): void;
}

export function createContextService(options: ContextServiceOptions): TurnContext {
  const { loaded, store, transcripts, sessions, search, models, jobs, emit } = options;
  const { config } = loaded;
  const compactor = createCompactor({
    loaded,
    store,
    generate: models.summary,
    windowTokens: models.summaryWindowTokens,
    summarisers: options.summarisers ?? {},
    beforeCompact: options.beforeCompact,
    wait: options.wait ?? systemWait,
    jobs,
    emit,
  });
  const generate = models.expansion ?? models.summary;
  jobs.repeat(() => expireGrants(store));
  const budgetFor = (session: Session, facts: TurnFacts) =>
    promptBudget(contextSettings(config, { session, ...facts }));
  const commitWith: TurnContext["commitWith"] = (session, key, messages, facts, more) =>
    commitTurn({ store, config, transcripts }, session, key, messages, facts, more);
  return {
    ...createHistoryReader({ store, config, sessions, search, generate }),
    ingest(session, messages, { after, trust } = {}) {
      const noted = trust === undefined ? {} : { trust };
      const [first, ...rest] = messages.map((message) => ({ ...toMessageDraft(message), ...noted }));
      const drafts =
        first === undefined ? [] : [{ ...first, ...(after === undefined ? {} : { parentId: after }) }, ...rest];
      return transcripts.write(session, drafts);
    },
    commitTurn: (session, key, messages, facts = {}) => commitWith(session, key, messages, facts, {}),
    commitWith,
    async afterTurn(session, facts = {}) {
      await recordTokens(store, facts);
      if (canCompact(config, session)) await jobs.enqueue(compactionJob(store, session, "turn", facts));
      if (canExtract(config, session.key)) await jobs.enqueue(createExtractionJob(store, session, "turn"));
    },
    async prepare(session, facts = {}) {
      const limit = config.context.maxActiveTranscriptBytes;
      if (limit === undefined || !canCompact(config, session)) return undefined;
      if ((await activeBytes(store, session)) <= limit) return undefined;
      return compactor.compactUntilUnder(session, { ...facts, budgetTokens: budgetFor(session, facts) }, "budget");
    },
    fitMidTurn: (session, messages, facts = {}) =>
      fitMidTurn(messages, budgetFor(session, facts), config.context.midTurnPrecheck),
    async recoverFromOverflow(session, error, facts = {}) {
      if (!isContextOverflow(error)) return undefined;
      return compactor.compactUntilUnder(session, { ...facts, budgetTokens: budgetFor(session, facts) }, "overflow");
    },
    async assemble(session, request = {}) {
      const { snapshot: _, ...view } = await assembleView(options, session, request);
      return view;
    },
    assembleForTurn: (session, request) => assembleView(options, session, request),
    async recall(session, request) {
      const found = await recallBlock(search, session, { ...request, inView: new Set() });
      return typeof found?.message.content === "string" ? found.message.content : "";
    },
    compact: (session, request = {}) => compactor.compact(session, request),
    async overview(session) {
      const frontier = await loadFrontier(store, session);
      return {
        summaries: frontier.summaries,
        summaryTokens: summaryTokens(frontier),
        rawTokens: await rawTokens(store, session, frontier),
        coveredSeq: frontier.coveredSeq,
      };
    },
    handover: (session, { tokens } = {}) => readHandover(store, session, { tokens, timeZone: config.timezone }),
    async summaryPrefix(session, { budgetTokens } = {}) {
      const { newSessionRetainDepth } = contextSettings(config, { session });
      const boundary = toBoundary(await readSessionStart(store, session), newSessionRetainDepth);
      return loadSummaryPrefix(store, session, { budgetTokens, timeZone: config.timezone, boundary });
    },
    tokenRatio: (model) => readTokenRatio(store, model),
    recordTokens: (facts) => recordTokens(store, facts),
    async tree(session) {
      const frontier = await loadFrontier(store, session);
      return summaryTree(store, session.agent, frontier.summaries);
    },
    layers: (session, request) => readLayers(store, session, request),
    tinyCores: (keys, agent) => readTinyCores(store, agent ?? config.agent, keys),
  };
}

async function assembleView(
  { loaded: { config }, store, search, sessions, memory }: ContextServiceOptions,
  session: Session,
  request: AssembleRequest,
): Promise<ContextView & { snapshot?: ConversationSnapshot }> {
  const { model, windowTokens, prompt, provider } = request;
  const settings = contextSettings(config, { session, model, windowTokens });
  const asked = request.budgetTokens ?? promptBudget(settings);
  const { ratio, start, snapshot, recorded, seen } = await readForView(store, session, model);
  const most = Math.min(asked, settings.maxAssemblyTokenBudget ?? asked);
  const budgetTokens = Math.floor(most / roundRatioForBudget(ratio));
  const principal = await sessions.resolvePrincipal(session, request.principal);
  const { record, ...memories } = await recallForView(
    { store, config, memory },
    session,
    { prompt, budgetTokens, principal, isLimited: request.principal?.scopes !== undefined },
    { snapshot, recorded },
  );
  const view = await assemble({ store, search }, session, {
    budgetTokens,
    timeZone: config.timezone,
    snapshot,
    ...memories,
    provider,
    prompt: settings.promptAware ? prompt : undefined,
    withoutHeartbeats: settings.pruneHeartbeatOk,
    begin: toBoundary(start, settings.newSessionRetainDepth),
  });
  if (request.record !== false) await record?.();
  const estimatedTokens = ratio === 1 ? view.estimatedTokens : Math.ceil(view.estimatedTokens * ratio);
  return { ...view, estimatedTokens, snapshot: takeConversationSnapshot(snapshot, seen) };
}

const recalledQuery = prepareQuery(recallsQuery);
const modelRatioQuery = prepareQuery((db, { model }: { model: string }) => ratioQuery(db, model));
const startQuery = prepareQuery(sessionStartQuery);

/** Reads what a view of most conversations needs, in one round trip. */
async function readForView(store: Store, session: Session, model: string | undefined) {
  const { db } = store;
  // The recalls are read before the state that limits them, so that none is missing.
  const [recalls, cursors, ratios, starts, ...rows] = await store.readBatch([
    recalledQuery(db, session),
    extractionCursorQuery(db, session),
    modelRatioQuery(db, { model: model ?? "" }),
    startQuery(db, session),
    ...viewSnapshotQueries(db, session),
  ]);
  return {
    ratio: computeRatio(ratios[0]),
    start: starts[0]?.seq ?? undefined,
    snapshot: await readViewSnapshot(store, session, rows),
    recorded: recalls.map(toRecordedRecall),
    seen: cursors[0]?.seq ?? 0,
  };
}
