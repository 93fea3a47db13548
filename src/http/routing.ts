/** Helpers to define a route: its schemas, its right, and a handler whose answer is type-checked against the schema. */
import { createRoute, type RouteConfig, type RouteHandler, type z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { GatewayApp, GatewayEnv } from "./context.ts";
import { requireAdmin } from "./guards.ts";
import { errorSchema } from "./schemas.ts";

/** Spread into a route that needs the right admin: adds the guard and the mark in the OpenAPI document. */
export const adminOnly = { middleware: requireAdmin, "x-varve-right": "admin" } as const;

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
export function addRoute<R extends RouteConfig>(
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
