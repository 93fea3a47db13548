import type { Visibility } from "../../authorization/index.ts";
import { VarveError } from "../../domain/index.ts";
import type { Generate } from "../../models/index.ts";
import type { SearchService } from "../../search/index.ts";
import { type Answer, answerQuestion, type QuestionRequest } from "./answer-question.ts";
import { type Description, describeCitation } from "./describe-citation.ts";
import { findLeaves, findSummary } from "./describe-summary.ts";
import { type ExpandOptions, type Expansion, expandSummaries } from "./expand.ts";
import { checkGrant, type Grant, spendGrant } from "./grants.ts";
import { grep } from "./grep/grep.ts";
import type { GrepOptions, GrepResult } from "./grep/grep-types.ts";
import { PatternSearches } from "./grep/pattern-searches.ts";
import { resolveSearchScope, type ScopeResolver, type SearchScope, widenScope } from "./search-scope.ts";

export type GrepRequest = SearchScope &
  Pick<GrepOptions, "pattern"> &
  Partial<Pick<GrepOptions, "mode" | "scope" | "since" | "before" | "limit" | "sort" | "signal">>;

export interface DescribeRequest extends SearchScope {
  tokenCap?: number;
  expandFile?: boolean;
  startLine?: number;
  endLine?: number;
}

export interface ExpandRequest extends SearchScope, Partial<ExpandOptions> {
  summaryIds?: string[];
  /** A search whose best hits are opened. */
  query?: string;
}

/** Finds and opens what is no longer in the context. */
export interface HistoryReader {
  grep(request: GrepRequest): Promise<GrepResult>;
  describe(id: string, request?: DescribeRequest): Promise<Description>;
  expand(request: ExpandRequest): Promise<Expansion>;
  /** Lets a delegated model answer a question from the history, with citations; without a model, returns the passages. */
  expandQuery(request: QuestionRequest): Promise<Answer>;
  /** A grant by its id, if it can be used now. */
  grant(id: string, agent?: string): Promise<Grant>;
}

const limitMax = 200;
const queryLeaves = 5;

export interface HistoryReaderOptions extends ScopeResolver {
  search: SearchService;
  /** Answers questions; the passages themselves are the answer without one. */
  generate?: Generate;
}

export function createHistoryReader(options: HistoryReaderOptions): HistoryReader {
  const { store, config } = options;
  const { maxExpandTokens } = config.context;
  const { regexTimeoutMs, regexConcurrency, regexPerCaller, regexWaiting } = config.search;
  const searches = new PatternSearches({
    timeoutMs: regexTimeoutMs,
    running: regexConcurrency,
    runningPerCaller: regexPerCaller,
    waitingPerCaller: regexWaiting,
  });
  const spend = async (grant: Grant | undefined, tokens: number): Promise<void> => {
    if (!grant || (await spendGrant(store, grant, tokens))) return;
    throw new VarveError("REFUSED", `The answer has ${tokens} tokens, more than the grant ${grant.id} has left.`, {
      remedy: "Ask for less: a lower limit or tokenCap, a narrower pattern.",
    });
  };
  return {
    async grep(request) {
      const { pattern, mode = "regex", scope = "both", sort = "recency", since, before, signal } = request;
      const limit = request.limit ?? 50;
      if (!Number.isInteger(limit) || limit < 1 || limit > limitMax) {
        throw new VarveError("BAD_REQUEST", `The limit ${limit} is not a whole number from 1 to ${limitMax}.`, {
          remedy: "Leave it out for 50.",
        });
      }
      const visibility = await resolveSearchScope(options, request);
      const caller = request.principal?.name ?? "";
      const asked = { ...visibility, pattern, mode, scope, sort, since, before, limit, caller, signal };
      const found = await grep(store, searches, asked);
      await spend(request.grant, Math.ceil(JSON.stringify(found.matches).length / 4));
      return found;
    },
    async describe(id, request = {}) {
      const { tokenCap = maxExpandTokens, expandFile, startLine, endLine } = request;
      if (request.grant && id.startsWith("mem_")) {
        throw new VarveError("REFUSED", `The grant ${request.grant.id} opens conversations, not memories.`, {
          remedy: "Open the messages that the memory cites: msg#N.",
        });
      }
      const visibility = await resolveSearchScope(options, widenScope(request));
      const found = await describeCitation(store, id, { ...visibility, tokenCap, expandFile, startLine, endLine });
      await spend(request.grant, Math.ceil(JSON.stringify(found).length / 4));
      return found;
    },
    async expand(request) {
      const { maxDepth, includeMessages, grant } = request;
      const { visibility, ids } = await selectSummaries(options, request);
      const left = grant ? grant.tokenCap - grant.tokensRead : Number.POSITIVE_INFINITY;
      const tokenCap = Math.min(request.tokenCap ?? maxExpandTokens, left);
      const expansion = await expandAll(options, visibility, ids, { maxDepth, includeMessages, tokenCap });
      await spend(grant, expansion.tokens);
      return expansion;
    },
    expandQuery: (request) => answerQuestion(options, request),
    grant: (id, agent) => checkGrant(store, agent ?? config.agent, id),
  };
}

/** The summaries that a request names, or the leaves that match its query best. */
async function selectSummaries(
  { search, ...resolver }: HistoryReaderOptions,
  request: ExpandRequest,
): Promise<{ visibility: Visibility; ids: string[] }> {
  const { summaryIds = [], query } = request;
  const isNamed = summaryIds.length > 0;
  const visibility = await resolveSearchScope(resolver, isNamed ? widenScope(request) : request);
  const { agent, conversations } = visibility;
  if (isNamed) {
    for (const id of summaryIds) {
      const { conversation } = await findSummary(resolver.store, agent, id);
      if (conversations !== undefined && !conversations.includes(conversation)) {
        throw new VarveError("NOT_FOUND", `There is no ${id} here.`, {
          remedy: "Take an id from lcm_grep or from the summaries in the context.",
        });
      }
    }
    return { visibility, ids: summaryIds };
  }
  if (query === undefined || query.trim() === "") {
    throw new VarveError("BAD_REQUEST", "Nothing to expand is named.", {
      remedy: "Send summaryIds (sum_…), or a query whose best hits are to be opened.",
    });
  }
  const passages = await search.findMessages({ visibility, prompt: query, limit: 50 });
  const entries = passages.map(({ entry }) => ({ conversation: entry.conversation, seq: entry.seq }));
  return { visibility, ids: await findLeaves(resolver.store, agent, entries, queryLeaves) };
}

/** Expands summaries of several conversations; the token cap applies to all of them together. */
async function expandAll(
  { store }: HistoryReaderOptions,
  { agent }: Visibility,
  ids: string[],
  options: ExpandOptions,
): Promise<Expansion> {
  const groups = new Map<number, string[]>();
  for (const id of ids) {
    const { conversation } = await findSummary(store, agent, id);
    groups.set(conversation, [...(groups.get(conversation) ?? []), id]);
  }
  const all: Expansion = { nodes: [], tokens: 0 };
  for (const [conversation, group] of groups) {
    const tokenCap = options.tokenCap - all.tokens;
    const one = await expandSummaries(store, { agent, conversation }, group, { ...options, tokenCap });
    all.nodes.push(...one.nodes);
    all.tokens += one.tokens;
    if (one.cut !== undefined) all.cut = [all.cut, one.cut].filter(Boolean).join("; ");
  }
  return all;
}
