import type { Context, MiddlewareHandler } from "hono";
import { JsonShapeCheck, jsonShapeLimits } from "../domain/index.ts";
import type { GatewayContext, GatewayEnv } from "./context.ts";
import { createDailyQuota } from "./daily-quota.ts";

const readMethods = new Set(["GET", "HEAD"]);
/** No route takes a longer list: a request has at most 10,000 messages, and a message 10,000 parts. */
const itemsMax = 20_000;

/**
 * Reads the body of a request before anything parses it: bounded in size, JSON also in structure, and counted against the
 * day's quota of its token.
 */
export function readRequestBody(gateway: GatewayContext): MiddlewareHandler<GatewayEnv> {
  const bytesMax = gateway.settings.bodyLimitBytes;
  const countBytes = createByteCounter(gateway);
  return async (c, next) => {
    const { incoming } = c.env;
    const announced = Number(c.req.header("content-length") ?? 0);
    const hasBody = announced > 0 || c.req.header("transfer-encoding") !== undefined;
    if (hasBody && !readMethods.has(c.req.method)) {
      // A known size is counted before anything is read.
      countBytes(c, announced);
      const { url, method, headers, signal } = c.req.raw;
      const isJson = /\bjson\b/i.test(c.req.header("content-type") ?? "");
      const body = await gateway.bodies.read(incoming, {
        caller: identifyCaller(c),
        ...{ bytesMax, setting: "gateway.bodyLimitBytes", signal },
        ...(isJson ? { shape: new JsonShapeCheck({ ...jsonShapeLimits, itemsMax }) } : {}),
      });
      if (announced === 0) countBytes(c, body.byteLength);
      // A handler that reads the request itself, such as that of MCP, finds the body as it was sent.
      c.req.raw = new Request(url, { method, headers, body, signal });
    }
    await next();
  };
}

/** Whose bodies take turns: the token's, or those of an address. */
export function identifyCaller(c: Context<GatewayEnv>): string {
  const principal = c.get("principal");
  return principal ? `token ${principal.name}` : `address ${c.env.incoming.socket.remoteAddress ?? "unknown"}`;
}

function createByteCounter(gateway: GatewayContext): (c: Context<GatewayEnv>, bytes: number) => void {
  const max = gateway.settings.quotas.bytesPerDay;
  const quota = createDailyQuota(gateway.clock, { max, what: "bytes", setting: "gateway.quotas.bytesPerDay" });
  return (c, bytes) => {
    const principal = c.get("principal");
    if (principal && bytes > 0) quota.take(principal, bytes);
  };
}
