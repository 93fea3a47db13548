import { canUseAgent, hasRight, type Principal, type Right } from "../authorization/index.ts";
import { type Clock, newId, type Random } from "../domain/index.ts";

interface EventRule {
  /** The right a reader of the event stream needs to get the event. */
  right: Right;
  /** Whether its data may contain text of any memory: a reader that is limited to some scopes gets it without data. */
  mayQuoteMemories: boolean;
}

/** Every event of the stream, and who gets it. */
export const eventRules = {
  "messages.appended": { right: "read", mayQuoteMemories: false },
  "session.created": { right: "read", mayQuoteMemories: false },
  "session.updated": { right: "read", mayQuoteMemories: false },
  "session.renewed": { right: "read", mayQuoteMemories: false },
  "session.restored": { right: "read", mayQuoteMemories: false },
  "session.deleted": { right: "read", mayQuoteMemories: false },
  "person.unknown": { right: "read", mayQuoteMemories: false },
  compaction: { right: "read", mayQuoteMemories: false },
  "job.failed": { right: "read", mayQuoteMemories: true },
  "hook.failed": { right: "read", mayQuoteMemories: true },
  memories: { right: "read", mayQuoteMemories: true },
  "memories.changed": { right: "read", mayQuoteMemories: true },
  "jobs.changed": { right: "read", mayQuoteMemories: true },
  "import.progress": { right: "admin", mayQuoteMemories: true },
  "import.ended": { right: "admin", mayQuoteMemories: true },
  "turn.ended": { right: "read", mayQuoteMemories: true },
  "turn.failed": { right: "read", mayQuoteMemories: true },
} satisfies Record<string, EventRule>;

export type GatewayEventType = keyof typeof eventRules;

/** Returns what a principal may see of an event; undefined when it may not know of it. */
export function selectEventFor<E extends GatewayEvent>(principal: Principal, event: E): E | undefined {
  const { right, mayQuoteMemories } = eventRules[event.type];
  if (!hasRight(principal, right) || !canUseAgent(principal, event.agent)) return undefined;
  if (!mayQuoteMemories || principal.scopes === undefined) return event;
  return { ...event, data: undefined };
}

/** A change, made through this gateway or by another process on the same database. */
export interface GatewayEvent {
  type: GatewayEventType;
  agent: string;
  key: string;
  sessionId?: string;
  data?: Record<string, unknown>;
}

export interface NumberedEvent extends GatewayEvent {
  id: string;
  time: number;
}

interface EventBatch {
  events: NumberedEvent[];
  /** The position to read the next batch from. */
  position: number;
  /** The number of events between the requested position and these that are no longer kept. */
  dropped: number;
}

/**
 * A ring buffer of the last events. Every reader has its own position in it, so that a slow reader blocks nobody: it
 * misses events, and is told how many.
 */
export interface EventBus {
  publish(event: GatewayEvent): void;
  /** The position after an event id; undefined when the id is not from this run of the gateway. */
  findPositionAfter(id: string): number | undefined;
  /** The position of the next event. */
  end(): number;
  /** The id of the last event before a position; a reader that reconnects sends it. */
  idBefore(position: number): string;
  readSince(position: number): EventBatch;
  /** Resolves when there is an event at the position, when the bus closes, on abort, or after the timeout. */
  wait(position: number, timeoutMs: number, signal: AbortSignal): Promise<void>;
  /** Calls the listener with every event; the returned function removes it. */
  onPublish(listener: (event: GatewayEvent) => void): () => void;
  readonly closed: boolean;
  close(): void;
}

export function createEventBus(clock: Clock, random: Random, eventsMax = 1000): EventBus {
  const run = newId(clock, random);
  const ring: NumberedEvent[] = [];
  const waiters = new Set<() => void>();
  const listeners = new Set<(event: GatewayEvent) => void>();
  let end = 0;
  let closed = false;
  const wake = (): void => {
    for (const waiter of [...waiters]) waiter();
  };
  const idBefore = (position: number): string => `${run}-${position}`;
  return {
    publish: (event) => {
      end += 1;
      ring.push({ ...event, id: idBefore(end), time: clock.now() });
      if (ring.length > eventsMax) ring.shift();
      for (const listener of listeners) listener(event);
      wake();
    },
    onPublish(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    findPositionAfter: (id) => {
      const position = id.startsWith(`${run}-`) ? id.slice(run.length + 1) : "";
      return /^\d{1,15}$/.test(position) && Number(position) <= end ? Number(position) : undefined;
    },
    end: () => end,
    idBefore,
    readSince: (position) => {
      const first = end - ring.length;
      return {
        events: ring.slice(Math.max(0, position - first)),
        position: end,
        dropped: Math.max(0, first - position),
      };
    },
    wait: (position, timeoutMs, signal) =>
      new Promise((resolve) => {
        if (closed || signal.aborted || end > position) return resolve();
        const done = (): void => {
          clearTimeout(timer);
          waiters.delete(done);
          signal.removeEventListener("abort", done);
          resolve();
        };
        const timer = setTimeout(done, Math.max(0, timeoutMs));
        waiters.add(done);
        signal.addEventListener("abort", done, { once: true });
      }),
    get closed() {
      return closed;
    },
    close: () => {
      closed = true;
      wake();
    },
  };
}
