import { type EngineEvent, VarveError } from "../domain/index.ts";
import { findSessionIfAny, type Session } from "../session/index.ts";
import type { TurnEvent, TurnResult } from "./events.ts";
import type { Inbound } from "./inbound.ts";
import { type Accepted, type MessageState, TurnQueue } from "./queue.ts";
import type { TurnServices } from "./turn.ts";

/** Accepts messages and answers them. */
export interface TurnService {
  /** Accepts a message durably: it will be answered once, even if this process ends. */
  accept(inbound: Inbound): Promise<Accepted>;
  /** The events of a message until its turn ends, also when another process runs it. */
  follow(accepted: Pick<Accepted, "id"> & { agent?: string }, signal?: AbortSignal): AsyncGenerator<TurnEvent>;
  /** Accepts a message and waits for the end of its turn. */
  send(inbound: Inbound, options?: { signal?: AbortSignal; onEvent?: (event: TurnEvent) => void }): Promise<TurnResult>;
  /** Interrupts the turn of a session that this process runs, as another message would; false when there is none. */
  interrupt(key: string, agent?: string): boolean;
  /** The state of a message. */
  get(id: string, agent?: string): Promise<MessageState>;
  /** Runs pending and new turns until it is stopped. */
  start(): void;
  /** Takes no more turns, waits for running ones, and hands over those that take longer. */
  stop(graceMs?: number): Promise<void>;
}

export interface TurnServiceOptions extends TurnServices {
  /** Whether messages that are accepted here are answered here. */
  background: boolean;
  afterTurn?: AfterTurnHook;
  emit(event: EngineEvent): void;
}

/** A turn that ended in this process. */
export interface EndedTurn {
  agent: string;
  /** The session as it is after the turn; absent when the turn failed before it had one. */
  session?: Session;
  result: TurnResult;
}

/** Is told about ended turns. Nothing waits for it but the end of the engine; it never fails. */
export interface AfterTurnHook {
  readonly isActive: boolean;
  run(readTurn: () => Promise<EndedTurn>, about: { agent: string; key: string }): void;
}

export function createTurnService({ background, afterTurn, emit, ...services }: TurnServiceOptions): TurnService {
  const { agent: defaultAgent } = services.config;
  const queue = new TurnQueue(services, {
    onError(error) {
      const text = error instanceof Error ? error.message : String(error);
      emit({ type: "turn.failed", agent: defaultAgent, key: "", data: { error: text } });
    },
    onEnded(agent, result) {
      const { key, sessionId, turn, messages, status, reply, usage } = result;
      const tokens = (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
      emit({ type: "turn.ended", agent, key, sessionId, data: { turn, messages, status, reply, tokens } });
      if (!afterTurn?.isActive) return;
      const readTurn = async (): Promise<EndedTurn> => {
        const session = await findSessionIfAny(services.store, key, agent);
        // Followers get the same result: a handler that changes its copy changes nothing else.
        return { agent, ...(session ? { session } : {}), result: structuredClone(result) };
      };
      afterTurn.run(readTurn, { agent, key });
    },
  });
  let runs = background;
  const accept: TurnService["accept"] = (inbound) => queue.accept(inbound, { run: runs });
  const follow: TurnService["follow"] = ({ id, agent = defaultAgent }, signal) => queue.follow({ id, agent }, signal);
  return {
    accept,
    follow,
    async send(inbound, { signal, onEvent } = {}) {
      const accepted = await accept(inbound);
      onEvent?.({ type: "accepted", id: accepted.id, key: accepted.key, duplicate: accepted.duplicate });
      for await (const event of follow(accepted, signal)) {
        onEvent?.(event);
        if (event.type === "ended") return event.result;
      }
      throw new VarveError("INTERNAL", "The turn ended without a result.");
    },
    interrupt: (key, agent = defaultAgent) => queue.interrupt(agent, key),
    get: (id, agent = defaultAgent) => queue.get(agent, id),
    start() {
      runs = true;
      queue.start();
    },
    stop(graceMs) {
      runs = background;
      return queue.stop(graceMs);
    },
  };
}
