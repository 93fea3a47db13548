/** What a model would see of a session, and what is done about it. */
import { z } from "@hono/zod-openapi";
import { hasRight } from "../../authorization/index.ts";
import type { GatewayApp, GatewayHost } from "../context.ts";
import { messageSchema } from "../message-schema.ts";
import { addRoute, createRoute, failures, jsonBody, jsonContent, reply } from "../routing.ts";
import { agentQuery, fields, sessionParam, text } from "../schemas.ts";
import { findSessionFor } from "../session-of.ts";

import { named } from "./sessions.ts";

const tags = ["context"];
const query = fields({ agent: agentQuery });
const tokens = z.coerce.number().int().min(1);
const promptMax = 100_000;
const turnMessagesMax = 10_000;

export const summarySchema = z
  .object({
    id: z.string(),
    kind: z.enum(["leaf", "condensed"]),
    depth: z.number(),
    content: z.string(),
    tokens: z.number(),
    earliestAt: z.number(),
    latestAt: z.number(),
    sourceMessageCount: z.number(),
    sourceMessageTokens: z.number(),
    descendantCount: z.number(),
    level: z.string(),
    model: z.string().optional(),
    fileIds: z.array(z.string()),
  })
  .openapi("Summary");

const overviewSchema = z.object({
  summaries: z.array(summarySchema),
  summaryTokens: z.number(),
  rawTokens: z.number().describe("The tokens of the messages behind the summaries."),
  coveredSeq: z.number(),
});
const overview = createRoute({
  method: "get",
  path: "/api/sessions/{key}/context",
  tags,
  summary: "The summaries that stand in the context, and what lies behind them",
  request: { params: sessionParam, query },
  responses: { 200: jsonContent(overviewSchema, "The context."), ...failures },
});

const treeSchema = z.object({ nodes: z.array(z.object({ summary: summarySchema, children: z.array(z.unknown()) })) });
const tree = createRoute({
  method: "get",
  path: "/api/sessions/{key}/context/tree",
  tags,
  summary: "The summaries with everything below them",
  request: { params: sessionParam, query },
  responses: { 200: jsonContent(treeSchema, "The tree; children are nodes of the same form."), ...failures },
});

const viewSchema = z.object({
  messages: z.array(z.object({ role: z.string(), content: z.unknown() })),
  estimatedTokens: z.number(),
  systemPromptAddition: z.string().optional(),
  trace: z.array(z.object({ kind: z.string(), id: z.string(), tokens: z.number(), in: z.boolean(), why: z.string() })),
});
const assemble = createRoute({
  method: "get",
  path: "/api/sessions/{key}/context/assembled",
  tags,
  summary: "The messages as a model would get them, with a trace of what is in, what is out, and why",
  request: {
    params: sessionParam,
    query: fields({
      agent: agentQuery,
      budget: tokens.min(256).optional().describe("Tokens at most; what the settings' window leaves when absent."),
      prompt: text(promptMax).optional().describe("What the model is about to be asked."),
      provider: z
        .enum(["anthropic", "openai", "google", "mistral"])
        .optional()
        .describe("Whose rules the messages keep."),
      model: text(200).optional(),
      record: z
        .enum(["0", "1"])
        .optional()
        .describe("1 writes down which memories came along, so that they stay in view; a look leaves no trace."),
    }),
  },
  responses: { 200: jsonContent(viewSchema, "The view."), ...failures },
});

const resultSchema = z.object({
  status: z.enum(["done", "nothing", "busy", "stopped"]),
  tokensBefore: z.number(),
  tokensAfter: z.number(),
  leafPasses: z.number(),
  condensedPasses: z.number(),
  calls: z.number(),
  because: z.string().optional(),
  failure: z.string().optional(),
});
const compact = createRoute({
  method: "post",
  path: "/api/sessions/{key}/context/compact",
  tags,
  summary: "Summarise what is old: to a budget, or everything but what is recent",
  request: {
    params: sessionParam,
    query,
    body: jsonBody(
      fields({
        budgetTokens: z.number().int().min(256).optional(),
        keepRecentTokens: z.union([z.number().int().min(1), z.literal(true)]).optional(),
        instructions: text(4_000).optional(),
      }),
      false,
    ),
  },
  responses: { 200: jsonContent(resultSchema, "What was done."), ...failures },
});

const committedSchema = z.object({
  status: z.enum(["committed", "duplicate"]),
  entries: z.array(z.object({ id: z.string(), seq: z.number(), status: z.enum(["appended", "duplicate", "orphan"]) })),
  appended: z.number(),
  duplicates: z.number(),
});
const commit = createRoute({
  method: "post",
  path: "/api/sessions/{key}/turns",
  tags,
  summary: "Write a whole turn, once, however often it is sent with the same key",
  request: {
    params: sessionParam,
    query,
    body: jsonBody(
      fields({
        key: text(512).describe("Names this turn and no other."),
        messages: z.array(messageSchema).min(1).max(turnMessagesMax),
        windowTokens: z.number().int().min(1).optional(),
        observedTokens: z.number().int().min(1).optional().describe("What the provider counted for the prompt."),
        estimatedTokens: z.number().int().min(1).optional().describe("What had been estimated for the same prompt."),
        model: text(200).optional(),
      }),
    ),
  },
  responses: { 200: jsonContent(committedSchema, "What became of it."), ...failures },
});

export function addContextRoutes(app: GatewayApp, { varve, bus }: GatewayHost): void {
  addRoute(app, overview, async (c) => {
    const session = await findSessionFor(
      varve,
      c.get("principal"),
      c.req.valid("param").key,
      c.req.valid("query").agent,
    );
    return reply(c, overviewSchema, await varve.context.overview(session));
  });
  addRoute(app, tree, async (c) => {
    const session = await findSessionFor(
      varve,
      c.get("principal"),
      c.req.valid("param").key,
      c.req.valid("query").agent,
    );
    return reply(c, treeSchema, { nodes: await varve.context.tree(session) });
  });
  addRoute(app, assemble, async (c) => {
    const { agent, budget, record, ...options } = c.req.valid("query");
    const session = await findSessionFor(varve, c.get("principal"), c.req.valid("param").key, agent);
    const seen = { budgetTokens: budget, record: record === "1" && hasRight(c.get("principal"), "write") };
    return reply(c, viewSchema, await varve.context.assemble(session, { ...options, ...seen }));
  });
  addRoute(app, compact, async (c) => {
    const session = await findSessionFor(
      varve,
      c.get("principal"),
      c.req.valid("param").key,
      c.req.valid("query").agent,
    );
    const signal = c.req.raw.signal;
    return reply(c, resultSchema, await varve.context.compact(session, { ...c.req.valid("json"), signal }));
  });
  addRoute(app, commit, async (c) => {
    const session = await findSessionFor(
      varve,
      c.get("principal"),
      c.req.valid("param").key,
      c.req.valid("query").agent,
    );
    const { key, messages, ...facts } = c.req.valid("json");
    const result = await varve.context.commitTurn(session, key, messages, facts);
    if (result.status === "committed") {
      const entries = result.entries
        .filter((entry) => entry.status !== "duplicate")
        .map(({ id, seq }) => ({ id, seq }));
      bus.publish({ type: "messages.appended", ...named(session), data: { entries } });
    }
    return reply(c, committedSchema, result);
  });
}
