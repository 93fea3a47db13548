import type { Context, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import { printCaller } from "../authorization/index.ts";
import { VarveError } from "../domain/index.ts";
import type { GatewayContext, GatewayEnv } from "./context.ts";

const readMethods = new Set(["GET", "HEAD", "OPTIONS"]);
/** Fields of queries and bodies that hold ids. Others may hold content, which is never recorded. */
const idFields = ["agent", "session", "sessionId", "session_id", "key", "id", "memoryId", "scope", "channel"] as const;
const idHeaders = { "x-varve-session": "session", "x-varve-grant": "grant" } as const;

/**
 * Records who called which route, with the ids in the request and the status of the answer. The record of a change is on
 * disk before its answer is sent; the record of a read is written at the same time as the answer.
 */
export function auditRequests(gateway: GatewayContext): MiddlewareHandler<GatewayEnv> {
  const { audit } = gateway.varve;
  return async (c, next) => {
    if (!audit.enabled) return next();
    if (audit.isBlocked) {
      throw new VarveError("STORE_BUSY", "The audit log cannot be written, so nothing is answered.", {
        remedy: "Make the database writable again.",
      });
    }
    await next();
    const known = c.get("principal");
    const principal = known === undefined ? anonymousCaller(c.req.path) : printCaller(known);
    // Tools are recorded one by one where they run.
    if (principal === undefined || c.req.path === "/mcp") return;
    const isChange = !readMethods.has(c.req.method);
    const action = `${c.req.method} ${routePattern(c)}`;
    const event = { principal, action, targets: await collectTargets(c), status: String(c.res.status) };
    const recorded = audit.record(event, { durable: isChange });
    if (isChange) return recorded;
    recorded.catch((error: unknown) => gateway.log({ event: "error", method: c.req.method, path: "audit", error }));
  };
}

/** Callers without an access token: clients of the model proxy on this machine, and browsers with a login link. */
function anonymousCaller(path: string): string | undefined {
  if (path.startsWith("/proxy/")) return "proxy client";
  return path === "/auth" ? "login link" : undefined;
}

/** The route's path as the OpenAPI document writes it. */
function routePattern(c: Context): string {
  const path = matchedRoutes(c).at(-1)?.path ?? c.req.path;
  return path.replaceAll(/:(\w+)(?:\{[^}]*\})?/g, "{$1}");
}

async function collectTargets(c: Context<GatewayEnv>): Promise<Record<string, string>> {
  const targets: Record<string, string> = {};
  for (const [header, kind] of Object.entries(idHeaders)) {
    const value = c.req.header(header);
    if (value !== undefined) targets[kind] = value;
  }
  const body = await readBody(c);
  for (const field of idFields) {
    const value = body?.[field] ?? c.req.query(field);
    if (typeof value === "string") targets[field] = value;
  }
  return { ...targets, ...pathTargets(c), ...c.get("auditTargets") };
}

/** The body, when a handler has parsed it; one that is too large or faulty was refused. */
async function readBody(c: Context): Promise<Record<string, unknown> | undefined> {
  if (c.req.bodyCache.json === undefined) return undefined;
  const body: unknown = await c.req.bodyCache.json;
  return typeof body === "object" && body !== null ? (body as Record<string, unknown>) : undefined;
}

function pathTargets(c: Context): Record<string, string> {
  const names = routePattern(c).split("/");
  const parts = c.req.path.split("/");
  const targets: Record<string, string> = {};
  for (const [index, name] of names.entries()) {
    const part = parts[index];
    if (name.startsWith("{") && part !== undefined) targets[name.slice(1, -1)] = decode(part);
  }
  return targets;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return part;
    throw error;
  }
}
