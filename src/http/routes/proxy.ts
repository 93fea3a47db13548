/** The routes of the model proxy: authentication, body limit, and the call of the proxy. */
import { join } from "node:path";
import type { Context } from "hono";
import { hasRight, type Principal } from "../../authorization/index.ts";
import { systemRandom, VarveError } from "../../domain/index.ts";
import type { ModelProxy, Provider } from "../../proxy/index.ts";
import { isLoopback } from "../addresses.ts";
import { identifyCaller } from "../body-limit.ts";
import type { GatewayApp, GatewayContext, GatewayEnv } from "../context.ts";
import { takeRequest } from "../guards.ts";
import { createRateLimiter } from "../rate-limit.ts";
import { readOrCreateToken } from "../token-file.ts";
import { describeTokenFault, hashSecret, type TokenPrincipal } from "../tokens.ts";

const tokenHeader = "x-varve-token";

/** The proxy's code is loaded on the first request, since most gateways never get one. */
export function addProxyRoutes(app: GatewayApp, gateway: GatewayContext): void {
  if (!gateway.varve.settings.config.proxy.enabled) return;
  const limitKey = createKeyLimiter(gateway);
  let opened: Promise<ModelProxy> | undefined;
  const open = async (): Promise<ModelProxy> => {
    const { createProxy } = await import("../../proxy/index.ts");
    const proxy = createProxy({
      varve: gateway.varve,
      deadlines: gateway.deadlines.proxy,
      secret: readOrCreateToken(join(gateway.varve.settings.home, "proxy-secret"), systemRandom),
      onFailure: (what, error) =>
        gateway.log({ event: "error", method: "POST", path: "/proxy", error: new Error(what, { cause: error }) }),
    });
    gateway.proxyCounters = proxy.counters;
    gateway.closers.push(() => proxy.close());
    return proxy;
  };
  for (const provider of ["anthropic", "openai"] as const) {
    app.all(`/proxy/${provider}/*`, async (c) => {
      const { principal, useOwnKey } = await admit(gateway, c, provider);
      if (principal === undefined) limitKey(c);
      const body = await readBody(gateway, c, principal !== undefined);
      opened ??= open();
      const proxy = await opened;
      const headers = new Headers(c.req.raw.headers);
      if (useOwnKey) for (const name of ["x-api-key", "authorization"]) headers.delete(name);
      const answer = await proxy.handle({
        provider,
        method: c.req.method,
        path: readTarget(c, provider),
        headers,
        body,
        signal: c.req.raw.signal,
        breakOff: () => c.env.outgoing.destroy(),
        ...(principal === undefined ? {} : { principal }),
        useOwnKey,
      });
      // A new response, so that it gets the headers that the guards set.
      return c.newResponse(answer.body, answer);
    });
  }
}

/**
 * On loopback a client's own key for the provider is enough. On any other address a client needs an access token of the
 * gateway, in addition to its key or instead of it.
 */
async function admit(
  gateway: GatewayContext,
  c: Context<GatewayEnv>,
  provider: Provider,
): Promise<{ principal?: Principal; useOwnKey: boolean }> {
  const shown = c.req.header(tokenHeader);
  const bearer = /^Bearer +(\S{1,4096})$/i.exec(c.req.header("authorization") ?? "")?.[1];
  const keys = [shown, provider === "anthropic" ? c.req.header("x-api-key") : undefined, bearer];
  for (const [index, secret] of keys.entries()) {
    if (secret === undefined) continue;
    const found = await gateway.tokens.identify(secret);
    if ("principal" in found) return { principal: admitToken(gateway, c, found.principal), useOwnKey: index > 0 };
    if (index === 0 || found.fault !== "unknown")
      throw createUnauthorizedError(gateway, c, describeTokenFault(found.fault));
  }
  if (gateway.varve.settings.config.proxy.requireToken || !isLoopback(gateway.address.host))
    throw createUnauthorizedError(gateway, c, "The model proxy needs an access token of the gateway.");
  return { useOwnKey: false };
}

/** Counts a request without an access token against its provider key, which is hashed, and against its address. */
function createKeyLimiter(gateway: GatewayContext): (c: Context<GatewayEnv>) => void {
  const { requestsPerMinute } = gateway.varve.settings.config.proxy;
  const limiter = createRateLimiter(gateway.clock, requestsPerMinute);
  return (c) => {
    const callers = [`address ${readAddress(c)}`, identifyKey(c)];
    const waits = callers.flatMap((caller) => limiter.take(caller) ?? []);
    if (waits.length === 0) return;
    const retryAfterSeconds = Math.max(...waits.map((wait) => wait.retryAfterSeconds));
    const limit = `${requestsPerMinute} requests per minute without an access token`;
    throw new VarveError("RATE_LIMITED", `The limit of ${limit} is exceeded.`, {
      remedy: `Wait ${retryAfterSeconds} s and try again, or raise proxy.requestsPerMinute.`,
      details: { retryAfterSeconds },
    });
  };
}

/** Returns the path after the provider's name, as it was sent: the router compares decoded paths. */
function readTarget(c: Context<GatewayEnv>, provider: Provider): string {
  const { pathname, search } = new URL(c.req.url);
  const prefix = `/proxy/${provider}`;
  if (pathname.startsWith(`${prefix}/`)) return pathname.slice(prefix.length) + search;
  throw new VarveError("BAD_REQUEST", `The path does not start with ${prefix}/.`, {
    remedy: "Send the name of the provider without encoding it.",
  });
}

function readAddress(c: Context<GatewayEnv>): string {
  return c.env?.incoming?.socket.remoteAddress ?? "unknown";
}

function admitToken(gateway: GatewayContext, c: Context<GatewayEnv>, found: TokenPrincipal): Principal {
  takeRequest(gateway, `token ${found.name}`);
  c.set("principal", found);
  if (!hasRight(found, "write")) {
    throw new VarveError("FORBIDDEN", `The access token ${JSON.stringify(found.name)} does not have the right write.`, {
      remedy: "Use another token, or create one with the right write: `varve tokens create`.",
    });
  }
  return found;
}

function createUnauthorizedError(gateway: GatewayContext, c: Context<GatewayEnv>, message: string): VarveError {
  takeRequest(gateway, `address ${readAddress(c)}`);
  return new VarveError("UNAUTHORIZED", message, {
    remedy: `Send an access token of the gateway in the header ${tokenHeader}, or instead of the provider's key.`,
  });
}

function readBody(gateway: GatewayContext, c: Context<GatewayEnv>, isToken: boolean): Promise<Uint8Array> {
  return gateway.bodies.read(c.env.incoming, {
    caller: isToken ? identifyCaller(c) : identifyKey(c),
    bytesMax: gateway.varve.settings.config.proxy.bodyLimitBytes,
    setting: "proxy.bodyLimitBytes",
    signal: c.req.raw.signal,
  });
}

/** Names a provider key without containing it. */
function identifyKey(c: Context<GatewayEnv>): string {
  const key = c.req.header("x-api-key") || c.req.header("authorization") || "";
  return `key ${hashSecret(key).toString("base64")}`;
}
