import { z } from "@hono/zod-openapi";
import { getCookie } from "hono/cookie";
import { hasRight } from "../../authorization/index.ts";
import { version } from "../../version.ts";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { cookieName } from "../guards.ts";
import { addRoute, createRoute, failures, jsonContent, needs, reply } from "../routing.ts";
import { boundAgent } from "../tokens.ts";

const rights = ["read", "write", "admin"] as const;
const meSchema = z.object({
  name: z.string(),
  rights: z.array(z.enum(rights)),
  agent: z.string().describe("The agent of requests that name none."),
  bound: z.boolean().describe("Whether the token may use this agent only."),
  scopes: z.array(z.string()).optional().describe("The only memory scopes that it may use."),
  version: z.string(),
  requestToken: z
    .string()
    .optional()
    .describe("For a browser login: requests that write carry it in the header X-Varve-Request-Token."),
});
const me = createRoute({
  method: "get",
  path: "/api/me",
  ...needs("read"),
  tags: ["tokens"],
  summary: "Get who asks: the rights of the access token or login",
  responses: { 200: jsonContent(meSchema, "The principal."), ...failures },
});

export const meRoutes = { me };

export function addMeRoute(app: GatewayApp, { varve, logins }: GatewayContext): void {
  addRoute(app, me, (c) => {
    const principal = c.get("principal");
    const agent = boundAgent(principal);
    const cookie = c.req.header("authorization") === undefined ? getCookie(c, cookieName) : undefined;
    const requestToken = cookie === undefined ? undefined : logins.findRequestToken(cookie);
    return reply(c, meSchema, {
      name: principal.name,
      rights: rights.filter((right) => hasRight(principal, right)),
      agent: agent ?? varve.settings.config.agent,
      bound: agent !== undefined,
      ...(principal.scopes === undefined ? {} : { scopes: [...principal.scopes] }),
      version,
      ...(requestToken === undefined ? {} : { requestToken }),
    });
  });
}
