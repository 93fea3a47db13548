import { setTimeout as sleep } from "node:timers/promises";
import { newId, toVarveError, VarveError, WakeSignal } from "../domain/index.ts";
import { acceptMessage, type NewMessage } from "./accept.ts";
import type { TurnEvent, TurnResult } from "./events.ts";
import { checkInbound, getSender, type Inbound, isAddressed, isGroup, sourceOf, toAddress } from "./inbound.ts";
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
  /** Under this id the message is known from now on. */
  id: string;
  agent: string;
  key: string;
  /** Whether it had been accepted before. */
  duplicate: boolean;
}

/** Where a message is. */
export interface MessageState extends Accepted {
  state: "waiting" | "running" | "done";
  result?: TurnResult;
}

/** Hears what becomes of turns. */
export interface QueueObserver {
  /** What went wrong around a turn: the store, most often. */
  onError(error: unknown): void;
  onEnded(agent: string, result: TurnResult): void;
}

interface Running {
  claimed: TurnClaim;
  events: TurnEvent[];
  controller: AbortController;
  said: string;
}

const idleMs = 250;
const idleMsMax = 2_000;
/** After another process was faster, the next look comes soon. */
const contestedMs = 20;
/** How often somebody who waits looks for a turn that another process runs. */
const pollMs = 200;
/** A reply in many small pieces is kept for those who come late; beyond this they see the end of it. */
const eventsKept = 20_000;

/** How long a turn waits when the store has failed it. */
const retryMs = 500;

/** Stops a turn because its process stops. */
class Stopping extends Error {}

/** Takes messages in and runs their turns: one at a time a conversation, a few at once, in the order they came. */
export class TurnQueue {
  readonly #services: TurnServices;
  readonly #owner: string;
  readonly #running = new Map<string, Running>();
  readonly #work = new Set<Promise<void>>();
  /** Who follows each message. */
  readonly #listeners = new Map<string, Set<(turn: Running, event: TurnEvent) => void>>();
  readonly #wakeSignal = new WakeSignal();
  /** Messages that are being written down, with their turns. */
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
   * Takes a message in: when this returns, it will be answered, whatever becomes of this process. With `run` it is run
   * here, when there is room for it.
   */
  async accept(inbound: Inbound, { run = false } = {}): Promise<Accepted> {
    checkInbound(inbound);
    const { config, store } = this.#services;
    const { clock, random } = store;
    const { agent, key } = this.#services.sessions.resolveKey(toAddress(inbound));
    const addressed = isAddressed(inbound, config.turn.names);
    const known: Inbound & { id: string } = {
      ...inbound,
      id: inbound.id ?? newId(clock, random),
      ...(isGroup(inbound) ? { mentioned: addressed } : {}),
    };
    const isCommand = /^\s*\//.test(inbound.text);
    const waitMs = isCommand || !addressed ? 0 : (inbound.debounceMs ?? config.turn.debounceMs);
    const id = newId(clock, random);
    const message = { id, agent, key, sender: getSender(inbound), source: sourceOf(known), inbound: known, waitMs };
    const { row, duplicate, claimed } = await this.#take(message, run);
    if (!duplicate && addressed && config.turn.whileBusy === "interrupt" && !claimed) this.interrupt(agent, key);
    if (run && !claimed) this.start();
    return { id: row.id, agent, key, duplicate };
  }

