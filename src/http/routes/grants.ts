/** Routes for grants: what a sub-agent of a host may read of the history. */
import { z } from "@hono/zod-openapi";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { addRoute, createRoute, failures, jsonBody, jsonContent, needs, reply } from "../routing.ts";
import { agentQuery, errorSchema, fields, limitQuery, text } from "../schemas.ts";
import { resolveAgent } from "../session-access.ts";

const tags = ["grants"];
const grantSchema = z
  .object({
    id: z.string().openapi({ example: "grant_01kf0rdqg0dvzmmvxz5" }),
    agent: z.string(),
    originKey: z.string().describe("The session that delegated."),
    conversations: z.array(z.number()),
    tokenCap: z.number(),
    tokensRead: z.number(),
    reads: z.number(),
    state: z.enum(["active", "done", "revoked", "expired"]),
    expiresAt: z.number(),
  })
  .openapi("Grant");

const create = createRoute({
  method: "post",
  path: "/api/grants",
  ...needs("read", "write"),
  tags,
  summary: "Let a sub-agent read some conversations, for a number of tokens, until a time",
  request: {
    query: fields({ agent: agentQuery }),
    body: jsonBody(
      fields({
        session: text(300).openapi({ example: "agent:main:main" }),
        sessions: z.array(text(300)).max(100).optional(),
        tokenCap: z.number().int().optional(),
        ttlMs: z.number().int().optional(),
      }),
    ),
  },
  responses: {
    200: jsonContent(grantSchema, "The grant; send its id as X-Varve-Grant to /mcp, or to `varve mcp --grant`."),
    ...failures,
  },
});

const grantsSchema = z.object({ grants: z.array(grantSchema) });
const list = createRoute({
  method: "get",
  path: "/api/grants",
  ...needs("read"),
  tags,
  summary: "List the grants of an agent, newest first",
  request: {
    query: fields({
      agent: agentQuery,
      state: z.enum(["active", "done", "revoked", "expired"]).optional(),
      limit: limitQuery,
    }),
  },
  responses: { 200: jsonContent(grantsSchema, "The grants."), ...failures },
});

const revoke = createRoute({
  method: "post",
  path: "/api/grants/{id}/revoke",
  ...needs("write"),
  tags,
  summary: "End a grant at once",
  request: { params: z.object({ id: text(64) }), query: fields({ agent: agentQuery }) },
  responses: {
    200: jsonContent(grantSchema, "The grant."),
    404: jsonContent(errorSchema, "There is no grant with this id."),
    ...failures,
  },
});

export const grantRoutes = { create, list, revoke };

export function addGrantRoutes(app: GatewayApp, { varve }: GatewayContext): void {
  addRoute(app, create, async (c) => {
    const principal = c.get("principal");
    const agent = resolveAgent(principal, c.req.valid("query").agent);
    const grant = await varve.grants.create({ ...c.req.valid("json"), principal, agent });
    c.set("auditTargets", { grant: grant.id });
    return reply(c, grantSchema, grant);
  });
  addRoute(app, list, async (c) => {
    const principal = c.get("principal");
    const { agent, ...filter } = c.req.valid("query");
    const grants = await varve.grants.list({ ...filter, principal, agent: resolveAgent(principal, agent) });
    return reply(c, grantsSchema, { grants });
  });
  addRoute(app, revoke, async (c) => {
    const principal = c.get("principal");
    const agent = resolveAgent(principal, c.req.valid("query").agent);
    return reply(c, grantSchema, await varve.grants.revoke(c.req.valid("param").id, { principal, agent }));
  });
}
