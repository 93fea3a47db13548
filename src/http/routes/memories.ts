/** What is remembered: facts with evidence, versions and scopes. */
import { z } from "@hono/zod-openapi";
import { hasRight } from "../../authorization/index.ts";
import { VarveError } from "../../domain/index.ts";
import { categoryNames, type Requester } from "../../engine.ts";
import type { GatewayApp, GatewayHost } from "../context.ts";
import { addRoute, createRoute, failures, jsonBody, jsonContent, reply } from "../routing.ts";
import { agentQuery, errorSchema, fields, limitQuery, text } from "../schemas.ts";
import { agentFor } from "../session-of.ts";
import type { TokenPrincipal } from "../tokens.ts";
import { appliedSchema, hitSchema, memorySchema, openedSchema, reviewSchema, statsSchema } from "./memory-schemas.ts";

const tags = ["memory"];
const idParam = z.object({ id: text(64).openapi({ example: "mem_01kf0rdqg0dvzmmvxz5" }) });
const category = z.enum(categoryNames).optional();
const share = z.number().min(0).max(1);
const scope = text(300).openapi({ example: "global" });
const flag = z.enum(["0", "1"]).optional();
const instant = z.iso.datetime({ offset: true }).or(z.iso.date());
const time = instant
  .transform((value) => Date.parse(value))
  .optional()
  .openapi({ description: "A date such as 2026-05-01, or a time with its zone." });
const filter = {
  agent: agentQuery,
  scope: scope.optional(),
  category,
  asOf: time,
  history: flag.openapi({ description: "1 for what is believed no longer as well." }),
};

const list = createRoute({
  method: "get",
  path: "/api/memories",
  tags,
  summary: "What is remembered, the newest first",
  request: { query: fields({ ...filter, limit: limitQuery, offset: z.coerce.number().int().min(0).optional() }) },
  responses: {
    200: jsonContent(z.object({ memories: z.array(memorySchema), total: z.number() }), "The memories."),
    ...failures,
  },
});

const add = createRoute({
  method: "post",
  path: "/api/memories",
  tags,
  summary: "Keep a fact; what is known already is not kept twice",
  request: {
    query: fields({ agent: agentQuery }),
    body: jsonBody(
      fields({
        text: text(20_000),
        category,
        importance: share.optional(),
        scope: scope.optional(),
        validFrom: instant.optional(),
        force: z.boolean().optional(),
      }),
    ),
  },
  responses: { 200: jsonContent(appliedSchema, "What became of it."), ...failures },
});

const search = createRoute({
  method: "get",
  path: "/api/memories/search",
  tags,
  summary: "What is remembered about something, the best first",
  request: {
    query: fields({
      ...filter,
      query: text(2_000).openapi({ example: "flight" }),
      limit: z.coerce.number().int().min(1).max(100).optional(),
    }),
  },
  responses: {
    200: jsonContent(
      z.object({ hits: z.array(hitSchema), mode: z.string(), note: z.string().optional() }),
      "The memories.",
    ),
    ...failures,
  },
});

const stats = createRoute({
  method: "get",
  path: "/api/memories/stats",
  tags,
  summary: "How much is remembered, and where",
  request: { query: fields({ agent: agentQuery, scope: scope.optional(), category }) },
  responses: { 200: jsonContent(statsSchema, "The counts."), ...failures },
});

const reviews = createRoute({
  method: "get",
  path: "/api/memories/review",
  tags,
  summary: "Candidates that wait for a person to decide",
  request: { query: fields({ agent: agentQuery, scope: scope.optional() }) },
  responses: { 200: jsonContent(z.object({ reviews: z.array(reviewSchema) }), "What waits."), ...failures },
});

const decide = createRoute({
  method: "post",
  path: "/api/memories/review/{id}",
  tags,
  summary: "Take a candidate in, or turn it away",
  request: {
    params: idParam,
    query: fields({ agent: agentQuery }),
    body: jsonBody(fields({ verdict: z.enum(["accepted", "rejected"]) })),
  },
  responses: {
    200: jsonContent(z.object({ id: z.string(), verdict: z.string(), memory: z.string().optional() }), "Decided."),
    404: jsonContent(errorSchema, "Nothing waits under this id."),
    ...failures,
  },
});

const show = createRoute({
  method: "get",
  path: "/api/memories/{id}",
  tags,
  summary: "A memory, the words it rests on, and what it is worth",
  request: { params: idParam, query: fields({ agent: agentQuery }) },
  responses: { 200: jsonContent(openedSchema, "The memory."), ...failures },
});

const update = createRoute({
  method: "patch",
  path: "/api/memories/{id}",
  tags,
  summary: "Change a memory by another version",
  request: {
    params: idParam,
    query: fields({ agent: agentQuery }),
    body: jsonBody(
      fields({ text: text(20_000).optional(), importance: share.optional(), category }).openapi({
        example: { importance: 0.9 },
      }),
    ),
  },
  responses: { 200: jsonContent(memorySchema, "The new version."), ...failures },
});

