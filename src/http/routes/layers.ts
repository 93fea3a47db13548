/** Routes of the core: the layers of one conversation, and tiny cores of many sessions. */
import { z } from "@hono/zod-openapi";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { addRoute, createRoute, failures, jsonBody, jsonContent, needs, reply } from "../routing.ts";
import { agentQuery, fields, sessionParam, text } from "../schemas.ts";
import { requireReadableSession, resolveAgent } from "../session-access.ts";

const tags = ["context"];
const keysMax = 200;

const layerSchema = z
  .object({
    kind: z.enum(["summary", "messages", "message"]).describe("`messages` is a run of messages."),
    id: z.string().describe("`sum_…`, `msg#12`, or `msg#12-msg#90` for a run."),
    depth: z.number().describe("0 for messages, 1 for leaf summaries, more for condensed ones."),
    firstSeq: z.number(),
    lastSeq: z.number(),
    messages: z.number().describe("How many messages it stands for."),
    tokens: z.number(),
    earliestAt: z.number(),
    latestAt: z.number(),
    title: z.string().describe("The first line of a summary, or the role of a message."),
  })
  .openapi("Layer");
const layersSchema = z.object({
  layers: z.array(layerSchema).describe("Oldest first."),
  messages: z.number().describe("How many messages the conversation has."),
  isEstimated: z.boolean().describe("True when the number of messages in a run is estimated."),
});
const seq = z.coerce.number().int().min(0).optional();
const layers = createRoute({
  method: "get",
  path: "/api/sessions/{key}/layers",
  ...needs("read"),
  tags,
  summary: "Get the layers of a conversation: its summaries and messages, or what a summary or a run consists of",
  request: {
    params: sessionParam,
    query: fields({
      agent: agentQuery,
      summary: text(64).optional().describe("Open this summary."),
      from: seq.describe("Open the messages from this sequence number on."),
      to: seq.describe("Open the messages up to this sequence number."),
      limit: z.coerce
        .number()
        .int()
        .min(10)
        .max(1000)
        .optional()
        .describe("The maximum number of layers of messages; runs stand for the rest. Default: 200."),
    }),
  },
  responses: { 200: jsonContent(layersSchema, "The layers."), ...failures },
});

const coresSchema = z.object({
  cores: z.array(
    z
      .object({
        key: z.string(),
        summaries: z.array(z.object({ depth: z.number(), messages: z.number() })).describe("Oldest first."),
        tail: z.number().describe("The messages after the summaries."),
      })
      .openapi("TinyCore"),
  ),
});
const cores = createRoute({
  method: "post",
  path: "/api/sessions/cores",
  ...needs("read"),
  tags,
  summary: "Get the layers of many sessions as a few numbers each",
  request: {
    query: fields({ agent: agentQuery }),
    body: jsonBody(
      fields({ keys: z.array(text(512)).min(1).max(keysMax) }).openapi({ example: { keys: ["agent:main:main"] } }),
    ),
  },
  responses: { 200: jsonContent(coresSchema, "The cores; sessions that do not exist are left out."), ...failures },
});

const recallsSchema = z.object({
  recalls: z.array(
    z.object({
      seq: z.number().describe("The entry that it follows."),
      time: z.number(),
      prompt: z.string(),
      block: z.string().describe("The text that was shown to the model."),
      tokens: z.number(),
      memories: z.array(z.string()),
    }),
  ),
});
const recalls = createRoute({
  method: "get",
  path: "/api/sessions/{key}/recalls",
  ...needs("read"),
  tags,
  summary: "Get what was recalled at messages of a session, newest first",
  request: { params: sessionParam, query: fields({ agent: agentQuery, from: seq, to: seq }) },
  responses: { 200: jsonContent(recallsSchema, "The recalls."), ...failures },
});

export const layerRoutes = { layers, cores, recalls };

export function addLayerRoutes(app: GatewayApp, { varve }: GatewayContext): void {
  addRoute(app, layers, async (c) => {
    const { agent, from, to, ...request } = c.req.valid("query");
    const session = await requireReadableSession(varve, c.get("principal"), c.req.valid("param").key, agent);
    return reply(c, layersSchema, await varve.context.layers(session, { ...request, fromSeq: from, toSeq: to }));
  });
  addRoute(app, cores, async (c) => {
    const agent = resolveAgent(c.get("principal"), c.req.valid("query").agent);
    return reply(c, coresSchema, { cores: await varve.context.tinyCores(c.req.valid("json").keys, agent) });
  });
  addRoute(app, recalls, async (c) => {
    const { agent, from = 0, to = Number.MAX_SAFE_INTEGER } = c.req.valid("query");
    const principal = c.get("principal");
    const session = await requireReadableSession(varve, principal, c.req.valid("param").key, agent);
    // A block quotes memories of any scope, so a token that is limited to some gets none.
    const found = principal.scopes === undefined ? await varve.memory.shown(session) : [];
    const chosen = found.filter((one) => one.seq >= from && one.seq <= to);
    return reply(c, recallsSchema, {
      recalls: chosen.map(({ agent: _agent, conversation: _conversation, ...one }) => one),
    });
  });
}
