import { z } from "@hono/zod-openapi";
import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import { VarveError } from "../../domain/index.ts";
import type { MessageState, TurnEvent, Varve } from "../../engine.ts";
import type { GatewayApp, GatewayHost } from "../context.ts";
import { addRoute, createRoute, failures, jsonBody, jsonContent, reply } from "../routing.ts";
import { agentQuery, fields, text } from "../schemas.ts";
import { agentFor, refuseForeignKey } from "../session-of.ts";
import type { TokenPrincipal } from "../tokens.ts";

const tags = ["turns"];
/** A request is answered a little before it would be given up. */
const marginMs = 2_000;
const waitSecondsMax = 600;
const heartbeatMs = 15_000;
const name = text(512);

const attachmentSchema = fields({
  name: name.optional(),
  mediaType: text(200).optional(),
  url: text(8_192).optional(),
  data: z.string().optional().describe("The bytes, in base64."),
  text: z.string().optional(),
});

const inboundSchema = fields({
  id: name.optional().describe("The channel's own id of the message: sent twice, it is answered once."),
  session: name.optional().describe("The key of a session, in place of the address."),
  channel: name.optional().describe("telegram, slack, …"),
  account: name.optional(),
  from: fields({ id: name, name: name.optional() }).optional(),
  chat: fields({
    type: z.enum(["direct", "group", "channel", "room"]),
    id: name,
    thread: name.optional(),
  }).optional(),
  text: z.string(),
  attachments: z.array(attachmentSchema).max(64).optional(),
  mentioned: z.boolean().optional().describe("Whether the agent is spoken to, in a group."),
  debounceMs: z.int().min(0).max(60_000).optional().describe("How long to wait for more of the same sender."),
  stream: z.boolean().optional().describe("Whether to answer as an event stream, as with Accept: text/event-stream."),
}).openapi("Inbound", {
  example: {
    id: "42",
    channel: "telegram",
    from: { id: "5054873275", name: "Ann" },
    chat: { type: "direct", id: "5054873275" },
    text: "When is my flight?",
    attachments: [],
    debounceMs: 0,
  },
});

const turnSchema = z
  .object({
    id: z.string().describe("Under this id the message is known: GET /api/turns/{id}."),
    agent: z.string(),
    key: z.string(),
    duplicate: z.boolean(),
    state: z.enum(["waiting", "running", "done"]),
    turn: z.string().optional(),
    sessionId: z.string().optional(),
    messages: z.array(z.string()).optional(),
    status: z.enum(["replied", "silent", "command", "stored", "held", "interrupted", "failed"]).optional(),
    reply: z.string().optional(),
    runner: z.string().optional(),
    model: z.string().optional(),
    usage: z.object({ inputTokens: z.number(), outputTokens: z.number() }).optional(),
    context: z.object({ tokens: z.number(), window: z.number() }).optional(),
    notes: z.array(z.string()).optional(),
    error: z.object({ code: z.string(), message: z.string(), remedy: z.string().optional() }).optional(),
  })
  .openapi("Turn");

const post = createRoute({
  method: "post",
  path: "/api/turns",
  tags,
  summary: "A message in, a reply out",
  description:
    "The message is durable when this answers, and is answered once, whatever becomes of the gateway. With " +
    "`Accept: text/event-stream` the answer is a stream of accepted, started, text, reasoning, tool-call, " +
    "tool-result, restarted (what was said so far is void) and ended.",
  request: { query: fields({ agent: agentQuery }), body: jsonBody(inboundSchema) },
  responses: {
    200: {
      description: "How the turn ended.",
      content: { "application/json": { schema: turnSchema }, "text/event-stream": { schema: z.string() } },
    },
    202: jsonContent(turnSchema, "The turn goes on; ask for it by its id."),
    ...failures,
  },
});

