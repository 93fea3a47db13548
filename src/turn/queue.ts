import { setTimeout as sleep } from "node:timers/promises";
import { runAsEngine, runWithAccess } from "../authorization/index.ts";
import { newId, toVarveError, VarveError, WakeSignal } from "../domain/index.ts";
import { acceptMessage, type NewMessage } from "./accept.ts";
import type { TurnEvent, TurnResult } from "./events.ts";
import {
  checkInbound,
  createIdempotencyKey,
  getSender,
  type Inbound,
  isAddressed,
  isFromPerson,
  isGroup,
  toAddress,
} from "./inbound.ts";
import {
  claimTurn,
  endTurn,
  extendTurn,
  findNextTurn,
  handOver,
  type InboxRow,
  isAwaited,
  joinTurn,
  readMessage,
  type TurnClaim,
} from "./inbox.ts";
import { runTurn } from "./run.ts";
import type { TurnServices } from "./turn.ts";
import { Interrupted, isStoreFailure, TurnLost } from "./turn.ts";

export interface Accepted {
  /** The id of the accepted message. */
  id: string;
  agent: string;
  key: string;
  /** Whether it was accepted before. */
  duplicate: boolean;
}

/** The state of an accepted message. */
export interface MessageState extends Accepted {
  state: "waiting" | "running" | "done";
  result?: TurnResult;
}

/** Is told about failures and ended turns. */
export interface QueueObserver {
  /** A failure outside a model, most often of the store. */
  onError(error: unknown): void;
  onEnded(agent: string, result: TurnResult): void;
}

interface Running {
  claim: TurnClaim;
  events: TurnEvent[];
  controller: AbortController;
  text: string;
}

const idleMs = 250;
const idleMsMax = 2_000;
/** After another process claimed a turn first, the next attempt comes soon. */
const contestedMs = 20;
/** How often a follower polls for a turn that another process runs. */
const pollMs = 200;
/** The most events that are kept for late followers; after that they see the latest ones. */
const eventsKept = 20_000;

/** The delay before a retry after the store failed. */
const retryMs = 500;

/** The reason to abort turns when the process stops. */
class Stopping extends Error {}

/** Accepts messages and runs their turns in order: one at a time in each conversation, a limited number in all. */
export class TurnQueue {
  readonly #services: TurnServices;
  readonly #owner: string;
  readonly #running = new Map<string, Running>();
  readonly #work = new Set<Promise<void>>();
  /** The followers of each message. */
  readonly #listeners = new Map<string, Set<(turn: Running, event: TurnEvent) => void>>();
  readonly #wakeSignal = new WakeSignal();
  /** Messages that are being accepted. */
  readonly #taking = new Set<Promise<unknown>>();
  #stopping = new AbortController();
  #loop: Promise<void> | undefined;
  readonly #observer: QueueObserver;

  constructor(services: TurnServices, observer: QueueObserver) {
    this.#services = services;
    this.#owner = newId(services.store.clock, services.store.random);
    this.#observer = observer;
  }

  /**
   * Accepts a message durably: it will be answered even if this process ends. With `run`, its turn runs here when there
   * is capacity.
   */
  async accept(inbound: Inbound, { run = false } = {}): Promise<Accepted> {
    checkInbound(inbound);
    const { config, store } = this.#services;
    const { clock, random } = store;
    const { agent, key } = await this.#services.sessions.resolveKey(toAddress(inbound));
    const addressed = isAddressed(inbound, config.turn.names);
    const known: Inbound & { id: string } = {
      ...inbound,
      id: inbound.id ?? newId(clock, random),
      ...(isGroup(inbound) ? { mentioned: addressed } : {}),
    };
    const isPerson = isFromPerson(inbound);
    const isCommand = isPerson && /^\s*\//.test(inbound.text);
    const waitMs = isCommand || !addressed || !isPerson ? 0 : (inbound.debounceMs ?? config.turn.debounceMs);
    const id = newId(clock, random);
    const message = {
      id,
      agent,
      key,
      sender: getSender(inbound),
      source: createIdempotencyKey(known),
      inbound: known,
      waitMs,
    };
    const { row, duplicate, claim } = await this.#take(message, run);
    if (!duplicate && addressed && isPerson && config.turn.whileBusy === "interrupt" && !claim)
      this.interrupt(agent, key);
    if (run && !claim) this.start();
    return { id: row.id, agent, key, duplicate };
  }

