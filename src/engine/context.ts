import {
  type AssembleOptions,
  activeBytes,
  assemble,
  type CompactResult,
  type ContextView,
  type ConversationSnapshot,
  type Fitted,
  fitMidTurn,
  loadFrontier,
  loadSummaryPrefix,
  rawTokens,
  readViewSnapshot,
  recallBlock,
  type StoredSummary,
  type SummaryPrefix,
  summaryTokens,
  summaryTree,
  type TreeNode,
  takeConversationSnapshot,
  viewSnapshotQueries,
} from "../context/index.ts";
import type { Message } from "../domain/index.ts";
import { extractionCursorQuery, recallFromRow, recallsQuery } from "../memory/index.ts";
import { isContextOverflow } from "../models/index.ts";
import { type Session, sessionStartQuery } from "../session/index.ts";
import { type AppendResult, prepareQuery } from "../store/index.ts";
import { appendEntries, toMessageDraft } from "../transcript/index.ts";
import { type CommittedTurn, commitTurn } from "./commit-turn.ts";
import { type CompactRequest, compactSession, compactUntilUnder, type TurnFacts } from "./compaction.ts";
import { type ContextSettings, contextSettings, mayCompact, policyOf } from "./context-settings.ts";
import { describeLater } from "./describe-files.ts";
import type { EngineHost } from "./host.ts";
import { memoriesBeside } from "./memory-recall.ts";
import { extractJob, mayExtract } from "./memory-settings.ts";
import { type Recall, recallOf } from "./recall.ts";
import { noteTokens, ratioOf, ratioQuery, tokenRatio } from "./token-ratio.ts";
import { refOf } from "./transcripts.ts";
import { compactJob, enqueue } from "./work.ts";

/** What the context of a session is made of now. */
export interface ContextOverview {
  summaries: StoredSummary[];
  summaryTokens: number;
  rawTokens: number;
  coveredSeq: number;
}

export type AssembleRequest = Partial<Pick<AssembleOptions, "budgetTokens">> &
  Pick<AssembleOptions, "prompt" | "provider"> & {
    model?: string;
    /** What the model takes; `context.windowTokens` when absent. */
    windowTokens?: number;
    /** Whether the memories that come with the prompt are written down as shown; on when absent, off for a look only. */
    record?: boolean;
  };

/** What the model sees. */
export interface Context extends Recall {
  /**
   * All messages or none, durable when it returns; an id that is known is left alone. They continue the active branch, or
   * stand behind the entry `after`, on a branch of their own where others follow it already; null begins at the root.
   */
  ingest(session: Session, messages: Message[], options?: { after?: string | null }): Promise<AppendResult>;
  /** A whole turn, once, however often it is called with the same key; what is due after a turn is done behind it. */
  commitTurn(session: Session, key: string, messages: Message[], facts?: TurnFacts): Promise<CommittedTurn>;
  /** Says that a turn is over: what is due then is done in the background. For callers that ingest by themselves. */
  afterTurn(session: Session, facts?: TurnFacts): Promise<void>;
  /** Before a turn: compacts when the active transcript passed `context.maxActiveTranscriptBytes`. */
  prepare(session: Session, facts?: TurnFacts & { signal?: AbortSignal }): Promise<CompactResult | undefined>;
  /**
   * Inside a turn: says whether a prompt fits and, where `context.midTurnPrecheck` is on, makes it fit by cutting tool
   * results short. What still does not fit has to be compacted.
   */
  fitMidTurn(session: Session, messages: Message[], facts?: TurnFacts): Fitted;
  /** Compacts when an error of a provider says that the prompt was too long; undefined for every other error. */
  recoverFromOverflow(
    session: Session,
    error: unknown,
    facts?: TurnFacts & { signal?: AbortSignal },
  ): Promise<CompactResult | undefined>;
  /** Messages within a budget: summaries, the branch behind them, and what the prompt brings up. */
  assemble(session: Session, options?: AssembleRequest): Promise<ContextView>;
  /** What was said before about something, word for word, as one block of text; empty when nothing was. */
  recall(session: Session, request: { prompt: string; tokens: number }): Promise<string>;
  compact(session: Session, request?: CompactRequest): Promise<CompactResult>;
  overview(session: Session): Promise<ContextOverview>;
  /** What stands for the older part of the conversation, for callers that keep the newer part themselves. */
  standing(session: Session): Promise<SummaryPrefix>;
  /** How many tokens a model's provider counts for one that is estimated here. */
  tokenRatio(model: string): Promise<number>;
  /** Notes what a provider counted for a prompt that was estimated, so that the estimates for its model get better. */
  noteTokens(facts: Pick<TurnFacts, "model" | "estimatedTokens" | "observedTokens">): Promise<void>;
  tree(session: Session): Promise<TreeNode[]>;
}