const get = createRoute({
  method: "get",
  path: "/api/turns/{id}",
  tags,
  summary: "Where a message is, and how its turn ended",
  request: {
    params: z.object({ id: text(128).openapi({ example: "1m7hjn85qafg23en6h7" }) }),
    query: fields({
      agent: agentQuery,
      wait: z.coerce
        .number()
        .min(0)
        .max(waitSecondsMax)
        .optional()
        .describe("How long to wait for its end, in seconds; not at all when absent."),
    }),
  },
  responses: { 200: jsonContent(turnSchema, "Where it is."), ...failures },
});

export function addTurnRoutes(app: GatewayApp, host: GatewayHost): void {
  const { varve } = host;
  const patienceMs = Math.max(100, host.settings.requestTimeoutMs - marginMs);
  addRoute(app, post, async (c) => {
    const { stream: wanted, ...inbound } = c.req.valid("json");
    const principal = c.get("principal");
    refuseScoped(principal);
    const agent = agentFor(principal, c.req.valid("query").agent);
    refuseForeignKey(agent === undefined ? principal : { ...principal, agents: [agent] }, inbound.session);
    const accepted = await varve.turns.accept({ ...inbound, agent });
    const isStream = wanted ?? c.req.header("accept")?.includes("text/event-stream") ?? false;
    if (isStream) {
      return streamSSE(
        c,
        (stream) => pour(varve, stream, accepted),
        async (error) => host.log({ event: "error", method: "POST", path: c.req.path, error }),
      );
    }
    const state = await waitFor(varve, accepted, patienceMs, c.req.raw.signal);
    return reply(c, turnSchema, { ...flat(state), duplicate: accepted.duplicate }, state.state === "done" ? 200 : 202);
  });
  addRoute(app, get, async (c) => {
    refuseScoped(c.get("principal"));
    const { agent: named, wait = 0 } = c.req.valid("query");
    const agent = agentFor(c.get("principal"), named);
    const { id } = c.req.valid("param");
    const state = await varve.turns.get(id, agent);
    const waitMs = Math.min(wait * 1_000, patienceMs);
    const ended = waitMs > 0 ? await waitFor(varve, state, waitMs, c.req.raw.signal) : state;
    return reply(c, turnSchema, flat(ended));
  });
}

/** A turn sees every memory of its agent, and its reply may say any of them. */
function refuseScoped({ name: token, scopes }: TokenPrincipal): void {
  if (scopes === undefined) return;
  throw new VarveError(
    "FORBIDDEN",
    `The token ${JSON.stringify(token)} sees some scopes of memories only; a turn sees all.`,
    {
      remedy: "Use a token without scopes, or bind it to an agent of its own.",
    },
  );
}

function flat({ result, ...state }: MessageState): z.input<typeof turnSchema> {
  return { ...result, ...state };
}

/** The end of a turn, or where it is when the time is over. The turn goes on whoever waits for it. */
async function waitFor(
  varve: Varve,
  { id, agent }: Pick<MessageState, "id" | "agent">,
  waitMs: number,
  gone: AbortSignal,
): Promise<MessageState> {
  const signal = AbortSignal.any([gone, AbortSignal.timeout(waitMs)]);
  try {
    for await (const event of varve.turns.follow({ id, agent }, signal)) if (event.type === "ended") break;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return varve.turns.get(id, agent);
}

async function pour(
  varve: Varve,
  stream: SSEStreamingApi,
  accepted: { id: string; agent: string; key: string; duplicate: boolean },
): Promise<void> {
  const gone = new AbortController();
  stream.onAbort(() => gone.abort());
  const write = (event: TurnEvent) => stream.writeSSE({ event: event.type, data: JSON.stringify(event) });
  const beat = setInterval(() => void stream.write(": heartbeat\n\n"), heartbeatMs);
  try {
    const { id, key, duplicate } = accepted;
    await write({ type: "accepted", id, key, duplicate });
    for await (const event of varve.turns.follow(accepted, gone.signal)) await write(event);
  } catch (error) {
    // Whoever went away does not need to be told; their turn goes on.
    if (!gone.signal.aborted) throw error;
  } finally {
    clearInterval(beat);
  }
}
