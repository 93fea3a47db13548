import { z } from "@hono/zod-openapi";
import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import { VarveError } from "../../domain/index.ts";
import type { MessageState, TurnEvent, Varve } from "../../index.ts";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { createDailyQuota } from "../daily-quota.ts";
import { addRoute, createRoute, failures, jsonBody, jsonContent, needs, reply } from "../routing.ts";
import { agentQuery, fields, sessionParam, text } from "../schemas.ts";
import { refuseForeignKey, requireSession, resolveAgent } from "../session-access.ts";
import { checkInboundSpeaker } from "../speaker.ts";
import type { TokenPrincipal } from "../tokens.ts";

const tags = ["turns"];
/** The answer is sent this long before the request timeout. */
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
  id: name
    .optional()
    .describe(
      "The channel's id of the message, used as idempotency key: a message that is sent twice is answered once.",
    ),
  session: name.optional().describe("The key of a session, instead of channel and chat."),
  channel: name.optional().describe("telegram, slack, …"),
  account: name.optional(),
  from: fields({ id: name, name: name.optional() }).optional().describe("The person who speaks."),
  owner: z
    .boolean()
    .optional()
    .describe(
      "Whether the owner speaks. It needs this machine's token, or one with the right admin and without an agent and scopes; so does a message without session, from and chat.",
    ),
  chat: fields({
    type: z.enum(["direct", "group", "channel", "room"]),
    id: name,
    thread: name.optional(),
  }).optional(),
  text: z.string(),
  kind: z
    .enum(["message", "heartbeat", "cron"])
    .optional()
    .describe(
      "What sends it: a person (default); a heartbeat, which does not keep the session fresh; the run of a scheduled job, which starts in a fresh session of the job.",
    ),
  job: name.optional().describe("The scheduled job, with kind cron."),
  run: name.optional().describe("The name of the run, under which its log is kept; default: the id of the turn."),
  attachments: z.array(attachmentSchema).max(64).optional(),
  mentioned: z.boolean().optional().describe("Whether a message in a group mentions the agent."),
  debounceMs: z
    .int()
    .min(0)
    .max(60_000)
    .optional()
    .describe("How long to wait for more messages of the same sender, in milliseconds."),
  stream: z.boolean().optional().describe("Whether to answer with an event stream, as with Accept: text/event-stream."),
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
    id: z.string().describe("The id of the accepted message, for GET /api/turns/{id}."),
    agent: z.string(),
    key: z.string(),
    duplicate: z.boolean(),
    state: z.enum(["waiting", "running", "done"]),
    turn: z.string().optional(),
    sessionId: z.string().optional(),
    messages: z.array(z.string()).optional(),
    status: z.enum(["replied", "silent", "command", "stored", "held", "interrupted", "failed"]).optional(),
    reply: z.string().optional(),
    reasoning: z.string().optional().describe("The reasoning, for sessions with the reasoning level on."),
    runner: z.string().optional(),
    model: z.string().optional(),
    usage: z
      .object({
        inputTokens: z.number(),
        outputTokens: z.number(),
        cachedInputTokens: z.number().optional().describe("Input tokens that the provider read from its cache."),
        cacheableInputTokens: z
          .number()
          .optional()
          .describe("Input tokens of the stable prefix, which a provider's cache can hold."),
      })
      .optional(),
    context: z
      .object({
        tokens: z.number(),
        window: z.number(),
        cacheable: z.number().optional().describe("The share of the prompt that a provider's cache can hold, 0 to 1."),
      })
      .optional(),
    notes: z.array(z.string()).optional(),
    error: z.object({ code: z.string(), message: z.string(), remedy: z.string().optional() }).optional(),
  })
  .openapi("Turn");

const post = createRoute({
  method: "post",
  path: "/api/turns",
  ...needs("read", "write"),
  tags,
  summary: "Send a message and get the agent's reply",
  description:
    "The message is durable when this answers, and is answered exactly once, even if the gateway crashes. With " +
    "`Accept: text/event-stream` the answer is a stream of the events accepted, started, text, reasoning, tool-call, " +
    "tool-result, restarted (discard the text received so far) and ended.",
  request: { query: fields({ agent: agentQuery }), body: jsonBody(inboundSchema) },
  responses: {
    200: {
      description: "The outcome of the turn.",
      content: { "application/json": { schema: turnSchema }, "text/event-stream": { schema: z.string() } },
    },
    202: jsonContent(turnSchema, "The turn is still running; get it by its id."),
    ...failures,
  },
});

const get = createRoute({
  method: "get",
  path: "/api/turns/{id}",
  ...needs("read"),
  tags,
  summary: "Get the state of an accepted message and the outcome of its turn",
  request: {
    params: z.object({ id: text(128).openapi({ example: "1m7hjn85qafg23en6h7" }) }),
    query: fields({
      agent: agentQuery,
      wait: z.coerce
        .number()
        .min(0)
        .max(waitSecondsMax)
        .optional()
        .describe("How many seconds to wait for the end of the turn; default: 0."),
    }),
  },
  responses: { 200: jsonContent(turnSchema, "The state."), ...failures },
});

const interruptedSchema = z.object({
  interrupted: z.boolean().describe("False when this gateway runs no turn of the session."),
});
const interrupt = createRoute({
  method: "post",
  path: "/api/sessions/{key}/interrupt",
  ...needs("write"),
  tags,
  summary: "Stop the turn of a session that this gateway runs; what was said so far stays",
  request: { params: sessionParam, query: fields({ agent: agentQuery }) },
  responses: { 200: jsonContent(interruptedSchema, "Whether a turn was stopped."), ...failures },
});