export function contextOf(host: EngineHost): Context {
  const { store } = host;
  const { config } = host.loaded;
  return {
    async ingest(session, messages, { after } = {}) {
      const [first, ...rest] = messages.map(toMessageDraft);
      const drafts =
        first === undefined ? [] : [{ ...first, ...(after === undefined ? {} : { parentId: after }) }, ...rest];
      const result = await appendEntries(store, refOf(session), drafts, host);
      await describeLater(host, session, result);
      return result;
    },
    commitTurn: (session, key, messages, facts) => commitTurn(host, session, key, messages, facts),
    async afterTurn(session, facts = {}) {
      await noteTokens(host, facts);
      const may = { compact: mayCompact(config, session).may, extract: mayExtract(config, session) };
      if (may.compact) await enqueue(host, compactJob(host, session, { because: "turn", ...facts }));
      if (may.extract) await enqueue(host, extractJob(host, session, "turn"));
      if (may.compact || may.extract) host.workSoon();
    },
    async prepare(session, facts = {}) {
      const limit = config.context.maxActiveTranscriptBytes;
      if (limit === undefined || !mayCompact(config, session).may) return undefined;
      if ((await activeBytes(store, session)) <= limit) return undefined;
      return compactUntilUnder(host, session, { ...facts, budgetTokens: budgetOf(host, session, facts) }, "budget");
    },
    fitMidTurn(session, messages, facts = {}) {
      const trims = config.context.midTurnPrecheck;
      return fitMidTurn(messages, budgetOf(host, session, facts), trims);
    },
    async recoverFromOverflow(session, error, facts = {}) {
      if (!isContextOverflow(error)) return undefined;
      return compactUntilUnder(host, session, { ...facts, budgetTokens: budgetOf(host, session, facts) }, "overflow");
    },
    assemble: async (session, options = {}) => (await assembleFor(host, session, options)).view,
    async recall(session, request) {
      const found = await recallBlock(host.find, refOf(session), { ...request, inView: new Set() });
      return typeof found?.message.content === "string" ? found.message.content : "";
    },
    compact: (session, request = {}) => compactSession(host, session, request),
    async overview(session) {
      const frontier = await loadFrontier(store, session);
      return {
        summaries: frontier.summaries,
        summaryTokens: summaryTokens(frontier),
        rawTokens: await rawTokens(store, session, frontier),
        coveredSeq: frontier.coveredSeq,
      };
    },
    ...recallOf(host),
    standing: (session) => loadSummaryPrefix(store, refOf(session)),
    tokenRatio: (model) => tokenRatio(host, model),
    noteTokens: (facts) => noteTokens(host, facts),
    async tree(session) {
      const frontier = await loadFrontier(store, session);
      return summaryTree(store, session.agent, frontier.summaries);
    },
  };
}

/** A view, and how the conversation stood when it was made. */
export async function assembleFor(
  host: EngineHost,
  session: Session,
  request: AssembleRequest,
): Promise<{ view: ContextView; stood?: ConversationSnapshot }> {
  const settings = contextSettings(host.loaded.config, {
    session,
    model: request.model,
    windowTokens: request.windowTokens,
  });
  const asked = request.budgetTokens ?? windowBudget(settings);
  const { ratio, begin, opening, recorded, seen } = await readForView(host, session, request.model);
  const budgetTokens = Math.floor(Math.min(asked, settings.maxAssemblyTokenBudget ?? asked) / ratio);
  const asking = { prompt: request.prompt, budgetTokens };
  const { record, ...beside } = await memoriesBeside(host, session, asking, { opening, recorded });
  const view = await assemble(host, refOf(session), policyOf(settings), {
    budgetTokens,
    opening,
    ...beside,
    provider: request.provider,
    prompt: settings.promptAware ? request.prompt : undefined,
    withoutHeartbeats: settings.pruneHeartbeatOk,
    ...(begin === undefined ? {} : { begin: { seq: begin, retainDepth: settings.newSessionRetainDepth } }),
  });
  if (request.record !== false) await record?.();
  const stood = takeConversationSnapshot(opening, seen);
  return { view: ratio === 1 ? view : { ...view, estimatedTokens: Math.ceil(view.estimatedTokens * ratio) }, stood };
}

const recalled = prepareQuery(recallsQuery);
const ratioFor = prepareQuery((db, { model }: { model: string }) => ratioQuery(db, model));
const begin = prepareQuery(sessionStartQuery);

/** Everything that a view is made from for most conversations, in one way to the store and back. */
async function readForView({ store }: EngineHost, session: Session, model: string | undefined) {
  const ref = refOf(session);
  const { db } = store;
  // The recalls come before the state that says how far they are wanted, so that none is missing.
  const [recalls, cursors, ratios, begins, ...rows] = await store.readBatch([
    recalled(db, ref),
    extractionCursorQuery(db, ref),
    ratioFor(db, { model: model ?? "" }),
    begin(db, session),
    ...viewSnapshotQueries(db, ref),
  ]);
  return {
    ratio: ratioOf(ratios[0]),
    begin: begins[0]?.seq ?? undefined,
    opening: await readViewSnapshot(store, ref, rows),
    recorded: recalls.map(recallFromRow),
    seen: cursors[0]?.seq ?? 0,
  };
}

function budgetOf(host: EngineHost, session: Session, facts: TurnFacts): number {
  return windowBudget(contextSettings(host.loaded.config, { session, ...facts }));
}

/** What of a window the prompt may take. */
function windowBudget({ windowTokens, reserveTokens }: ContextSettings): number {
  return windowTokens - Math.min(reserveTokens, Math.floor(windowTokens / 4));
}
