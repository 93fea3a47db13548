import { z } from "@hono/zod-openapi";
import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import { VarveError } from "../../domain/index.ts";
import type { GatewayApp, GatewayHost } from "../context.ts";
import type { NumberedEvent } from "../events.ts";
import { addRoute, createRoute, failures } from "../routing.ts";
import { boundAgent, hasExpired, type TokenPrincipal } from "../tokens.ts";

const heartbeatMs = 15_000;
const streamsMax = 100;

const events = createRoute({
  method: "get",
  path: "/api/events",
  tags: ["events"],
  summary: "What is changed through this gateway, as it happens",
  description:
    "Server-sent events: ready, messages.appended, session.created, session.updated, session.renewed, " +
    "session.restored, session.deleted, compaction, memories, job.failed, turn.ended, turn.failed. A reader that comes back with Last-Event-ID gets what it missed; what is no " +
    "longer kept is said by an event `dropped` with a count, or null when it cannot be known.",
  responses: {
    200: { description: "The stream.", content: { "text/event-stream": { schema: z.string() } } },
    ...failures,
  },
});

export function addEventRoute(app: GatewayApp, host: GatewayHost): void {
  let streams = 0;
  addRoute(app, events, (c) => {
    if (streams >= streamsMax) {
      throw new VarveError("RATE_LIMITED", `There are ${streamsMax} event streams open already.`, {
        remedy: "Close some of them, then try again.",
        details: { retryAfterSeconds: 5 },
      });
    }
    // A HEAD request is answered by the same handler and never reads the stream.
    if (c.req.method === "HEAD") return c.body(null, 200, { "Content-Type": "text/event-stream" });
    const principal = c.get("principal");
    const lastId = c.req.header("last-event-id");
    streams += 1;
    return streamSSE(
      c,
      async (stream) => {
        try {
          await follow(host, principal, stream, lastId);
        } finally {
          streams -= 1;
        }
      },
      async (error) => host.log({ event: "error", method: "GET", path: c.req.path, error }),
    );
  });
}

async function follow(
  { bus, clock }: GatewayHost,
  principal: TokenPrincipal,
  stream: SSEStreamingApi,
  lastId: string | undefined,
): Promise<void> {
  const gone = new AbortController();
  stream.onAbort(() => gone.abort());
  const known = lastId === undefined ? bus.end() : bus.placeBehind(lastId);
  let place = known ?? bus.end();
  await stream.writeSSE({ event: "ready", id: bus.idBefore(place), data: "{}", retry: 3000 });
  if (known === undefined) await sayDropped(stream, null);
  let written = performance.now();
  while (!bus.closed && !gone.signal.aborted && !hasExpired(principal, clock.now())) {
    const stretch = bus.since(place);
    const visible = stretch.events.filter(
      (event) => boundAgent(principal) === undefined || event.agent === boundAgent(principal),
    );
    if (stretch.dropped > 0) await sayDropped(stream, stretch.dropped);
    for (const event of visible) await write(stream, event);
    place = stretch.at;
    if (visible.length > 0 || stretch.dropped > 0) written = performance.now();
    await bus.wait(place, written + heartbeatMs - performance.now(), gone.signal);
    if (performance.now() - written < heartbeatMs) continue;
    await stream.write(": heartbeat\n\n");
    written = performance.now();
  }
}

async function write(stream: SSEStreamingApi, { id, ...event }: NumberedEvent): Promise<void> {
  await stream.writeSSE({ id, event: event.type, data: JSON.stringify(event) });
}

async function sayDropped(stream: SSEStreamingApi, dropped: number | null): Promise<void> {
  await stream.writeSSE({ event: "dropped", data: JSON.stringify({ dropped }) });
}
