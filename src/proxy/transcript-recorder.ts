import type { LRUCache } from "lru-cache";
import type { JsonObject } from "../domain/index.ts";
import type { Session, Varve } from "../index.ts";
import type { Continuations } from "./continuations.ts";
import { type Conversation, createReplyFields } from "./conversation.ts";
import type { ProxyCounters } from "./counters.ts";
import { withDeadline } from "./deadline.ts";
import type { Plan, Planner, Turn } from "./planner.ts";
import type { ReplyOutcome } from "./proxy-services.ts";

import { deriveSessionKey, findClientScope } from "./session-name.ts";

export interface RecorderOptions {
  varve: Varve;
  planner: Planner;
  conversations: LRUCache<string, Conversation>;
  continuations: Continuations;
  counters: ProxyCounters;
  onFailure(what: string, error: unknown): void;
  /** How long a client waits at the end of a reply until it is written. */
  recordMs: number;
}

/** Writes requests and replies to the transcript without blocking them. */
export class TranscriptRecorder {
  readonly #options: RecorderOptions;
  readonly #writing = new Set<Promise<unknown>>();

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** Writes the history of a request whose reply needs it in the store. */
  storeHistory({ conversation, format, links, opened }: Turn): Promise<Session> {
    const stored = this.#track(conversation.sync(format, links, opened.units));
    stored.catch((error: unknown) => this.#notStored(error));
    return stored;
  }

  /** Makes another session key refer to a conversation. */
  recordAlias(conversation: Conversation, key: string): void {
    this.#track(conversation.alias(key)).catch((error: unknown) => this.#notStored(error));
  }

  /** Resolves when the request and the reply are written, after `recordMs`, or when it failed and was reported. */
  async recordReply(turn: Turn, plan: Plan, bodies: readonly JsonObject[], result: ReplyOutcome): Promise<void> {
    const written = this.#track(this.#writeReply(turn, plan, bodies, result));
    try {
      await withDeadline("Writing a reply to the transcript", this.#options.recordMs, undefined, () => written);
    } catch (error) {
      this.#notStored(error);
    }
  }

  /** Waits for all pending writes. */
  async settle(): Promise<void> {
    while (this.#writing.size > 0) await Promise.allSettled(this.#writing);
  }

  async #writeReply(
    turn: Turn,
    plan: Plan,
    bodies: readonly JsonObject[],
    { insertion, ours, isWhole }: ReplyOutcome,
  ): Promise<void> {
    const { format, conversation, links, model, opened } = turn;
    const merged = bodies.length === 0 ? undefined : format.merge(bodies, ours);
    const reply = merged && format.read(merged);
    if (merged === undefined || reply === undefined || reply.unit.wires.length === 0) {
      if (conversation.key !== undefined) await conversation.sync(format, links, opened.units);
      return;
    }
    if (conversation.key === undefined) {
      const key = deriveSessionKey(turn.names, format, [...opened.units, reply.unit]);
      if (key === undefined) return;
      conversation.name(key);
      this.#options.conversations.set(key, conversation);
    }
    const provider = model.slice(0, model.indexOf("/"));
    const inner = insertion && plan.view ? { ...insertion, coveredId: plan.view.coveredId } : undefined;
    const facts = { ...createReplyFields(provider, merged, inner), ...(isWhole ? {} : { stopReason: "aborted" }) };
    const { id, session } = await conversation.store(format, { links, units: opened.units }, reply.unit, facts);
    if (inner) conversation.insertions.set(id, inner);
    const scope = findClientScope(turn.names);
    if (scope !== undefined && conversation.key !== undefined) {
      this.#options.continuations.record(scope, conversation.key, format, reply.unit);
    }
    this.#track(this.#after(turn, plan, session, bodies[0])).catch((error: unknown) => {
      this.#options.counters.failures += 1;
      this.#options.onFailure("The proxy could not run the work after a reply.", error);
    });
  }

  /** Updates the token ratio and starts the jobs after a turn; the client does not wait for it. */
  async #after(turn: Turn, plan: Plan, session: Session, first: JsonObject | undefined): Promise<void> {
    const usage = first === undefined ? undefined : turn.format.read(first)?.usage;
    if (usage) await this.#options.planner.recordReplyTokens(turn.model, plan.tokens, usage.input);
    const budget = plan.tokens + plan.leftTokens;
    const windowTokens = plan.leftTokens > 0 && Number.isFinite(budget) ? { windowTokens: Math.floor(budget) } : {};
    await this.#options.varve.context.afterTurn(session, windowTokens);
  }

  #notStored(error: unknown): void {
    this.#options.counters.notStored += 1;
    this.#options.onFailure("The proxy could not write a message to the transcript.", error);
  }

  #track<T>(promise: Promise<T>): Promise<T> {
    this.#writing.add(promise);
    const done = (): unknown => this.#writing.delete(promise);
    promise.then(done, done);
    return promise;
  }
}
