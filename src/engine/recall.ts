import {
  checkGrant,
  type Description,
  describeCitation,
  type ExpandOptions,
  type Expansion,
  expandSummaries,
  findLeaves,
  findSummary,
  type Grant,
  type GrepOptions,
  type GrepResult,
  grep,
  spendGrant,
} from "../context/index.ts";
import { VarveError } from "../domain/index.ts";
import { type Answer, answerQuestion, type QuestionRequest } from "./expand-query.ts";
import type { EngineHost } from "./host.ts";
import { agentOf, conversationsOf, type Reach } from "./reach.ts";

export type GrepRequest = Reach &
  Pick<GrepOptions, "pattern"> &
  Partial<Pick<GrepOptions, "mode" | "scope" | "since" | "before" | "limit" | "sort" | "signal">>;

export interface DescribeRequest extends Reach {
  tokenCap?: number;
  expandFile?: boolean;
  startLine?: number;
  endLine?: number;
}

export interface ExpandRequest extends Reach, Partial<ExpandOptions> {
  summaryIds?: string[];
  /** What to look for; its best hits are opened. */
  query?: string;
}

/** Finding and opening what is no longer in view. */
export interface Recall {
  grep(request: GrepRequest): Promise<GrepResult>;
  describe(id: string, request?: DescribeRequest): Promise<Description>;
  expand(request: ExpandRequest): Promise<Expansion>;
  /** A question answered from the history by a delegated reader, with citations; passages when there is no model. */
  expandQuery(request: QuestionRequest): Promise<Answer>;
  /** A grant that may be used now, by its id. */
  grant(id: string, agent?: string): Promise<Grant>;
}

const limitMax = 200;
const queryLeaves = 5;

export function recallOf(host: EngineHost): Recall {
  const { store } = host;
  const { maxExpandTokens } = host.loaded.config.context;
  return {
    async grep(request) {
      const { pattern, mode = "regex", scope = "both", sort = "recency", since, before, signal } = request;
      const limit = request.limit ?? 50;
      if (!Number.isInteger(limit) || limit < 1 || limit > limitMax) {
        throw new VarveError("BAD_REQUEST", `The limit ${limit} is not a whole number from 1 to ${limitMax}.`, {
          remedy: "Leave it out for 50.",
        });
      }
      const conversations = await conversationsOf(host, request);
      const agent = agentOf(host, request);
      const found = await grep(store, {
        agent,
        pattern,
        mode,
        scope,
        sort,
        since,
        before,
        limit,
        conversations,
        signal,
      });
      await spend(host, request.grant, Math.ceil(JSON.stringify(found.matches).length / 4));
      return found;
    },
    async describe(id, request = {}) {
      const { tokenCap = maxExpandTokens, expandFile, startLine, endLine } = request;
      const conversations = await conversationsOf(host, widest(request));
      const agent = agentOf(host, request);
      const found = await describeCitation(store, id, {
        agent,
        conversations,
        tokenCap,
        expandFile,
        startLine,
        endLine,
      });
      await spend(host, request.grant, Math.ceil(JSON.stringify(found).length / 4));
      return found;
    },
    async expand(request) {
      const ids = await toExpand(host, request);
      const { maxDepth, includeMessages, grant } = request;
      const left = grant ? grant.tokenCap - grant.tokensRead : Number.POSITIVE_INFINITY;
      const tokenCap = Math.min(request.tokenCap ?? maxExpandTokens, left);
      const agent = agentOf(host, request);
      const expansion = await expandAll(host, agent, ids, { maxDepth, includeMessages, tokenCap });
      await spend(host, grant, expansion.tokens);
      return expansion;
    },
    expandQuery: (request) => answerQuestion(host, request),
    grant: (id, agent) => checkGrant(host, agent ?? host.loaded.config.agent, id),
  };
}

/** An id names what it is, so it is found in any conversation unless the caller is bound to some. */
function widest({ session, ...request }: Reach): Reach {
  return { ...request, agent: session?.agent ?? request.agent };
}

async function spend(host: EngineHost, grant: Grant | undefined, tokens: number): Promise<void> {
  if (!grant || (await spendGrant(host, grant, tokens))) return;
  throw new VarveError("REFUSED", `The answer has ${tokens} tokens, more than the grant ${grant.id} has left.`, {
    remedy: "Ask for less: a lower limit or tokenCap, a narrower pattern.",
  });
}

/** The summaries that a request names, or the leaves in which its query is answered best. */
async function toExpand(host: EngineHost, request: ExpandRequest): Promise<string[]> {
  const conversations = await conversationsOf(host, request.summaryIds ? widest(request) : request);
  const agent = agentOf(host, request);
  if (request.summaryIds && request.summaryIds.length > 0) {
    for (const id of request.summaryIds) {
      const { conversation } = await findSummary(host.store, agent, id);
      if (conversations !== undefined && !conversations.includes(conversation)) {
        throw new VarveError("NOT_FOUND", `There is no ${id} here.`, {
          remedy: "Take an id from lcm_grep or from the summaries in the context.",
        });
      }
    }
    return request.summaryIds;
  }
  if (request.query === undefined || request.query.trim() === "") {
    throw new VarveError("BAD_REQUEST", "Nothing to expand is named.", {
      remedy: "Send summaryIds (sum_…), or a query whose best hits are to be opened.",
    });
  }
  const passages = await host.find({ agent, conversations, prompt: request.query, limit: 50 });
  return findLeaves(
    host.store,
    agent,
    passages.map(({ entry }) => ({ conversation: entry.conversation, seq: entry.seq })),
    queryLeaves,
  );
}

/** Summaries may lie in several conversations; the cap is for all of them together. */
async function expandAll(host: EngineHost, agent: string, ids: string[], options: ExpandOptions): Promise<Expansion> {
  const groups = new Map<number, string[]>();
  for (const id of ids) {
    const { conversation } = await findSummary(host.store, agent, id);
    groups.set(conversation, [...(groups.get(conversation) ?? []), id]);
  }
  const all: Expansion = { nodes: [], tokens: 0 };
  for (const [conversation, group] of groups) {
    const tokenCap = options.tokenCap - all.tokens;
    const one = await expandSummaries(host.store, { agent, conversation }, group, { ...options, tokenCap });
    all.nodes.push(...one.nodes);
    all.tokens += one.tokens;
    if (one.cut !== undefined) all.cut = [all.cut, one.cut].filter(Boolean).join("; ");
  }
  return all;
}
