import type { Principal } from "../authorization/index.ts";
import type { JsonObject } from "../domain/index.ts";
import { estimateTokens, type Session, type Varve } from "../engine.ts";
import type { Conversation } from "./conversation.ts";
import type { ProxyCounters } from "./counters.ts";
import type { Link } from "./history.ts";
import { offeredTools } from "./recall-tools.ts";
import type { NameSources } from "./session-name.ts";
import { findView, holds, type Spoken, sizeOf, unitsOf, type View, viewWithoutTools } from "./view.ts";
import { type Overflow, promptRoom, type Windows } from "./window.ts";
import type { Format, OfferedTool, Opened } from "./wire.ts";

/** A request on its way: what came, and what is known of its conversation. */
export interface Turn {
  format: Format;
  /** `provider/model`: what windows and ratios are kept under. */
  model: string;
  body: JsonObject;
  opened: Opened;
  conversation: Conversation;
  links: readonly Link[];
  principal?: Principal;
  /** What the conversation's name is made from, should it have none yet. */
  names: NameSources;
  signal: AbortSignal;
  /** The log up to this request; undefined while the conversation has no name. */
  synced?: Promise<Session>;
}

/** What is sent on. */
export interface Plan {
  /** Undefined when the client's own bytes are sent. */
  view?: View;
  tools: readonly OfferedTool[];
  /** What the whole prompt takes, as estimated. */
  tokens: number;
  /** How much the prompt may still grow, as estimated; unbounded where the window is not known. */
  leftTokens: number;
}

/** Estimates are not exact: so much of the room is used. */
const safeShare = 0.97;
/** So much is left where a model may look something up: what it finds has to fit too. */
const recallReserve = 0.15;
/** A conversation whose client made it much shorter by itself is sent as it is again. */
const easyShare = 0.5;
/** Below this there is no conversation to speak of, whatever is cut. */
const roomLeast = 500;
const figuresFirst = 20;
const figuresEvery = 10;
/** A prompt that was refused although it seemed to fit must become so much smaller with each attempt. */
const shrink = 0.8;

/** Decides what is sent for a request. */
export class Planner {
  readonly #varve: Varve;
  readonly #windows: Windows;
  readonly #counters: ProxyCounters;
  readonly #ratios = new Map<string, number>();
  readonly #replies = new Map<string, number>();
  /** Models whose servers refused a request that offered tools. */
  readonly #withoutTools = new Set<string>();

  constructor(varve: Varve, windows: Windows, counters: ProxyCounters) {
    this.#varve = varve;
    this.#windows = windows;
    this.#counters = counters;
  }

