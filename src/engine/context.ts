import {
  type AssembleOptions,
  assemble,
  type CompactResult,
  type ContextView,
  compact,
  defaultPolicy,
  describeSummary,
  type ExpandOptions,
  type Expansion,
  expandSummaries,
  findSummary,
  loadFrontier,
  manualPolicy,
  rawTokens,
  recallBlock,
  type StoredSummary,
  type SummaryDescription,
  summariserOf,
  summaryTokens,
  summaryTree,
  type TreeNode,
} from "../context/index.ts";
import type { Message } from "../domain/index.ts";
import type { Session } from "../session/index.ts";
import type { AppendResult } from "../store/index.ts";
import { appendEntries, messageDraft } from "../transcript/index.ts";
import type { EngineHost } from "./host.ts";
import { refOf } from "./transcripts.ts";

export interface CompactRequest {
  /** Compact until the context holds no more than this. */
  budgetTokens?: number;
  /** What a manual compaction leaves as it is; without it and without a budget it is a hard checkpoint. */
  keepRecentTokens?: number;
  instructions?: string;
  signal?: AbortSignal;
}

/** What the context of a session is made of now. */
export interface ContextOverview {
  summaries: StoredSummary[];
  summaryTokens: number;
  rawTokens: number;
  coveredSeq: number;
}

/** What the model sees. */
export interface Context {
  /** All messages or none, durable when it returns; an id that is known is left alone. */
  ingest(session: Session, messages: Message[]): Promise<AppendResult>;
  /** Messages within a budget: summaries, the branch behind them, and what the prompt brings up. */
  assemble(session: Session, options: AssembleOptions): Promise<ContextView>;
  /** What was said before about something, word for word, as one block of text; empty when nothing was. */
  recall(session: Session, request: { prompt: string; tokens: number }): Promise<string>;
  compact(session: Session, request?: CompactRequest): Promise<CompactResult>;
  overview(session: Session): Promise<ContextOverview>;
  tree(session: Session): Promise<TreeNode[]>;
  describe(id: string, options?: { agent?: string; tokenCap?: number }): Promise<SummaryDescription>;
  expand(ids: string[], options?: Partial<ExpandOptions> & { agent?: string }): Promise<Expansion>;
}

/** How much of a budget a compaction aims at: the rest is for what comes next and for what prompts bring up. */
const targetShare = 0.6;
const tailShareOfBudget = 0.35;
const deadlineMs = 120_000;
const deadlineUntilUnderMs = 300_000;
/** The built-in summariser costs nothing, so only time bounds it; the number is a stop for a loop that should not be. */
const passesMax = 100_000;
const expandTokens = 4_000;

export function contextOf(host: EngineHost): Context {
  const { store } = host;
  const { config } = host.loaded;
  const agentOf = (agent?: string) => agent ?? config.agent;
  return {
    ingest: (session, messages) => appendEntries(store, refOf(session), messages.map(messageDraft), host),
    assemble: (session, options) => assemble(store, refOf(session), defaultPolicy, options),
    async recall(session, request) {
      const found = await recallBlock(store, refOf(session), { ...request, inView: new Set() });
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
    async tree(session) {
      const frontier = await loadFrontier(store, session);
      return summaryTree(store, session.agent, frontier.summaries);
    },
    describe: (id, options = {}) =>
      describeSummary(store, agentOf(options.agent), id, options.tokenCap ?? expandTokens),
    async expand(ids, { agent, ...options } = {}) {
      const owner = agentOf(agent);
      const first = await findSummary(store, owner, ids[0] ?? "");
      const ref = { agent: owner, conversation: first.conversation };
      return expandSummaries(store, ref, ids, { ...options, tokenCap: options.tokenCap ?? expandTokens });
    },
  };
}

/** One sweep, recorded: an entry of the transcript says what it did, and the session counts it. */
async function compactSession(host: EngineHost, session: Session, request: CompactRequest): Promise<CompactResult> {
  const { budgetTokens } = request;
  const policy =
    budgetTokens === undefined
      ? manualPolicy(defaultPolicy, request.keepRecentTokens)
      : {
          ...defaultPolicy,
          freshTailMaxTokens: Math.floor(budgetTokens * tailShareOfBudget),
          leafChunkTokens: Math.min(defaultPolicy.leafChunkTokens, Math.max(1_000, Math.floor(budgetTokens / 2))),
        };
  const result = await compact(
    { ...host, summarise: summariserOf({ timeZone: host.loaded.config.timezone, generate: host.models.summary }) },
    session,
    {
      policy,
      targetTokens: budgetTokens === undefined ? undefined : Math.floor(budgetTokens * targetShare),
      maxPasses: passesMax,
      deadlineMs: budgetTokens === undefined ? deadlineMs : deadlineUntilUnderMs,
      instructions: request.instructions,
      signal: request.signal,
    },
  );
  if (result.leafPasses + result.condensedPasses > 0) await record(host, session, result);
  return result;
}

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
}
