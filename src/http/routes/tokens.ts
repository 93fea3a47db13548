/** Routes for the access tokens in the database. A change takes effect at once here, and within seconds elsewhere. */
import { z } from "@hono/zod-openapi";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { addRoute, createRoute, failures, jsonBody, jsonContent, needs, reply } from "../routing.ts";
import { errorSchema, fields, text } from "../schemas.ts";

const tags = ["tokens"];
const rights = z.array(z.enum(["read", "write", "admin"])).min(1);
const tokenSchema = z
  .object({
    id: z.string().openapi({ example: "token_01kf0rdqg0dvzmmvxz5" }),
    name: z.string(),
    agent: z.string().nullable().describe("The only agent it may use; null for every agent."),
    scopes: z.array(z.string()).nullable().describe("The only memory scopes it may use."),
    rights,
    createdAt: z.number(),
    expiresAt: z.number().nullable().describe("Null when it never expires."),
    lastUsedAt: z.number().nullable().describe("To the minute."),
    revokedAt: z.number().nullable().describe("In the future while a rotated token is still accepted."),
    rotatedFrom: z.string().nullable(),
    state: z.enum(["active", "expired", "revoked"]),
  })
  .openapi("AccessToken");
const issuedSchema = z.object({
  token: tokenSchema,
  secret: z.string().describe("Shown only now: the database keeps its hash."),
});
const tokensSchema = z.object({ tokens: z.array(tokenSchema) });
const expires = text(40).optional().openapi({
  description: "A duration such as 30d, a date, or never; default: 90 days.",
  example: "30d",
});
const params = z.object({ id: text(100).openapi({ description: "The id of a token, or its name." }) });
const missing = { 404: jsonContent(errorSchema, "There is no such token in the database.") } as const;

const list = createRoute({
  method: "get",
  path: "/api/tokens",
  tags,
  summary: "List the access tokens in the database, newest first; without their secrets",
  ...needs("admin"),
  responses: { 200: jsonContent(tokensSchema, "The tokens."), ...failures },
});

const create = createRoute({
  method: "post",
  path: "/api/tokens",
  tags,
  summary: "Create an access token; its secret is shown once",
  ...needs("admin"),
  request: {
    body: jsonBody(
      fields({
        name: text(100).openapi({ example: "laptop" }),
        rights,
        agent: text(64).optional(),
        scopes: z.array(text(220)).max(100).optional(),
        expires,
      }),
    ),
  },
  responses: { 201: jsonContent(issuedSchema, "The token and its secret."), ...failures },
});

const rotate = createRoute({
  method: "post",
  path: "/api/tokens/{id}/rotate",
  tags,
  summary: "Replace an access token by a new one with the same name and rights",
  ...needs("admin"),
  request: {
    params,
    body: jsonBody(
      fields({
        grace: text(20).optional().openapi({
          description: "How long the old secret is still accepted, such as 1h; default: not at all.",
        }),
        expires,
      }),
      false,
    ),
  },
  responses: { 201: jsonContent(issuedSchema, "The new token and its secret."), ...missing, ...failures },
});

const revoke = createRoute({
  method: "post",
  path: "/api/tokens/{id}/revoke",
  tags,
  summary: "Revoke an access token at once; it stays in the list",
  ...needs("admin"),
  request: { params },
  responses: { 200: jsonContent(tokenSchema, "The token."), ...missing, ...failures },
});

export const tokenRoutes = { list, create, rotate, revoke };

export function addTokenRoutes(app: GatewayApp, { varve, tokens }: GatewayContext): void {
  addRoute(app, list, async (c) => reply(c, tokensSchema, { tokens: await varve.accessTokens.list() }));
  addRoute(app, create, async (c) => {
    const issued = await varve.accessTokens.create(c.req.valid("json"), { principal: c.get("principal") });
    c.set("auditTargets", { token: issued.token.id });
    tokens.clearCache();
    return reply(c, issuedSchema, issued, 201);
  });
  addRoute(app, rotate, async (c) => {
    const { id } = c.req.valid("param");
    const issued = await varve.accessTokens.rotate(id, { ...c.req.valid("json"), principal: c.get("principal") });
    c.set("auditTargets", { token: issued.token.id });
    tokens.clearCache();
    return reply(c, issuedSchema, issued, 201);
  });
  addRoute(app, revoke, async (c) => {
    const token = await varve.accessTokens.revoke(c.req.valid("param").id, { principal: c.get("principal") });
    tokens.clearCache();
    return reply(c, tokenSchema, token);
  });
}
