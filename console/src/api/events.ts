/** The event stream of the gateway: resumes after a break with the id of the last event, and says when it is lost. */
import { signal } from "@preact/signals";
import type { GatewayEvent, GatewayEventType } from "../../../src/http/events.ts";
import { call } from "./client.ts";
import { isLoggedOut, setMe } from "./login.ts";

export type LiveEvent = GatewayEvent & { time: number };
/** `resync` means that events were missed: what is shown must be read again. */
type Listener = (event: LiveEvent | { type: "resync" }) => void;

export const connection = signal<"connecting" | "live" | "lost">("connecting");
/** The last events, newest first. */
export const activity = signal<LiveEvent[]>([]);

const listeners = new Set<Listener>();
const activityMax = 50;
const retryMsFirst = 500;
const retryMsMax = 3_000;
/** The gateway sends something at least every 15 seconds; a connection that is silent for longer is dead. */
const silenceMs = 40_000;

export function onEvent(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Calls back soon after events of these types, once for several. */
export function onChange(
  types: readonly GatewayEventType[],
  react: () => void,
  key?: () => string | undefined,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = onEvent((event) => {
    const wantedKey = key?.();
    if (event.type !== "resync") {
      if (!types.includes(event.type)) return;
      if (wantedKey !== undefined && event.key !== wantedKey) return;
    }
    timer ??= setTimeout(() => {
      timer = undefined;
      react();
    }, 150);
  });
  return () => {
    clearTimeout(timer);
    stop();
  };
}

function publish(event: LiveEvent | { type: "resync" }): void {
  for (const listener of listeners) listener(event);
}

/** Follows the stream for as long as the page is open. */
export async function followEvents(): Promise<never> {
  let lastId: string | undefined;
  let retryMs = retryMsFirst;
  for (;;) {
    try {
      const wasLost = connection.value === "lost";
      await readStream(
        lastId,
        (id) => {
          lastId = id;
          retryMs = retryMsFirst;
        },
        wasLost,
      );
    } catch (error) {
      if (!(error instanceof Error)) throw error;
    }
    if (connection.value !== "lost") connection.value = "lost";
    await new Promise((resolve) => setTimeout(resolve, retryMs));
    retryMs = Math.min(retryMs * 1.5, retryMsMax);
  }
}

async function readStream(lastId: string | undefined, onId: (id: string) => void, wasLost: boolean): Promise<void> {
  const control = new AbortController();
  const response = await fetch("/api/events", {
    headers: lastId === undefined ? {} : { "Last-Event-ID": lastId },
    signal: control.signal,
  });
  if (response.status === 401) isLoggedOut.value = true;
  if (!response.ok || response.body === null) throw new Error(`status ${response.status}`);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const silence = setTimeout(() => control.abort(), silenceMs);
    const { value, done } = await reader.read().finally(() => clearTimeout(silence));
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) await handleBlock(block, onId, wasLost);
  }
}

async function handleBlock(block: string, onId: (id: string) => void, wasLost: boolean): Promise<void> {
  const fields = new Map(
    block
      .split("\n")
      .filter((line) => !line.startsWith(":"))
      .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trimStart()] as const),
  );
  const [id, type, data] = [fields.get("id"), fields.get("event"), fields.get("data")];
  if (id !== undefined) onId(id);
  if (type === "ready") {
    // The login may be another one after a restart of the gateway.
    if (wasLost || isLoggedOut.value) setMe(await call("GET /api/me", {}));
    connection.value = "live";
    if (wasLost) publish({ type: "resync" });
    return;
  }
  if (type === "dropped") return publish({ type: "resync" });
  if (type === undefined || data === undefined) return;
  const event = JSON.parse(data) as LiveEvent;
  activity.value = [event, ...activity.value].slice(0, activityMax);
  publish(event);
}
