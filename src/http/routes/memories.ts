/** Routes for memories: facts with evidence, versions and scopes. */
import { z } from "@hono/zod-openapi";
import { hasRight } from "../../authorization/index.ts";
import { VarveError } from "../../domain/index.ts";
import { categoryNames, type Requester } from "../../index.ts";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { addRoute, createRoute, failures, jsonBody, jsonContent, needs, reply } from "../routing.ts";
import { agentQuery, errorSchema, fields, limitQuery, text } from "../schemas.ts";
import { resolveAgent } from "../session-access.ts";
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
  .openapi({ description: "A date such as 2026-05-01, or a time with a time zone." });
const filter = {
  agent: agentQuery,
  scope: scope.optional(),
  category,
  asOf: time,
  history: flag.openapi({ description: "1 to include superseded and forgotten memories." }),
};

const list = createRoute({
  method: "get",
  path: "/api/memories",
  ...needs("read"),
  tags,
  summary: "List memories, newest first",
  request: { query: fields({ ...filter, limit: limitQuery, offset: z.coerce.number().int().min(0).optional() }) },
  responses: {
    200: jsonContent(z.object({ memories: z.array(memorySchema), total: z.number() }), "The memories."),
    ...failures,
  },
});

const add = createRoute({
  method: "post",
  path: "/api/memories",
  ...needs("read", "write"),
  tags,
  summary: "Store a fact; a near-duplicate of a known one is not stored again",
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
  responses: { 200: jsonContent(appliedSchema, "The decision and the resulting memory."), ...failures },
});

const search = createRoute({
  method: "get",
  path: "/api/memories/search",
  ...needs("read"),
  tags,
  summary: "Search memories, best first",
  request: {
    query: fields({
      ...filter,
      query: text(2_000).openapi({ example: "flight" }),
      limit: z.coerce.number().int().min(1).max(100).optional(),
      explain: flag.openapi({ description: "1 to list the score of each memory after every stage." }),
    }),
  },
  responses: {
    200: jsonContent(
      z.object({
        hits: z.array(hitSchema),
        mode: z.string(),
        note: z.string().optional(),
        cut: z.array(z.string()),
        steps: z.array(z.object({ name: z.string(), ms: z.number(), candidates: z.number() })).optional(),
      }),
      "The memories.",
    ),
    ...failures,
  },
});

const stats = createRoute({
  method: "get",
  path: "/api/memories/stats",
  ...needs("read"),
  tags,
  summary: "Count memories by scope, category and tier",
  request: { query: fields({ agent: agentQuery, scope: scope.optional(), category }) },
  responses: { 200: jsonContent(statsSchema, "The counts."), ...failures },
});

const reviews = createRoute({
  method: "get",
  path: "/api/memories/review",
  ...needs("read"),
  tags,
  summary: "List extracted facts that need a person's decision, or that admission refused",
  request: {
    query: fields({
      agent: agentQuery,
      scope: scope.optional(),
      refused: flag.openapi({ description: "1 to list the facts that admission refused." }),
    }),
  },
  responses: { 200: jsonContent(z.object({ reviews: z.array(reviewSchema) }), "The pending reviews."), ...failures },
});

const decide = createRoute({
  method: "post",
  path: "/api/memories/review/{id}",
  ...needs("write"),
  tags,
  summary: "Accept or reject an extracted fact",
  request: {
    params: idParam,
    query: fields({ agent: agentQuery }),
    body: jsonBody(fields({ verdict: z.enum(["accepted", "rejected"]) })),
  },
  responses: {
    200: jsonContent(z.object({ id: z.string(), verdict: z.string(), memory: z.string().optional() }), "The decision."),
    404: jsonContent(errorSchema, "There is no pending review with this id."),
    ...failures,
  },
});

const show = createRoute({
  method: "get",
  path: "/api/memories/{id}",
  ...needs("read"),
  tags,
  summary: "Get a memory with its evidence and its current weight",
  request: { params: idParam, query: fields({ agent: agentQuery }) },
  responses: { 200: jsonContent(openedSchema, "The memory."), ...failures },
});

