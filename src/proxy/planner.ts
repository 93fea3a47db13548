import type { Principal } from "../authorization/index.ts";
import type { JsonObject } from "../domain/index.ts";
import { estimateTokens, type Session, type Varve } from "../index.ts";
import type { Place } from "./alignment.ts";
import type { Conversation } from "./conversation.ts";
import type { ProxyCounters } from "./counters.ts";
import type { Link } from "./history.ts";
import { listOfferedTools } from "./recall-tools.ts";
import type { NameSources } from "./session-name.ts";
import {
  applyView,
  estimateViewTokens,
  findView,
  matchesHistory,
  removeToolHints,
  type SentHistory,
  type View,
} from "./view.ts";
import { computePromptBudget, type ModelWindows, type Overflow } from "./window.ts";
import type { Format, OfferedTool, ParsedRequest } from "./wire.ts";

/** A client's request with the state of its conversation. */
export interface Turn {
  format: Format;
  /** `provider/model`, the key of windows and token ratios. */
  model: string;
  body: JsonObject;
  opened: ParsedRequest;
  conversation: Conversation;
  links: readonly Link[];
  principal?: Principal;
  /** The sources of the session key, in case the conversation has none yet. */
  names: NameSources;
  signal: AbortSignal;
  /** Stores the history of this request, once; undefined while the conversation has no session key. */
  storeHistory?(): Promise<Session>;
  /** The credential, as a hash; undefined with an access token, which the gateway has checked. */
  credentialId?: string;
}

/** The form in which a request is sent. */
export interface Plan {
  /** Undefined when the client's bytes are sent unchanged. */
  view?: View;
  tools: readonly OfferedTool[];
  /** The estimated tokens of the prompt. */
  tokens: number;
  /** The estimated tokens by which the prompt may still grow; infinite when the window is unknown. */
  leftTokens: number;
}

/** The share of the budget that is used, since estimates are not exact. */
const safeShare = 0.97;
/** The share of the budget that is left free for the results of recall tools. */
const recallReserve = 0.15;
/** A conversation that its client shortened below this share is sent unchanged again. */
const resetShare = 0.5;
/** With a smaller budget no useful part of the conversation fits. */
const budgetTokensMin = 500;
const firstReplies = 20;
const sampleEvery = 10;
/** The factor by which a prompt shrinks with each attempt that was refused although it seemed to fit. */
const shrinkFactor = 0.8;

/** Decides in which form a request is sent. */
export class Planner {
  readonly #varve: Varve;
  readonly #windows: ModelWindows;
  readonly #counters: ProxyCounters;
  readonly #ratios = new Map<string, number>();
  readonly #replies = new Map<string, number>();
  /** Models whose servers refused a request that offered tools. */
  readonly #withoutTools = new Set<string>();

  constructor(varve: Varve, windows: ModelWindows, counters: ProxyCounters) {
    this.#varve = varve;
    this.#windows = windows;
    this.#counters = counters;
  }

