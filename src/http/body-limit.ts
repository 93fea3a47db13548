import type { MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { JsonShapeCheck, jsonShapeLimits, VarveError } from "../domain/index.ts";
import type { GatewayContext, GatewayEnv } from "./context.ts";
import { createDailyQuota } from "./daily-quota.ts";

export function limitBody(gateway: GatewayContext): MiddlewareHandler<GatewayEnv> {
  const maxSize = gateway.settings.bodyLimitBytes;
  return bodyLimit({
    maxSize,
    onError: () => {
      throw new VarveError("TOO_LARGE", `The request body is larger than ${maxSize} bytes.`, {
        remedy: "Split it into several requests, or raise gateway.bodyLimitBytes.",
        details: { limitBytes: maxSize },
      });
    },
  });
}

const readMethods = new Set(["GET", "HEAD"]);

/** Counts the bytes of requests that write against the day's quota of their token. */
export function limitDailyBytes(gateway: GatewayContext): MiddlewareHandler<GatewayEnv> {
  const max = gateway.settings.quotas.bytesPerDay;
  const quota = createDailyQuota(gateway.clock, { max, what: "bytes", setting: "gateway.quotas.bytesPerDay" });
  return async (c, next) => {
    const principal = c.get("principal");
    const bytes = c.get("bodyBytes") ?? Number(c.req.header("content-length") ?? 0);
    if (principal && bytes > 0 && !readMethods.has(c.req.method)) quota.take(principal, bytes);
    await next();
  };
}

/** No route takes a longer list: a request has at most 10,000 messages, and a message 10,000 parts. */
const itemsMax = 20_000;

/** Reads a body of JSON. Once it is too complex, the rest is read and dropped, so that the client gets its answer. */
async function readChecked(body: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const check = new JsonShapeCheck({ ...jsonShapeLimits, itemsMax });
  let pieces: Uint8Array[] = [];
  let fault: ReturnType<JsonShapeCheck["push"]>;
  for await (const piece of body) {
    fault ??= check.push(piece);
    if (fault) pieces = [];
    else pieces.push(piece);
  }
  if (!fault) return Buffer.concat(pieces);
  const isDeep = fault.kind === "too deep";
  throw new VarveError(isDeep ? "BAD_REQUEST" : "TOO_LARGE", `The request body is too complex: ${fault.reason}.`, {
    remedy: isDeep ? "Send values with less nesting." : "Split it into several requests.",
  });
}

/** Refuses JSON that would become a very large or very deep value, before anything parses it. */
export const limitShape: MiddlewareHandler<GatewayEnv> = async (c, next) => {
  if (c.req.raw.body && /\bjson\b/i.test(c.req.header("content-type") ?? "")) {
    const { url, method, headers, signal } = c.req.raw;
    const body = await readChecked(c.req.raw.body);
    c.set("bodyBytes", body.byteLength);
    // A handler that reads the request itself, such as that of MCP, finds the body as it was sent.
    c.req.raw = new Request(url, { method, headers, body, signal });
  }
  await next();
};