  /** Writes a message down, and begins its turn at once where nothing is before it and there is room. */
  async #take(message: NewMessage, run: boolean): ReturnType<typeof acceptMessage> {
    const { maxConcurrent, leaseMs } = this.#services.config.turn;
    const hasCapacity = this.#work.size + this.#taking.size < maxConcurrent;
    const isFree = run && message.waitMs === 0 && hasCapacity && !this.#stopping.signal.aborted;
    if (!isFree) return acceptMessage(this.#services.store, message);
    this.#loop ??= this.#run();
    const taking = acceptMessage(this.#services.store, message, { owner: this.#owner, leaseMs }).then((accepted) => {
      if (accepted.claimed) this.#begin(accepted.claimed);
      return accepted;
    });
    this.#taking.add(taking);
    try {
      return await taking;
    } finally {
      this.#taking.delete(taking);
    }
  }

  /** Where a message is now. */
  async get(agent: string, id: string): Promise<MessageState> {
    const row = await readMessage(this.#services.store, agent, id);
    if (!row) {
      throw new VarveError("NOT_FOUND", `No message ${JSON.stringify(id)} was accepted.`, {
        remedy: "Use the id that accepting it returned.",
      });
    }
    return toMessageState(row);
  }

  /** What happens to a message from its beginning to its end, also when another process answers it. */
  async *follow({ agent, id }: Pick<Accepted, "agent" | "id">, signal?: AbortSignal): AsyncGenerator<TurnEvent> {
    const pending: TurnEvent[] = [];
    let wake = (): void => undefined;
    let seen: Running | undefined;
    const take = (running: Running, event: TurnEvent): void => {
      // Whoever comes in the middle is told what was before; what comes next is in order behind it.
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
        if (!running.claimed.messages.some(({ row }) => row.agent === agent && row.id === id)) continue;
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
        // A turn that runs here says its end itself.
        const isHere = seen !== undefined && this.#running.has(turnName(seen.claimed));
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

  /** Begins to run turns, or looks at once when it has begun. */
  start(): void {
    // Who is about to stop takes no more.
    if (this.#stopping.signal.aborted) return;
    this.#loop ??= this.#run();
    this.#wakeSignal.wake();
  }

  /** Takes no more turns, waits a while for those under way, and hands over the others. */
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

  /** Ends the turn of a conversation that runs here; what it said so far stays said. */
  interrupt(agent: string, key: string): boolean {
    let found = false;
    for (const { claimed, controller, said } of this.#running.values()) {
      if (claimed.agent !== agent || claimed.key !== key) continue;
      const reason = new Interrupted("Another message came.");
      reason.said = said;
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
      const { claimed, delayMs } = hasCapacity ? await this.#findNext(waitMs) : { delayMs: waitMs };
      if (claimed) {
        waitMs = idleMs;
        this.#begin(claimed);
        continue;
      }
      if (signal.aborted) break;
      const isWoken = await this.#wakeSignal.wait(delayMs, { ref: this.#work.size > 0 });
      waitMs = isWoken ? idleMs : Math.min(2 * waitMs, idleMsMax);
    }
  }

  #begin(claimed: TurnClaim): void {
    const work: Promise<void> = this.#runOne(claimed).finally(() => {
      this.#work.delete(work);
      this.#wakeSignal.wake();
    });
    this.#work.add(work);
  }

  /** A turn, or how long to wait for one: no longer than until the next message is due. */
  async #findNext(waitMs: number): Promise<{ claimed?: TurnClaim; delayMs: number }> {
    try {
      const { next, dueAt } = await findNextTurn(this.#services.store);
      if (next) {
        const claimed = await claimTurn(this.#services.store, next, this.#owner, this.#services.config.turn.leaseMs);
        return { claimed, delayMs: contestedMs };
      }
      const untilDue = dueAt === undefined ? waitMs : Math.max(5, dueAt - this.#services.store.clock.now());
      return { delayMs: Math.min(waitMs, untilDue) };
    } catch (error) {
      // A store that cannot be reached for a while must not end the work for good.
      this.#observer.onError(error);
      return { delayMs: waitMs };
    }
  }

  async #runOne(claimed: TurnClaim): Promise<void> {
    const { turn } = this.#services.config;
    const controller = new AbortController();
    const running: Running = { claimed, events: [], controller, said: "" };
    const id = turnName(claimed);
    this.#running.set(id, running);
    const beat = setInterval(() => void this.#extendLease(running), turn.leaseMs / 3);
    const timeout = setTimeout(() => controller.abort(tooLong(turn.timeoutMs)), turn.timeoutMs);
    try {
      const result =
        claimed.attempt > turn.attemptsMax
          ? await this.#giveUp(claimed, cutOff(claimed.attempt - 1))
          : await runTurn(this.#services, claimed, {
              signal: controller.signal,
              emit: (event) => this.#emit(running, event),
              steer: async () => {
                if (turn.whileBusy !== "steer") return [];
                const joined = await joinTurn(this.#services.store, claimed, turn.leaseMs);
                claimed.messages.push(...joined);
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

  /** A turn that ended without a result: lost to another process, handed over, or failed outside of any model. */
  async #settle(running: Running, error: unknown): Promise<void> {
    const { claimed } = running;
    if (error instanceof TurnLost) return;
    if (error instanceof Stopping) return handOver(this.#services.store, claimed);
    this.#observer.onError(error);
    // The store may be back for the next attempt; whatever else it is will be so again.
    if (isStoreFailure(error)) return handOver(this.#services.store, claimed, retryMs);
    this.#emit(running, { type: "ended", result: await this.#giveUp(claimed, toVarveError(error)) });
  }

  async #giveUp(claimed: TurnClaim, { code, message, remedy }: VarveError): Promise<TurnResult> {
    const result: TurnResult = {
      turn: claimed.turn,
      messages: claimed.messages.map(({ row }) => row.id),
      key: claimed.key,
      sessionId: claimed.progress.sessionId ?? "",
      status: "failed",
      reply: "",
      notes: [],
      error: { code, message, ...(remedy === undefined ? {} : { remedy }) },
    };
    if (!(await endTurn(this.#services.store, claimed, result))) throw new TurnLost();
    return result;
  }

  /** Holds the lease, and looks whether somebody wants to speak who spoke to another process. */
  async #extendLease(running: Running): Promise<void> {
    const { claimed, controller } = running;
    const { leaseMs, whileBusy } = this.#services.config.turn;
    try {
      if (!(await extendTurn(this.#services.store, claimed, leaseMs))) controller.abort(new TurnLost());
      else if (whileBusy === "interrupt" && (await isAwaited(this.#services.store, claimed))) {
        this.interrupt(claimed.agent, claimed.key);
      }
    } catch (error) {
      // The next beat makes up for it, or another process takes the turn over.
      this.#observer.onError(error);
    }
  }

  #emit(running: Running, event: TurnEvent): void {
    if (event.type === "text") running.said += event.text;
    if (event.type === "restarted") running.said = "";
    running.events.push(event);
    if (running.events.length > eventsKept) running.events.shift();
    for (const { row } of running.claimed.messages) {
      for (const listener of this.#listeners.get(`${row.agent} ${row.id}`) ?? []) listener(running, event);
    }
    if (event.type === "ended") this.#observer.onEnded(running.claimed.agent, event.result);
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