  /** How a model's provider counts, as far as it is known. Read once; what is noted later comes in by `note`. */
  async learnRatio(model: string): Promise<void> {
    if (this.#ratios.has(model)) return;
    // Asked once: where the store does not answer, no request after this one waits for it.
    this.#ratios.set(model, 1);
    this.#ratios.set(model, await this.#varve.context.tokenRatio(model));
  }

  ratioOf(model: string): number {
    return this.#ratios.get(model) ?? 1;
  }

  /** The first figures say most; after them a few are enough. */
  async noteReply(model: string, estimatedTokens: number, observedTokens: number): Promise<void> {
    const replies = (this.#replies.get(model) ?? 0) + 1;
    this.#replies.set(model, replies);
    if (replies <= figuresFirst || replies % figuresEvery === 0)
      await this.note(model, estimatedTokens, observedTokens);
  }

  async note(model: string, estimatedTokens: number, observedTokens: number): Promise<void> {
    await this.#varve.context.recordTokens({ model, estimatedTokens, observedTokens });
    this.#ratios.set(model, await this.#varve.context.tokenRatio(model));
  }

  /** What fits as it is, or with what stands for its older part already; undefined when something has to be done first. */
  planNow(turn: Turn): Plan | undefined {
    const { conversation, links, opened } = turn;
    const fixed = conversation.estimateFixed(opened.fixedText);
    const full = fixed + links.reduce((sum, link) => sum + link.tokens, 0);
    const room = this.#roomFor(turn);
    if (conversation.view && !holds(conversation.view, links)) conversation.view = undefined;
    const { view } = conversation;
    const unchanged: Plan = { tools: [], tokens: full, leftTokens: room - full };
    if (view === undefined) return full <= room * safeShare ? unchanged : undefined;
    if (full <= room * easyShare) {
      conversation.view = undefined;
      return unchanged;
    }
    const plan = this.#planWith(turn, view, room);
    const reserve = plan.tools.length > 0 ? recallReserve : 1 - safeShare;
    return plan.leftTokens >= room * reserve ? plan : undefined;
  }

  /** What a request would be sent as, for one that only asks how long it is. */
  planForCount(turn: Turn): Plan {
    const { conversation, links, opened } = turn;
    const room = this.#roomFor(turn);
    if (conversation.view && holds(conversation.view, links)) return this.#planWith(turn, conversation.view, room);
    const tokens = conversation.estimateFixed(opened.fixedText) + links.reduce((sum, link) => sum + link.tokens, 0);
    return { tools: [], tokens, leftTokens: room - tokens };
  }

  /** Makes a view that fits. `attempt` counts how often the provider has refused what seemed to fit. */
  async planAnew(turn: Turn, attempt: number, signal: AbortSignal): Promise<Plan | undefined> {
    if (turn.synced === undefined) return undefined;
    const session = await turn.synced;
    return turn.conversation.plan(async () => {
      signal.throwIfAborted();
      const done = attempt === 0 ? this.planNow(turn) : undefined;
      return done?.view ? done : this.#makePlan(turn, session, attempt, signal);
    });
  }

  async #makePlan(turn: Turn, session: Session, attempt: number, signal: AbortSignal): Promise<Plan | undefined> {
    const { conversation, links, opened } = turn;
    const room = this.#roomFor(turn);
    const beside = conversation.estimateFixed(opened.fixedText) + toolTokens(this.#toolsFor(turn));
    const tokens = Math.floor((room - beside) * shrink ** attempt);
    if (!Number.isFinite(tokens) || tokens < roomLeast) return undefined;
    const withTools = this.#toolsFor(turn).length > 0;
    const before = conversation.view?.from;
    // Inner exchanges go with what is replaced, but for one that the client has not come back from.
    const open = links.at(-2);
    const insertion = open && conversation.insertions.get(open.id);
    const kept = new Map(open && insertion?.pending ? [[open.id, insertion]] : []);
    const isFirst = conversation.view === undefined;
    const spoken = { links, units: opened.units, insertions: isFirst ? conversation.insertions : kept };
    const focus = (): Promise<void> => conversation.focus(links);
    const view = await findView({ varve: this.#varve, session, focus }, spoken, {
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
    return this.#planWith(turn, view, room);
  }

  /**
   * What to send where a provider refused a changed request for another reason than its length: without our tools first,
   * for many a local model cannot use any. Undefined when only the client's own request is left.
   */
  planAfterRefusal(turn: Turn, plan: Plan): Plan | undefined {
    const { conversation, model } = turn;
    if (plan.view === undefined || plan.tools.length === 0) {
      this.#withoutTools.delete(model);
      conversation.view = undefined;
      return undefined;
    }
    this.#withoutTools.add(model);
    conversation.view = viewWithoutTools(plan.view);
    return this.#planWith(turn, conversation.view, this.#roomFor(turn));
  }

  /** Takes what a provider said about a prompt that was too long. */
  async learn(turn: Turn, overflow: Overflow, plan: Plan): Promise<void> {
    const { model } = turn;
    this.#windows.learn(model, overflow, Math.floor(plan.tokens * this.ratioOf(model)));
    if (overflow.promptTokens !== undefined) await this.note(model, plan.tokens, overflow.promptTokens);
  }

  /** The body of a plan with a view; `inner` is what went on inside of this reply so far. */
  compose(turn: Turn, plan: Plan & { view: View }, inner: ReturnType<typeof unitsOf>, withheld = false): JsonObject {
    const { format, body } = turn;
    const { summary, addition } = plan.view;
    return format.compose(body, {
      summary,
      ...(addition === undefined ? {} : { addition }),
      units: [...unitsOf(format, plan.view, spokenIn(turn)), ...inner],
      tools: plan.tools,
      withheld,
    });
  }

  /** What the prompt may take, as estimated. */
  #roomFor({ model, opened }: Turn): number {
    const window = this.#windows.of(model);
    return window === undefined
      ? Number.POSITIVE_INFINITY
      : Math.floor(promptRoom(window, opened.maxTokens) / this.ratioOf(model));
  }

  #planWith(turn: Turn, view: View, room: number): Plan & { view: View } {
    const { conversation, opened } = turn;
    const tools = this.#toolsFor(turn);
    const tokens = conversation.estimateFixed(opened.fixedText) + toolTokens(tools) + sizeOf(view, spokenIn(turn));
    return { view, tools, tokens, leftTokens: room - tokens };
  }

  #toolsFor({ opened, principal, model }: Turn): readonly OfferedTool[] {
    const isOn = this.#varve.settings.config.proxy.recallTools && opened.mayOffer && !this.#withoutTools.has(model);
    return isOn ? offeredTools(this.#varve, principal, opened.toolNames) : [];
  }
}

function spokenIn({ links, opened, conversation }: Turn): Spoken {
  return { links, units: opened.units, insertions: conversation.insertions };
}

const counted = new WeakMap<object, number>();

function toolTokens(tools: readonly OfferedTool[]): number {
  return tools.reduce((sum, tool) => {
    let tokens = counted.get(tool.schema);
    if (tokens === undefined) {
      tokens = estimateTokens(JSON.stringify(tool));
      counted.set(tool.schema, tokens);
    }
    return sum + tokens;
  }, 0);
}