const update = createRoute({
  method: "patch",
  path: "/api/memories/{id}",
  ...needs("read", "write"),
  tags,
  summary: "Change a memory by storing a new version",
  request: {
    params: idParam,
    query: fields({ agent: agentQuery }),
    body: jsonBody(
      fields({
        text: text(20_000).optional(),
        importance: share.optional(),
        category,
        past: z.boolean().optional().openapi({ description: "Correct a version of the past for its time." }),
      }).openapi({
        example: { importance: 0.9 },
      }),
    ),
  },
  responses: { 200: jsonContent(memorySchema, "The new version."), ...failures },
});

const history = createRoute({
  method: "get",
  path: "/api/memories/{id}/history",
  ...needs("read"),
  tags,
  summary: "List every version of a memory, oldest first",
  request: { params: idParam, query: fields({ agent: agentQuery }) },
  responses: { 200: jsonContent(z.object({ versions: z.array(memorySchema) }), "The versions."), ...failures },
});

const forgottenSchema = z.object({ memories: z.array(z.string()), purged: z.boolean(), backups: z.array(z.string()) });
const forget = createRoute({
  method: "post",
  path: "/api/memories/{id}/forget",
  ...needs("write"),
  tags,
  summary: "Forget a memory; its history is kept unless an administrator purges it",
  request: {
    params: idParam,
    query: fields({ agent: agentQuery }),
    body: jsonBody(fields({ purge: z.boolean().optional() }), false),
  },
  responses: { 200: jsonContent(forgottenSchema, "The forgotten memories."), ...failures },
});

const restore = createRoute({
  method: "post",
  path: "/api/memories/{id}/restore",
  ...needs("read", "write"),
  tags,
  summary: "Take a forgotten memory back, unless another version of it is believed now",
  request: { params: idParam, query: fields({ agent: agentQuery }) },
  responses: { 200: jsonContent(memorySchema, "The memory."), ...failures },
});

const decaySchema = z.object({
  now: z.number(),
  worth: z.number().describe("The worth now, 0 to 1."),
  staleBelow: z.number(),
  points: z.array(z.object({ time: z.number(), worth: z.number() })),
});
const decay = createRoute({
  method: "get",
  path: "/api/memories/{id}/decay",
  ...needs("read"),
  tags,
  summary: "Get the curve along which a memory fades, from its last use on",
  request: {
    params: idParam,
    query: fields({
      agent: agentQuery,
      days: z.coerce.number().int().min(1).max(3650).optional().describe("The days after today; default: 90."),
    }),
  },
  responses: { 200: jsonContent(decaySchema, "The curve."), ...failures },
});

const conflictsSchema = z.object({ conflicts: z.array(z.tuple([memorySchema, memorySchema])) });
const conflicts = createRoute({
  method: "get",
  path: "/api/memories/conflicts",
  ...needs("read"),
  tags,
  summary: "List pairs of believed memories that may be in conflict, newest first",
  request: { query: fields({ agent: agentQuery, scope: scope.optional() }) },
  responses: { 200: jsonContent(conflictsSchema, "The pairs."), ...failures },
});

export const memoryRoutes = {
  conflicts,
  restore,
  decay,
  list,
  add,
  search,
  stats,
  reviews,
  decide,
  show,
  update,
  history,
  forget,
};