const history = createRoute({
  method: "get",
  path: "/api/memories/{id}/history",
  tags,
  summary: "Every version of a memory, the oldest first",
  request: { params: idParam, query: fields({ agent: agentQuery }) },
  responses: { 200: jsonContent(z.object({ versions: z.array(memorySchema) }), "The versions."), ...failures },
});

const forgottenSchema = z.object({ memories: z.array(z.string()), purged: z.boolean(), backups: z.array(z.string()) });
const forget = createRoute({
  method: "post",
  path: "/api/memories/{id}/forget",
  tags,
  summary: "Stop believing a memory; its history stays unless an administrator purges it",
  request: {
    params: idParam,
    query: fields({ agent: agentQuery }),
    body: jsonBody(fields({ purge: z.boolean().optional() }), false),
  },
  responses: { 200: jsonContent(forgottenSchema, "What was forgotten."), ...failures },
});

export function addMemoryRoutes(app: GatewayApp, { varve }: GatewayHost): void {
  const { memory } = varve;
  addRoute(app, list, async (c) => {
    const { agent, scope: one, history: all, ...rest } = c.req.valid("query");
    const request = { ...rest, ...only(one), includeHistory: all === "1", ...requester(c.get("principal"), agent) };
    return reply(c, list.responses[200].content["application/json"].schema, await memory.list(request));
  });
  addRoute(app, add, async (c) => {
    const { validFrom, ...wanted } = c.req.valid("json");
    const since = validFrom === undefined ? {} : { validFrom: Date.parse(validFrom) };
    const asked = requester(c.get("principal"), c.req.valid("query").agent);
    return reply(c, appliedSchema, await memory.add({ ...wanted, ...since, ...asked }));
  });
  addRoute(app, search, async (c) => {
    const { agent, scope: one, history: all, ...rest } = c.req.valid("query");
    const request = { ...rest, ...only(one), includeHistory: all === "1", ...requester(c.get("principal"), agent) };
    const found = await memory.recall({ ...request, signal: c.req.raw.signal });
    return reply(c, search.responses[200].content["application/json"].schema, found);
  });
  addRoute(app, stats, async (c) => {
    const { agent, scope: one, category: kind } = c.req.valid("query");
    const request = { category: kind, ...only(one), ...requester(c.get("principal"), agent) };
    return reply(c, statsSchema, await memory.stats(request));
  });
  addRoute(app, reviews, async (c) => {
    const { agent, scope: one } = c.req.valid("query");
    const found = await memory.reviews({ ...only(one), ...requester(c.get("principal"), agent) });
    return reply(c, reviews.responses[200].content["application/json"].schema, { reviews: found });
  });
  addRoute(app, decide, async (c) => {
    const { id } = c.req.valid("param");
    const { verdict } = c.req.valid("json");
    const done = await memory.decide(id, verdict, requester(c.get("principal"), c.req.valid("query").agent));
    const kept = done?.memory ?? done?.match;
    const answer = { id, verdict, ...(kept === undefined ? {} : { memory: kept }) };
    return reply(c, decide.responses[200].content["application/json"].schema, answer);
  });
  addRoute(app, show, async (c) => {
    const asked = requester(c.get("principal"), c.req.valid("query").agent);
    return reply(c, openedSchema, await memory.get(c.req.valid("param").id, asked));
  });
  addRoute(app, update, async (c) => {
    const asked = requester(c.get("principal"), c.req.valid("query").agent);
    return reply(c, memorySchema, await memory.update(c.req.valid("param").id, c.req.valid("json"), asked));
  });
  addRoute(app, history, async (c) => {
    const asked = requester(c.get("principal"), c.req.valid("query").agent);
    const versions = await memory.history(c.req.valid("param").id, asked);
    return reply(c, history.responses[200].content["application/json"].schema, { versions });
  });
  addRoute(app, forget, async (c) => {
    const principal = c.get("principal");
    const { purge } = c.req.valid("json");
    if (purge && !hasRight(principal, "admin")) {
      throw new VarveError("FORBIDDEN", "Purging erases a memory for good and needs the right admin.", {
        remedy: "Leave purge out: the memory is not recalled any more and its history stays.",
      });
    }
    const asked = requester(principal, c.req.valid("query").agent);
    const done = await memory.forget({ id: c.req.valid("param").id }, { ...asked, purge });
    return reply(c, forgottenSchema, { ...done, backups: hasRight(principal, "admin") ? done.backups : [] });
  });
}

/** Who asks, and about which agent. */
function requester(principal: TokenPrincipal, named: string | undefined): Requester {
  return { principal, agent: agentFor(principal, named) };
}

function only(scope: string | undefined): { scopes?: string[] } {
  return scope === undefined ? {} : { scopes: [scope] };
}
