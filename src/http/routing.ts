/** Helpers to define a route: its schemas, its right, and a handler whose answer is type-checked against the schema. */
import { createRoute, type RouteConfig, type RouteHandler, type z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Right } from "../authorization/index.ts";
import type { GatewayApp, GatewayEnv } from "./context.ts";
import { requireRights } from "./guards.ts";
import { errorSchema } from "./schemas.ts";

/**
 * Spread into a route: declares the rights it needs, in the OpenAPI document too, and adds their guard. Whatever returns
 * content needs `read`, also when it writes.
 */
export function needs(...rights: [Right, ...Right[]]) {
  return { middleware: requireRights(rights), "x-varve-right": rights.length === 1 ? rights[0] : rights };
}

export function jsonContent<S extends z.ZodType>(schema: S, description: string) {
  return { description, content: { "application/json": { schema } } };
}

export function jsonBody<S extends z.ZodType>(schema: S, required = true) {
  return { required, content: { "application/json": { schema } } };
}

/** The error answer of every route. */
export const failures = { default: jsonContent(errorSchema, "An error: what happened and what to do.") } as const;

export { createRoute };

/**
 * Adds a route. The library derives the answer's type from `c.json`, which fails for recursive JSON values; `reply`
 * checks the value against the schema's type instead.
 */
export function addRoute<R extends RouteConfig & ReturnType<typeof needs>>(
  app: GatewayApp,
  route: R,
  handler: (c: Parameters<RouteHandler<R, GatewayEnv>>[0]) => Response | Promise<Response>,
): void {
  app.openapi(route, handler as never);
}

export function reply<S extends z.ZodType>(
  c: Context,
  _schema: S,
  value: z.input<S>,
  status: ContentfulStatusCode = 200,
): Response {
  return c.body(JSON.stringify(value), status, { "Content-Type": "application/json; charset=utf-8" });
}