export function addMemoryRoutes(app: GatewayApp, { varve, bus }: GatewayContext): void {
  const { memory } = varve;
  const publish = (changed: { agent: string; scope: string }): void =>
    bus.publish({ type: "memories.changed", agent: changed.agent, key: "", data: { scope: changed.scope } });
  addRoute(app, conflicts, async (c) => {
    const { agent, scope: one } = c.req.valid("query");
    const pairs = await memory.conflicts({ ...toScopes(one), ...createRequester(c.get("principal"), agent) });
    return reply(c, conflictsSchema, { conflicts: pairs });
  });
  addRoute(app, restore, async (c) => {
    const asked = createRequester(c.get("principal"), c.req.valid("query").agent);
    const restored = await memory.restore(c.req.valid("param").id, asked);
    publish(restored);
    return reply(c, memorySchema, restored);
  });
  addRoute(app, decay, async (c) => {
    const { agent, days } = c.req.valid("query");
    const asked = createRequester(c.get("principal"), agent);
    return reply(c, decaySchema, await memory.decay(c.req.valid("param").id, { days, ...asked }));
  });
  addRoute(app, list, async (c) => {
    const { agent, scope: one, history: all, ...rest } = c.req.valid("query");
    const request = {
      ...rest,
      ...toScopes(one),
      includeHistory: all === "1",
      ...createRequester(c.get("principal"), agent),
    };
    return reply(c, list.responses[200].content["application/json"].schema, await memory.list(request));
  });
  addRoute(app, add, async (c) => {
    const { validFrom, ...wanted } = c.req.valid("json");
    const since = validFrom === undefined ? {} : { validFrom: Date.parse(validFrom) };
    const asked = createRequester(c.get("principal"), c.req.valid("query").agent);
    const applied = await memory.add({ ...wanted, ...since, ...asked });
    c.set("auditTargets", { memory: applied.current.id });
    publish(applied.current);
    return reply(c, appliedSchema, applied);
  });
  addRoute(app, search, async (c) => {
    const { agent, scope: one, history: all, explain, ...rest } = c.req.valid("query");
    const request = {
      ...rest,
      ...toScopes(one),
      includeHistory: all === "1",
      explain: explain === "1",
      ...createRequester(c.get("principal"), agent),
    };
    const found = await memory.recall({ ...request, signal: c.req.raw.signal });
    return reply(c, search.responses[200].content["application/json"].schema, found);
  });
  addRoute(app, stats, async (c) => {
    const { agent, scope: one, category: kind } = c.req.valid("query");
    const request = { category: kind, ...toScopes(one), ...createRequester(c.get("principal"), agent) };
    return reply(c, statsSchema, await memory.stats(request));
  });
  addRoute(app, reviews, async (c) => {
    const { agent, scope: one, refused } = c.req.valid("query");
    const asked = createRequester(c.get("principal"), agent);
    const found = await memory.reviews({ ...toScopes(one), refused: refused === "1", ...asked });
    return reply(c, reviews.responses[200].content["application/json"].schema, { reviews: found });
  });
  addRoute(app, decide, async (c) => {
    const { id } = c.req.valid("param");
    const { verdict } = c.req.valid("json");
    const done = await memory.decide(id, verdict, createRequester(c.get("principal"), c.req.valid("query").agent));
    const kept = done?.memory ?? done?.match;
    const answer = { id, verdict, ...(kept === undefined ? {} : { memory: kept }) };
    return reply(c, decide.responses[200].content["application/json"].schema, answer);
  });
  addRoute(app, show, async (c) => {
    const asked = createRequester(c.get("principal"), c.req.valid("query").agent);
    return reply(c, openedSchema, await memory.get(c.req.valid("param").id, asked));
  });
  addRoute(app, update, async (c) => {
    const asked = createRequester(c.get("principal"), c.req.valid("query").agent);
    const updated = await memory.update(c.req.valid("param").id, c.req.valid("json"), asked);
    publish(updated);
    return reply(c, memorySchema, updated);
  });
  addRoute(app, history, async (c) => {
    const asked = createRequester(c.get("principal"), c.req.valid("query").agent);
    const versions = await memory.history(c.req.valid("param").id, asked);
    return reply(c, history.responses[200].content["application/json"].schema, { versions });
  });
  addRoute(app, forget, async (c) => {
    const principal = c.get("principal");
    const { purge } = c.req.valid("json");
    if (purge && !hasRight(principal, "admin")) {
      throw new VarveError("FORBIDDEN", "Purging erases a memory permanently and needs the right admin.", {
        remedy: "Omit purge: the memory is no longer recalled, and its history is kept.",
      });
    }
    const asked = createRequester(principal, c.req.valid("query").agent);
    const done = await memory.forget({ id: c.req.valid("param").id }, { ...asked, purge });
    return reply(c, forgottenSchema, { ...done, backups: hasRight(principal, "admin") ? done.backups : [] });
  });
}

function createRequester(principal: TokenPrincipal, agent: string | undefined): Requester {
  return { principal, agent: resolveAgent(principal, agent) };
}

function toScopes(scope: string | undefined): { scopes?: string[] } {
  return scope === undefined ? {} : { scopes: [scope] };
}
