import type { JsonObject } from "../domain/index.ts";
import type { Session, Varve } from "../engine.ts";
import type { Continuations } from "./continuations.ts";
import { type Conversation, replyFacts } from "./conversation.ts";
import type { ProxyCounters } from "./counters.ts";
import { withDeadline } from "./deadline.ts";
import type { KeptReply } from "./exchange-host.ts";
import type { Plan, Planner, Turn } from "./planner.ts";
import type { Recent } from "./recent.ts";
import { clientScope, sessionKey } from "./session-name.ts";

export interface KeeperHost {
  varve: Varve;
  planner: Planner;
  conversations: Recent<Conversation>;
  continuations: Continuations;
  counters: ProxyCounters;
  onFailure(what: string, error: unknown): void;
  /** How long a client waits at the end of a reply for it to be written. */
  recordMs: number;
}

/** Writes what passes through to the log, without standing in its way. */
export class TranscriptRecorder {
  readonly #host: KeeperHost;
  readonly #writing = new Set<Promise<unknown>>();

  constructor(host: KeeperHost) {
    this.#host = host;
  }

  /** The history of a request, on its way to the log. */
  sync({ conversation, format, links, opened }: Turn): Promise<Session> {
    const synced = this.#track(conversation.sync(format, links, opened.units));
    synced.catch((error: unknown) => this.#notStored(error));
    return synced;
  }

  /** Lets a name lead to a conversation that has another one already. */
  alias(conversation: Conversation, key: string): void {
    this.#track(conversation.alias(key)).catch((error: unknown) => this.#notStored(error));
  }

  /** Resolves when a reply is written, or when that failed, which is said, or takes too long. */
  async keep(turn: Turn, plan: Plan, bodies: readonly JsonObject[], result: KeptReply): Promise<void> {
    const kept = this.#track(this.#keep(turn, plan, bodies, result));
    try {
      await withDeadline("Writing a reply to the log", this.#host.recordMs, undefined, () => kept);
    } catch (error) {
      this.#notStored(error);
    }
  }

  /** Waits for everything that is being written. */
  async settle(): Promise<void> {
    while (this.#writing.size > 0) await Promise.allSettled(this.#writing);
  }

  async #keep(
    turn: Turn,
    plan: Plan,
    bodies: readonly JsonObject[],
    { insertion, ours, isWhole }: KeptReply,
  ): Promise<void> {
    const { format, conversation, links, model, opened } = turn;
    const merged = format.merge(bodies, ours);
    const reply = format.read(merged);
    if (reply === undefined || reply.unit.wires.length === 0) return;
    if (conversation.key === undefined) {
      const key = sessionKey(turn.names, format, [...opened.units, reply.unit]);
      if (key === undefined) return;
      conversation.name(key);
      this.#host.conversations.set(key, conversation);
    }
    const session = await (turn.synced ?? conversation.sync(format, links, opened.units));
    const provider = model.slice(0, model.indexOf("/"));
    const inner = insertion && plan.view ? { ...insertion, coveredId: plan.view.coveredId } : undefined;
    const facts = { ...replyFacts(provider, merged, inner), ...(isWhole ? {} : { stopReason: "aborted" }) };
    const id = await conversation.store(format, links, reply.unit, facts);
    if (inner) conversation.insertions.set(id, inner);
    const scope = clientScope(turn.names);
    if (scope !== undefined && conversation.key !== undefined) {
      this.#host.continuations.note(scope, conversation.key, format, reply.unit);
    }
    this.#track(this.#after(turn, plan, session, bodies[0])).catch((error: unknown) => {
      this.#host.counters.failures += 1;
      this.#host.onFailure("The proxy could not do what follows a reply.", error);
    });
  }

  /** What nobody has to wait for: better estimates, and the work that turns leave behind. */
  async #after(turn: Turn, plan: Plan, session: Session, first: JsonObject | undefined): Promise<void> {
    const usage = first === undefined ? undefined : turn.format.read(first)?.usage;
    if (usage) await this.#host.planner.noteReply(turn.model, plan.tokens, usage.input);
    const room = plan.tokens + plan.leftTokens;
    const windowTokens = plan.leftTokens > 0 && Number.isFinite(room) ? { windowTokens: Math.floor(room) } : {};
    await this.#host.varve.context.afterTurn(session, windowTokens);
  }

  #notStored(error: unknown): void {
    this.#host.counters.notStored += 1;
    this.#host.onFailure("The proxy could not write a message to the log.", error);
  }

  #track<T>(promise: Promise<T>): Promise<T> {
    this.#writing.add(promise);
    const done = (): unknown => this.#writing.delete(promise);
    promise.then(done, done);
    return promise;
  }
}
