import { z } from "@hono/zod-openapi";
import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import { VarveError } from "../../domain/index.ts";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { eventRules, type NumberedEvent, selectEventFor } from "../events.ts";
import { createChangeFollower } from "../follow-changes.ts";
import { addRoute, createRoute, failures, needs } from "../routing.ts";
import { tokenCacheMs } from "../token-registry.ts";
import type { TokenPrincipal } from "../tokens.ts";

const heartbeatMs = 15_000;

const events = createRoute({
  method: "get",
  path: "/api/events",
  ...needs("read"),
  tags: ["events"],
  summary: "Stream the changes that any process makes in the database",
  description:
    `Server-sent events: ready, ${Object.keys(eventRules).join(", ")}. A token that is limited to some memory scopes ` +
    "gets those that may quote a memory without their data. A client that reconnects with Last-Event-ID gets the events " +
    "it missed. If some of them are no longer kept, an event `dropped` has their count, or null when it is unknown.",
  responses: {
    200: { description: "The stream.", content: { "text/event-stream": { schema: z.string() } } },
    ...failures,
  },
});

export const eventRoutes = { events };

export function addEventRoute(app: GatewayApp, gateway: GatewayContext): void {
  const { maxStreams, quotas } = gateway.settings;
  const streams = createStreamCounter(maxStreams, quotas.streams);
  const follower = createChangeFollower({
    feed: gateway.varve.openChangeFeed(),
    bus: gateway.bus,
    agent: gateway.varve.settings.config.agent,
    onFailure: (error) => gateway.log({ event: "error", method: "", path: "the changes of other processes", error }),
  });
  gateway.closers.push(follower.close);
  addRoute(app, events, (c) => {
    // The same handler answers HEAD requests, which never read the stream.
    if (c.req.method === "HEAD") return c.body(null, 200, { "Content-Type": "text/event-stream" });
    const principal = c.get("principal");
    const lastId = c.req.header("last-event-id");
    const close = streams.open(principal.name);
    const stopFollowing = follower.open();
    return streamSSE(
      c,
      async (stream) => {
        try {
          await streamEvents(gateway, principal, stream, lastId);
        } finally {
          stopFollowing();
          close();
        }
      },
      async (error) => gateway.log({ event: "error", method: "GET", path: c.req.path, error }),
    );
  });
}

/** Counts open streams, in total and per token, so that one token cannot take the streams of all others. */
function createStreamCounter(max: number, perToken: number): { open(token: string): () => void } {
  const counts = new Map<string, number>();
  let total = 0;
  const refuse = (message: string, setting: string): never => {
    throw new VarveError("RATE_LIMITED", message, {
      remedy: `Close some of them and try again, or raise ${setting}.`,
      details: { retryAfterSeconds: 5 },
    });
  };
  return {
    open(token) {
      const own = counts.get(token) ?? 0;
      if (own >= perToken) refuse(`This token has ${own} open event streams already.`, "gateway.quotas.streams");
      if (total >= max) refuse(`There are already ${total} open event streams.`, "gateway.maxStreams");
      total += 1;
      counts.set(token, own + 1);
      return () => {
        total -= 1;
        const left = (counts.get(token) ?? 1) - 1;
        if (left === 0) counts.delete(token);
        else counts.set(token, left);
      };
    },
  };
}

async function streamEvents(
  { bus, tokens }: GatewayContext,
  principal: TokenPrincipal,
  stream: SSEStreamingApi,
  lastId: string | undefined,
): Promise<void> {
  const disconnected = new AbortController();
  stream.onAbort(() => disconnected.abort());
  const known = lastId === undefined ? bus.end() : bus.findPositionAfter(lastId);
  let position = known ?? bus.end();
  await stream.writeSSE({ event: "ready", id: bus.idBefore(position), data: "{}", retry: 3000 });
  if (known === undefined) await writeDropped(stream, null);
  let written = performance.now();
  while (!bus.closed && !disconnected.signal.aborted && (await tokens.isAccepted(principal))) {
    const batch = bus.readSince(position);
    const visible = batch.events
      .map((event) => selectEventFor(principal, event))
      .filter((event) => event !== undefined);
    if (batch.dropped > 0) await writeDropped(stream, batch.dropped);
    for (const event of visible) await writeEvent(stream, event);
    position = batch.position;
    if (visible.length > 0 || batch.dropped > 0) written = performance.now();
    const heartbeatInMs = written + heartbeatMs - performance.now();
    await bus.wait(position, Math.min(heartbeatInMs, tokenCacheMs), disconnected.signal);
    if (performance.now() - written < heartbeatMs) continue;
    await stream.write(": heartbeat\n\n");
    written = performance.now();
  }
}

async function writeEvent(stream: SSEStreamingApi, { id, ...event }: NumberedEvent): Promise<void> {
  await stream.writeSSE({ id, event: event.type, data: JSON.stringify(event) });
}

async function writeDropped(stream: SSEStreamingApi, dropped: number | null): Promise<void> {
  await stream.writeSSE({ event: "dropped", data: JSON.stringify({ dropped }) });
}