export const turnRoutes = { interrupt, post, get };

export function addTurnRoutes(app: GatewayApp, gateway: GatewayContext): void {
  const { varve } = gateway;
  const waitMsMax = Math.max(100, gateway.settings.requestTimeoutMs - marginMs);
  const quota = createDailyQuota(gateway.clock, {
    max: gateway.settings.quotas.turnsPerDay,
    what: "turns",
    setting: "gateway.quotas.turnsPerDay",
  });
  const spend = createSpendQuota(gateway);
  addRoute(app, post, async (c) => {
    const { stream: streamWanted, ...inbound } = c.req.valid("json");
    const principal = c.get("principal");
    refuseScopedToken(principal);
    const agent = resolveAgent(principal, c.req.valid("query").agent);
    refuseForeignKey(agent === undefined ? principal : { ...principal, agents: [agent] }, inbound.session);
    checkInboundSpeaker(principal, inbound);
    spend.check(principal);
    quota.take(principal, 1);
    const accepted = await varve.turns.accept({ ...inbound, agent });
    if (!accepted.duplicate) spend.follow(accepted.id, principal);
    const isStream = streamWanted ?? c.req.header("accept")?.includes("text/event-stream") ?? false;
    if (isStream) {
      return streamSSE(
        c,
        (stream) => streamTurn(varve, stream, accepted),
        async (error) => gateway.log({ event: "error", method: "POST", path: c.req.path, error }),
      );
    }
    const state = await waitForTurn(varve, accepted, waitMsMax, c.req.raw.signal);
    return reply(
      c,
      turnSchema,
      { ...flattenState(state), duplicate: accepted.duplicate },
      state.state === "done" ? 200 : 202,
    );
  });
  addRoute(app, interrupt, async (c) => {
    const principal = c.get("principal");
    const session = await requireSession(varve, principal, c.req.valid("param").key, c.req.valid("query").agent);
    return reply(c, interruptedSchema, { interrupted: varve.turns.interrupt(session.key, session.agent) });
  });
  addRoute(app, get, async (c) => {
    refuseScopedToken(c.get("principal"));
    const { agent: agentName, wait = 0 } = c.req.valid("query");
    const agent = resolveAgent(c.get("principal"), agentName);
    const { id } = c.req.valid("param");
    const state = await varve.turns.get(id, agent);
    const waitMs = Math.min(wait * 1_000, waitMsMax);
    const ended = waitMs > 0 ? await waitForTurn(varve, state, waitMs, c.req.raw.signal) : state;
    return reply(c, turnSchema, flattenState(ended));
  });
}

/** Turns that are followed at the same time; a turn that ends in another process is not counted here. */
const followedMax = 10_000;

/** Counts what models read and wrote in the turns of each token, when they end. */
function createSpendQuota(gateway: GatewayContext) {
  const max = gateway.settings.quotas.tokensPerDay;
  const quota = createDailyQuota(gateway.clock, { max, what: "model tokens", setting: "gateway.quotas.tokensPerDay" });
  const followed = new Map<string, TokenPrincipal>();
  if (max !== undefined) {
    const unsubscribe = gateway.varve.onEvent((event) => {
      if (event.type !== "turn.ended") return;
      const [first] = event.data.messages.flatMap((id) => followed.get(id) ?? []);
      if (first) quota.add(first, event.data.tokens);
      for (const id of event.data.messages) followed.delete(id);
    });
    gateway.closers.push(async () => unsubscribe());
  }
  return {
    check: quota.check,
    follow(id: string, principal: TokenPrincipal): void {
      if (max === undefined) return;
      followed.set(id, principal);
      if (followed.size > followedMax) followed.delete(followed.keys().next().value ?? "");
    },
  };
}

/** A turn uses every memory of its agent, and its reply may contain any of them. */
function refuseScopedToken({ name: token, scopes }: TokenPrincipal): void {
  if (scopes === undefined) return;
  throw new VarveError(
    "FORBIDDEN",
    `The access token ${JSON.stringify(token)} is limited to some memory scopes, but a turn uses all of them.`,
    {
      remedy: "Use a token without scopes; to limit it, bind it to an agent of its own.",
    },
  );
}

function flattenState({ result, ...state }: MessageState): z.input<typeof turnSchema> {
  return { ...result, ...state };
}

/** Waits for the end of a turn and returns its state, at the latest after `waitMs`. The turn continues either way. */
async function waitForTurn(
  varve: Varve,
  { id, agent }: Pick<MessageState, "id" | "agent">,
  waitMs: number,
  disconnected: AbortSignal,
): Promise<MessageState> {
  const signal = AbortSignal.any([disconnected, AbortSignal.timeout(waitMs)]);
  try {
    for await (const event of varve.turns.follow({ id, agent }, signal)) if (event.type === "ended") break;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return varve.turns.get(id, agent);
}

async function streamTurn(
  varve: Varve,
  stream: SSEStreamingApi,
  accepted: { id: string; agent: string; key: string; duplicate: boolean },
): Promise<void> {
  const disconnected = new AbortController();
  stream.onAbort(() => disconnected.abort());
  const write = (event: TurnEvent) => stream.writeSSE({ event: event.type, data: JSON.stringify(event) });
  const beat = setInterval(() => void stream.write(": heartbeat\n\n"), heartbeatMs);
  try {
    const { id, key, duplicate } = accepted;
    await write({ type: "accepted", id, key, duplicate });
    for await (const event of varve.turns.follow(accepted, disconnected.signal)) await write(event);
  } catch (error) {
    // A client that disconnected needs no error; its turn continues.
    if (!disconnected.signal.aborted) throw error;
  } finally {
    clearInterval(beat);
  }
}
