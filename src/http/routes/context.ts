/** Routes to inspect, assemble and compact a session's context, and to commit turns. */
import { z } from "@hono/zod-openapi";
import { hasRight } from "../../authorization/index.ts";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { createMessagesSchema } from "../message-schema.ts";
import { addRoute, createRoute, failures, jsonBody, jsonContent, needs, reply } from "../routing.ts";
import { agentQuery, fields, sessionParam, text } from "../schemas.ts";
import { requireSession } from "../session-access.ts";

import { toSessionFields } from "./sessions.ts";

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
  rawTokens: z.number().describe("The tokens of the messages after the summaries."),
  coveredSeq: z.number(),
});
const overview = createRoute({
  method: "get",
  path: "/api/sessions/{key}/context",
  ...needs("read"),
  tags,
  summary: "Get the summaries in the context and the size of the messages after them",
  request: { params: sessionParam, query },
  responses: { 200: jsonContent(overviewSchema, "The context."), ...failures },
});

const treeSchema = z.object({ nodes: z.array(z.object({ summary: summarySchema, children: z.array(z.unknown()) })) });
const tree = createRoute({
  method: "get",
  path: "/api/sessions/{key}/context/tree",
  ...needs("read"),
  tags,
  summary: "Get the summaries as a tree",
  request: { params: sessionParam, query },
  responses: { 200: jsonContent(treeSchema, "The tree; children are nodes of the same form."), ...failures },
});

const viewSchema = z.object({
  messages: z.array(z.object({ role: z.string(), content: z.unknown() })),
  estimatedTokens: z.number(),
  windowTokens: z.number().describe("The context window of the settings."),
  systemPromptAddition: z.string().optional(),
  trace: z.array(
    z.object({
      kind: z.string(),
      id: z.string(),
      tokens: z.number(),
      in: z.boolean(),
      why: z.string(),
      firstSeq: z.number().optional().describe("Of a summary: the first entry that it covers."),
      lastSeq: z.number().optional(),
      depth: z.number().optional().describe("Of a summary: 0 for a leaf."),
    }),
  ),
});
const assemble = createRoute({
  method: "get",
  path: "/api/sessions/{key}/context/assembled",
  ...needs("read"),
  tags,
  summary: "Assemble the messages as a model would get them, with a trace of what was included or omitted and why",
  request: {
    params: sessionParam,
    query: fields({
      agent: agentQuery,
      budget: tokens
        .min(256)
        .optional()
        .describe("The token budget; default: what the context window of the settings leaves."),
      prompt: text(promptMax).optional().describe("The user's next message; related messages are recalled for it."),
      provider: z
        .enum(["anthropic", "openai", "google", "mistral"])
        .optional()
        .describe("The provider whose message format rules apply."),
      model: text(200).optional(),
      record: z
        .enum(["0", "1"])
        .optional()
        .describe(
          "1 records which memories were included, so that they stay in the context of later turns; default: 0.",
        ),
      parts: z
        .enum(["all", "trace"])
        .optional()
        .describe("trace leaves the messages out and returns only what is included or omitted and why."),
    }),
  },
  responses: { 200: jsonContent(viewSchema, "The assembled context."), ...failures },
});

const resultSchema = z.object({
  status: z.enum(["done", "nothing", "busy", "stopped", "cancelled"]),
  tokensBefore: z.number(),
  tokensAfter: z.number(),
  leafPasses: z.number(),
  condensedPasses: z.number(),
  calls: z.number(),
  because: z.string().optional(),
  notes: z.array(z.string()).optional(),
  failure: z.string().optional(),
});
const compact = createRoute({
  method: "post",
  path: "/api/sessions/{key}/context/compact",
  ...needs("write"),
  tags,
  summary: "Summarise old messages until the context fits a budget, or all but the recent ones",
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
  responses: { 200: jsonContent(resultSchema, "The outcome."), ...failures },
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
  ...needs("write"),
  tags,
  summary: "Store all messages of a turn atomically; sent again with the same key, it is stored once",
  request: {
    params: sessionParam,
    query,
    body: jsonBody(
      fields({
        key: text(512).describe("The idempotency key of this turn."),
        messages: createMessagesSchema(turnMessagesMax),
        windowTokens: z.number().int().min(1).optional(),
        observedTokens: z.number().int().min(1).optional().describe("The prompt tokens that the provider counted."),
        estimatedTokens: z.number().int().min(1).optional().describe("The estimate for the same prompt."),
        model: text(200).optional(),
      }),
    ),
  },
  responses: { 200: jsonContent(committedSchema, "Whether the turn was stored or was a duplicate."), ...failures },
});

export const contextRoutes = { overview, tree, assemble, compact, commit };

export function addContextRoutes(app: GatewayApp, { varve, bus }: GatewayContext): void {
  addRoute(app, overview, async (c) => {
    const session = await requireSession(
      varve,
      c.get("principal"),
      c.req.valid("param").key,
      c.req.valid("query").agent,
    );
    return reply(c, overviewSchema, await varve.context.overview(session));
  });
  addRoute(app, tree, async (c) => {
    const session = await requireSession(
      varve,
      c.get("principal"),
      c.req.valid("param").key,
      c.req.valid("query").agent,
    );
    return reply(c, treeSchema, { nodes: await varve.context.tree(session) });
  });
  addRoute(app, assemble, async (c) => {
    const { agent, budget, record, parts, ...options } = c.req.valid("query");
    const session = await requireSession(varve, c.get("principal"), c.req.valid("param").key, agent);
    const principal = c.get("principal");
    const seen = { budgetTokens: budget, record: record === "1" && hasRight(principal, "write"), principal };
    const view = await varve.context.assemble(session, { ...options, ...seen });
    const settings = varve.settings.config.context;
    return reply(c, viewSchema, {
      ...view,
      messages: parts === "trace" ? [] : view.messages,
      windowTokens: settings.windowTokens,
    });
  });
  addRoute(app, compact, async (c) => {
    const session = await requireSession(
      varve,
      c.get("principal"),
      c.req.valid("param").key,
      c.req.valid("query").agent,
    );
    const signal = c.req.raw.signal;
    return reply(c, resultSchema, await varve.context.compact(session, { ...c.req.valid("json"), signal }));
  });
  addRoute(app, commit, async (c) => {
    const session = await requireSession(
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
      bus.publish({ type: "messages.appended", ...toSessionFields(session), data: { entries } });
    }
    return reply(c, committedSchema, result);
  });
}
