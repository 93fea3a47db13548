import { type Clock, newId, type Random } from "../domain/index.ts";

export type GatewayEventType =
  | "messages.appended"
  | "session.created"
  | "session.updated"
  | "session.renewed"
  | "session.restored"
  | "session.deleted"
  | "compaction"
  | "job.failed"
  | "memories"
  | "turn.ended"
  | "turn.failed";

/** Something that was changed through this gateway. */
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

interface Stretch {
  events: NumberedEvent[];
  /** Where to read on. */
  at: number;
  /** How many events before these are no longer kept. */
  dropped: number;
}

/**
 * The last events, in a ring. Every reader keeps its own place in it, so a slow one costs nothing and holds nobody up:
 * it falls behind, and is told how much it missed.
 */
export interface EventBus {
  publish(event: GatewayEvent): void;
  /** The place behind an event id, or undefined when this run of the gateway did not give it. */
  placeBehind(id: string): number | undefined;
  /** The place of the next event. */
  end(): number;
  /** The id of the last event before a place; what a reader that comes back there names. */
  idBefore(place: number): string;
  since(place: number): Stretch;
  /** Resolves when there is something at the place, when the bus closes, when aborted, or after the time. */
  wait(place: number, timeoutMs: number, signal: AbortSignal): Promise<void>;
  readonly closed: boolean;
  close(): void;
}

export function createEventBus(clock: Clock, random: Random, kept = 1000): EventBus {
  const run = newId(clock, random);
  const ring: NumberedEvent[] = [];
  const sleepers = new Set<() => void>();
  let end = 0;
  let closed = false;
  const wake = (): void => {
    for (const sleeper of [...sleepers]) sleeper();
  };
  const idBefore = (place: number): string => `${run}-${place}`;
  return {
    publish: (event) => {
      end += 1;
      ring.push({ ...event, id: idBefore(end), time: clock.now() });
      if (ring.length > kept) ring.shift();
      wake();
    },
    placeBehind: (id) => {
      const place = id.startsWith(`${run}-`) ? id.slice(run.length + 1) : "";
      return /^\d{1,15}$/.test(place) && Number(place) <= end ? Number(place) : undefined;
    },
    end: () => end,
    idBefore,
    since: (place) => {
      const first = end - ring.length;
      return { events: ring.slice(Math.max(0, place - first)), at: end, dropped: Math.max(0, first - place) };
    },
    wait: (place, timeoutMs, signal) =>
      new Promise((resolve) => {
        if (closed || signal.aborted || end > place) return resolve();
        const done = (): void => {
          clearTimeout(timer);
          sleepers.delete(done);
          signal.removeEventListener("abort", done);
          resolve();
        };
        const timer = setTimeout(done, Math.max(0, timeoutMs));
        sleepers.add(done);
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
