import type { Change, ChangeFeed } from "../index.ts";
import type { EventBus, GatewayEvent } from "./events.ts";

const pollMs = 300;
const rememberedMax = 20_000;
/** How long an event of this process stands for the change that the feed notices later. */
const coveredMs = 5_000;

/** Publishes what other processes change in the database, while somebody listens. */
export interface ChangeFollower {
  /** Starts to poll; the returned function stops it when nobody else listens. */
  open(): () => void;
  close(): Promise<void>;
}

interface FollowerOptions {
  feed: ChangeFeed;
  bus: EventBus;
  agent: string;
  onFailure(error: unknown): void;
}

/**
 * A change of this process is published by the route that made it, with more details. So a change waits for one poll, and
 * is dropped if it was published meanwhile.
 */
export function createChangeFollower({ feed, bus, agent, onFailure }: FollowerOptions): ChangeFollower {
  const publishedSeqs = new Set<number>();
  const publishedAt = new Map<string, number>();
  let waiting: Change[] = [];
  let listeners = 0;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let isOwn = false;

  const stopListening = bus.onPublish((event) => {
    if (isOwn) return;
    for (const seq of listSeqs(event)) publishedSeqs.add(seq);
    publishedAt.set(coverKey(event), performance.now());
    forgetOldest(publishedSeqs);
    forgetOldest(publishedAt);
  });
  const publish = (event: GatewayEvent): void => {
    isOwn = true;
    bus.publish(event);
    isOwn = false;
  };
  const isCovered = (name: string): boolean => performance.now() - (publishedAt.get(name) ?? -coveredMs) < coveredMs;
  const publishChange = (change: Change): void => {
    const event = toEvent(change);
    if (event) publish(event);
  };
  const toEvent = (change: Change): GatewayEvent | undefined => {
    switch (change.type) {
      case "messages": {
        const { type: _, seqs: all, ...session } = change;
        const seqs = all.filter((seq) => !publishedSeqs.has(seq));
        const data = { count: seqs.length, firstSeq: seqs[0], lastSeq: seqs.at(-1) };
        return seqs.length === 0 ? undefined : { type: "messages.appended", ...session, data };
      }
      case "compaction": {
        const { type, seqs: _, ...session } = change;
        return isCovered(`compaction ${change.key}`) ? undefined : { type, ...session };
      }
      case "session":
        return isCovered(`session ${change.key}`) ? undefined : { ...change, type: "session.updated" };
      case "memories":
        return { type: "memories.changed", agent, key: "" };
      case "jobs":
        return { type: "jobs.changed", agent: change.agent, key: "" };
    }
  };
  const poll = async (): Promise<void> => {
    try {
      const changes = await feed.read();
      const due = waiting;
      waiting = changes;
      // Messages imply that their session changed.
      const keys = new Set(due.flatMap((one) => (one.type === "messages" ? [one.key] : [])));
      for (const change of due) if (change.type !== "session" || !keys.has(change.key)) publishChange(change);
    } catch (error) {
      onFailure(error);
    }
    if (listeners > 0) timer = setTimeout(() => (running = poll()), pollMs);
  };
  return {
    open() {
      listeners += 1;
      if (listeners === 1) {
        clearTimeout(timer);
        running = running.then(poll);
      }
      let isOpen = true;
      return () => {
        if (isOpen) listeners -= 1;
        isOpen = false;
      };
    },
    async close() {
      listeners = 0;
      clearTimeout(timer);
      stopListening();
      await running;
    },
  };
}

/** Messages and every change of a session cover the change of its row. */
function coverKey({ type, key }: GatewayEvent): string {
  return type === "compaction" ? `compaction ${key}` : `session ${key}`;
}

function listSeqs({ type, data }: GatewayEvent): number[] {
  if (type !== "messages.appended" || !Array.isArray(data?.entries)) return [];
  return (data.entries as { seq: number }[]).map(({ seq }) => seq);
}

/** Sets and maps keep the order of insertion, so the first key is the oldest. */
function forgetOldest(remembered: Set<number> | Map<string, number>): void {
  for (const key of remembered.keys()) {
    if (remembered.size <= rememberedMax) return;
    remembered.delete(key as never);
  }
}