  /** Loads the ratio between a provider's token counts and the estimates, once; `recordTokens` updates it. */
  async learnRatio(model: string): Promise<void> {
    if (this.#ratios.has(model)) return;
    // Set before the store is asked: if it does not answer, no later request waits for it.
    this.#ratios.set(model, 1);
    this.#ratios.set(model, await this.#varve.context.tokenRatio(model));
  }

  getRatio(model: string): number {
    return this.#ratios.get(model) ?? 1;
  }

  /** Records every count of the first replies, then only a sample. */
  async recordReplyTokens(model: string, estimatedTokens: number, observedTokens: number): Promise<void> {
    const replies = (this.#replies.get(model) ?? 0) + 1;
    this.#replies.set(model, replies);
    if (replies <= firstReplies || replies % sampleEvery === 0)
      await this.recordTokens(model, estimatedTokens, observedTokens);
  }

  async recordTokens(model: string, estimatedTokens: number, observedTokens: number): Promise<void> {
    await this.#varve.context.recordTokens({ model, estimatedTokens, observedTokens });
    this.#ratios.set(model, await this.#varve.context.tokenRatio(model));
  }

  /** Returns a plan with the unchanged request or the current view; undefined when neither fits. */
  planFromKnown(turn: Turn): Plan | undefined {
    const { conversation, links, opened } = turn;
    const fixed = conversation.estimateFixed(opened.fixedText);
    const full = fixed + links.reduce((sum, link) => sum + link.tokens, 0);
    const budget = this.#getBudget(turn);
    if (conversation.view && !matchesHistory(conversation.view, links)) conversation.view = undefined;
    const { view } = conversation;
    const unchanged: Plan = { tools: [], tokens: full, leftTokens: budget - full };
    if (view === undefined) return full <= budget * safeShare ? unchanged : undefined;
    if (full <= budget * resetShare) {
      conversation.view = undefined;
      return unchanged;
    }
    const plan = this.#planWith(turn, view, budget);
    const reserve = plan.tools.length > 0 ? recallReserve : 1 - safeShare;
    return plan.leftTokens >= budget * reserve ? plan : undefined;
  }

  /** Returns the plan for a request that only counts tokens. */
  planForCount(turn: Turn): Plan {
    const { conversation, links, opened } = turn;
    const budget = this.#getBudget(turn);
    if (conversation.view && matchesHistory(conversation.view, links))
      return this.#planWith(turn, conversation.view, budget);
    const tokens = conversation.estimateFixed(opened.fixedText) + links.reduce((sum, link) => sum + link.tokens, 0);
    return { tools: [], tokens, leftTokens: budget - tokens };
  }

  /** Builds a view that fits. `attempt` is the number of refusals of prompts that seemed to fit. */
  async planNewView(turn: Turn, attempt: number, signal: AbortSignal): Promise<Plan | undefined> {
    if (turn.storeHistory === undefined) return undefined;
    const session = await turn.storeHistory();
    return turn.conversation.plan(async () => {
      signal.throwIfAborted();
      const done = attempt === 0 ? this.planFromKnown(turn) : undefined;
      return done?.view ? done : this.#makePlan(turn, session, attempt, signal);
    });
  }

  async #makePlan(turn: Turn, session: Session, attempt: number, signal: AbortSignal): Promise<Plan | undefined> {
    const { conversation, links, opened } = turn;
    const budget = this.#getBudget(turn);
    const fixedTokens = conversation.estimateFixed(opened.fixedText) + estimateToolTokens(this.#toolsFor(turn));
    const tokens = Math.floor((budget - fixedTokens) * shrinkFactor ** attempt);
    if (!Number.isFinite(tokens) || tokens < budgetTokensMin) return undefined;
    const withTools = this.#toolsFor(turn).length > 0;
    const before = conversation.view?.from;
    // Recall exchanges are replaced with the messages, except one whose results the client has yet to complete.
    const open = links.at(-2);
    const insertion = open && conversation.insertions.get(open.id);
    const kept = new Map(open && insertion?.pending ? [[open.id, insertion]] : []);
    const isFirst = conversation.view === undefined;
    const sent = { links, units: opened.units, insertions: isFirst ? conversation.insertions : kept };
    const focus = (): Promise<void> => conversation.focus(links);
    const locate = (entryId: string): Place => conversation.locate(entryId);
    const view = await findView({ varve: this.#varve, session, focus, locate }, sent, {
      tokens,
      model: turn.model,
      signal,
      withTools,
      ...(before === undefined ? {} : { before }),
    });
    if (view === undefined) return undefined;
    this.#counters.compactions += 1;
    conversation.view = view;
    for (const [id, { coveredId }] of conversation.insertions) {
      if (coveredId !== view.coveredId && !kept.has(id)) conversation.insertions.delete(id);
    }
    return this.#planWith(turn, view, budget);
  }

  /**
   * Returns the next plan after a provider refused a changed request for a reason other than its length: first without
   * the recall tools, which some local models cannot use. Undefined when only the unchanged request is left.
   */
  planAfterRefusal(turn: Turn, plan: Plan): Plan | undefined {
    const { conversation, model } = turn;
    if (plan.view === undefined || plan.tools.length === 0) {
      this.#withoutTools.delete(model);
      conversation.view = undefined;
      return undefined;
    }
    this.#withoutTools.add(model);
    conversation.view = removeToolHints(plan.view);
    return this.#planWith(turn, conversation.view, this.#getBudget(turn));
  }

  /** Learns a model's window from a context overflow error. */
  async learnWindow(turn: Turn, overflow: Overflow, plan: Plan): Promise<void> {
    const { model } = turn;
    this.#windows.learn(model, overflow, Math.floor(plan.tokens * this.getRatio(model)));
    if (overflow.promptTokens !== undefined) await this.recordTokens(model, plan.tokens, overflow.promptTokens);
  }

  /** Creates the body of a plan with a view; `inner` are the recall exchanges of this reply so far. */
  compose(turn: Turn, plan: Plan & { view: View }, inner: ReturnType<typeof applyView>, withheld = false): JsonObject {
    const { format, body } = turn;
    const { summary, addition } = plan.view;
    return format.compose(body, {
      summary,
      ...(addition === undefined ? {} : { addition }),
      units: [...applyView(format, plan.view, getSentHistory(turn)), ...inner],
      tools: plan.tools,
      withheld,
    });
  }

  /** The budget of the prompt in estimated tokens. */
  #getBudget({ model, opened }: Turn): number {
    const window = this.#windows.get(model);
    return window === undefined
      ? Number.POSITIVE_INFINITY
      : Math.floor(computePromptBudget(window, opened.maxTokens) / this.getRatio(model));
  }

  #planWith(turn: Turn, view: View, budget: number): Plan & { view: View } {
    const { conversation, opened } = turn;
    const tools = this.#toolsFor(turn);
    const tokens =
      conversation.estimateFixed(opened.fixedText) +
      estimateToolTokens(tools) +
      estimateViewTokens(view, getSentHistory(turn));
    return { view, tools, tokens, leftTokens: budget - tokens };
  }

  #toolsFor({ opened, principal, model }: Turn): readonly OfferedTool[] {
    const isOn = this.#varve.settings.config.proxy.recallTools && opened.mayOffer && !this.#withoutTools.has(model);
    return isOn ? listOfferedTools(this.#varve, principal, opened.toolNames) : [];
  }
}

function getSentHistory({ links, opened, conversation }: Turn): SentHistory {
  return { links, units: opened.units, insertions: conversation.insertions };
}

const toolTokenCache = new WeakMap<object, number>();

function estimateToolTokens(tools: readonly OfferedTool[]): number {
  return tools.reduce((sum, tool) => {
    let tokens = toolTokenCache.get(tool.schema);
    if (tokens === undefined) {
      tokens = estimateTokens(JSON.stringify(tool));
      toolTokenCache.set(tool.schema, tokens);
    }
    return sum + tokens;
  }, 0);
}