  /** Writes a message, and starts its turn at once when the conversation is idle and there is capacity. */
  async #take(message: NewMessage, run: boolean): ReturnType<typeof acceptMessage> {
    const { maxConcurrent, leaseMs } = this.#services.config.turn;
    const hasCapacity = this.#work.size + this.#taking.size < maxConcurrent;
    const isFree = run && message.waitMs === 0 && hasCapacity && !this.#stopping.signal.aborted;
    if (!isFree) return acceptMessage(this.#services.store, message);
    this.#loop ??= runAsEngine(() => this.#run());
    const taking = acceptMessage(this.#services.store, message, { owner: this.#owner, leaseMs }).then((accepted) => {
      if (accepted.claim) this.#begin(accepted.claim);
      return accepted;
    });
    this.#taking.add(taking);
    try {
      return await taking;
    } finally {
      this.#taking.delete(taking);
    }
  }

  /** The state of a message. */
  async get(agent: string, id: string): Promise<MessageState> {
    const row = await readMessage(this.#services.store, agent, id);
    if (!row) {
      throw new VarveError("NOT_FOUND", `No message ${JSON.stringify(id)} was accepted.`, {
        remedy: "Use the id that accepting it returned.",
      });
    }
    return toMessageState(row);
  }

  /** The events of a message until its turn ends, also when another process runs it. */
  async *follow({ agent, id }: Pick<Accepted, "agent" | "id">, signal?: AbortSignal): AsyncGenerator<TurnEvent> {
    const pending: TurnEvent[] = [];
    let wake = (): void => undefined;
    let seen: Running | undefined;
    const take = (running: Running, event: TurnEvent): void => {
      // A late follower gets the earlier events first.
      if (seen !== running) pending.push(...running.events.filter((one) => one !== event));
      seen = running;
      pending.push(event);
      wake();
    };
    const onAbort = (): void => wake();
    const name = `${agent} ${id}`;
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(take));
    signal?.addEventListener("abort", onAbort);
    try {
      for (const running of this.#running.values()) {
        if (!running.claim.messages.some(({ row }) => row.agent === agent && row.id === id)) continue;
        seen = running;
        pending.push(...running.events);
      }
      for (;;) {
        signal?.throwIfAborted();
        for (const event of pending.splice(0)) {
          yield event;
          if (event.type === "ended") return;
        }
        if (pending.length > 0) continue;
        // A turn that runs here emits its end itself.
        const isHere = seen !== undefined && this.#running.has(turnName(seen.claim));
        const state = isHere ? undefined : await this.get(agent, id);
        if (pending.length > 0) continue;
        if (state?.result !== undefined) {
          yield { type: "ended", result: state.result };
          return;
        }
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, pollMs);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
    } finally {
      listeners.delete(take);
      if (listeners.size === 0) this.#listeners.delete(name);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Starts running turns, or wakes the loop when it runs already. */
  start(): void {
    // A stopping queue takes no more turns.
    if (this.#stopping.signal.aborted) return;
    this.#loop ??= runAsEngine(() => this.#run());
    this.#wakeSignal.wake();
  }

  /** Takes no more turns, waits for the running ones, and releases those that take longer. */
  async stop(graceMs = this.#services.config.turn.graceMs): Promise<void> {
    this.#stopping.abort();
    this.#wakeSignal.wake();
    await this.#loop;
    await Promise.allSettled(this.#taking);
    if (this.#work.size > 0) {
      const ended = Promise.all(this.#work);
      const timer = new AbortController();
      await Promise.race([ended, sleep(graceMs, undefined, { signal: timer.signal }).catch(() => undefined)]);
      timer.abort();
      for (const { controller } of this.#running.values()) controller.abort(new Stopping("The process stops."));
      await ended;
    }
    this.#loop = undefined;
    this.#stopping = new AbortController();
  }

  /** Interrupts the turn of a conversation that runs here; its text so far is kept. */
  interrupt(agent: string, key: string): boolean {
    let found = false;
    for (const { claim, controller, text } of this.#running.values()) {
      if (claim.agent !== agent || claim.key !== key) continue;
      const reason = new Interrupted("Another message came.");
      reason.text = text;
      controller.abort(reason);
      found = true;
    }
    return found;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { maxConcurrent } = this.#services.config.turn;
    for (let waitMs = idleMs; !signal.aborted; ) {
      const hasCapacity = this.#work.size + this.#taking.size < maxConcurrent;
      const { claim, delayMs } = hasCapacity ? await this.#findNext(waitMs) : { delayMs: waitMs };
      if (claim) {
        waitMs = idleMs;
        this.#begin(claim);
        continue;
      }
      if (signal.aborted) break;
      const isWoken = await this.#wakeSignal.wait(delayMs, { ref: this.#work.size > 0 });
      waitMs = isWoken ? idleMs : Math.min(2 * waitMs, idleMsMax);
    }
  }

  #begin(claim: TurnClaim): void {
    // A turn sees nothing of other agents, whatever its statements ask for.
    const work: Promise<void> = runWithAccess({ agents: [claim.agent] }, () => this.#runOne(claim)).finally(() => {
      this.#work.delete(work);
      this.#wakeSignal.wake();
    });
    this.#work.add(work);
  }

  /** The next turn, or how long to wait: at most until the next message is due. */
  async #findNext(waitMs: number): Promise<{ claim?: TurnClaim; delayMs: number }> {
    try {
      const { next, dueAt } = await findNextTurn(this.#services.store, ({ agent, turn }) =>
        this.#running.has(`${agent} ${turn}`),
      );
      if (next) {
        const claim = await claimTurn(this.#services.store, next, this.#owner, this.#services.config.turn.leaseMs);
        return { claim, delayMs: contestedMs };
      }
      const untilDue = dueAt === undefined ? waitMs : Math.max(5, dueAt - this.#services.store.clock.now());
      return { delayMs: Math.min(waitMs, untilDue) };
    } catch (error) {
      // A store that is unreachable for a while must not end the loop.
      this.#observer.onError(error);
      return { delayMs: waitMs };
    }
  }

  async #runOne(claim: TurnClaim): Promise<void> {
    const { turn } = this.#services.config;
    const controller = new AbortController();
    const running: Running = { claim, events: [], controller, text: "" };
    const id = turnName(claim);
    this.#running.set(id, running);
    const beat = setInterval(() => void this.#extendLease(running), turn.leaseMs / 3);
    const timeout = setTimeout(() => controller.abort(tooLong(turn.timeoutMs)), turn.timeoutMs);
    try {
      const result =
        claim.attempt > turn.attemptsMax
          ? await this.#giveUp(claim, cutOff(claim.attempt - 1))
          : await runTurn(this.#services, claim, {
              signal: controller.signal,
              emit: (event) => this.#emit(running, event),
              steer: async () => {
                if (turn.whileBusy !== "steer") return [];
                const joined = await joinTurn(this.#services.store, claim, turn.leaseMs);
                claim.messages.push(...joined);
                return joined;
              },
            });
      this.#emit(running, { type: "ended", result });
    } catch (error) {
      await this.#settle(running, error).catch((fault) => this.#observer.onError(fault));
    } finally {
      clearInterval(beat);
      clearTimeout(timeout);
      this.#running.delete(id);
    }
  }

  /** Handles a turn that ended without a result: lost to another process, released, or failed outside a model. */
  async #settle(running: Running, error: unknown): Promise<void> {
    const { claim } = running;
    if (error instanceof TurnLost) return;
    if (error instanceof Stopping) return handOver(this.#services.store, claim);
    this.#observer.onError(error);
    // The store may be back for the next attempt; any other failure would happen again.
    if (isStoreFailure(error)) return handOver(this.#services.store, claim, retryMs);
    this.#emit(running, { type: "ended", result: await this.#giveUp(claim, toVarveError(error)) });
  }

  async #giveUp(claim: TurnClaim, { code, message, remedy }: VarveError): Promise<TurnResult> {
    const result: TurnResult = {
      turn: claim.turn,
      messages: claim.messages.map(({ row }) => row.id),
      key: claim.key,
      sessionId: claim.progress.sessionId ?? "",
      status: "failed",
      reply: "",
      notes: [],
      error: { code, message, ...(remedy === undefined ? {} : { remedy }) },
    };
    if (!(await endTurn(this.#services.store, claim, result))) throw new TurnLost();
    return result;
  }

  /** Extends the lease, and checks for messages that another process accepted. */
  async #extendLease(running: Running): Promise<void> {
    const { claim, controller } = running;
    const { leaseMs, whileBusy } = this.#services.config.turn;
    try {
      if (!(await extendTurn(this.#services.store, claim, leaseMs))) controller.abort(new TurnLost());
      else if (whileBusy === "interrupt" && (await isAwaited(this.#services.store, claim))) {
        this.interrupt(claim.agent, claim.key);
      }
    } catch (error) {
      // The next extension makes up for it, or another process takes the turn over.
      this.#observer.onError(error);
    }
  }

  #emit(running: Running, event: TurnEvent): void {
    if (event.type === "text") running.text += event.text;
    if (event.type === "restarted") running.text = "";
    running.events.push(event);
    if (running.events.length > eventsKept) running.events.shift();
    for (const { row } of running.claim.messages) {
      for (const listener of this.#listeners.get(`${row.agent} ${row.id}`) ?? []) listener(running, event);
    }
    if (event.type === "ended") this.#observer.onEnded(running.claim.agent, event.result);
  }
}

function turnName({ agent, turn }: TurnClaim): string {
  return `${agent} ${turn}`;
}

function toMessageState(row: InboxRow): MessageState {
  return {
    id: row.id,
    agent: row.agent,
    key: row.key,
    duplicate: false,
    state: row.state as MessageState["state"],
    ...(row.result === null ? {} : { result: JSON.parse(row.result) as TurnResult }),
  };
}

function tooLong(timeoutMs: number): VarveError {
  return new VarveError("MODEL_TIMEOUT", `The turn took longer than ${timeoutMs} ms.`, {
    remedy: "Send the message again, choose a faster model, or raise turn.timeoutMs.",
  });
}

function cutOff(attempts: number): VarveError {
  return new VarveError("INTERNAL", `The turn was begun ${attempts} times and was cut off each time.`, {
    remedy: "The message is in the transcript. Look into the log, then send it again.",
  });
}
