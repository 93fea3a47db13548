/** The routes of the model proxy: authentication, body limit, and the call of the proxy. */
import { join } from "node:path";
import type { Context } from "hono";
import { hasRight, type Principal } from "../../authorization/index.ts";
import { systemRandom, VarveError } from "../../domain/index.ts";
import type { ModelProxy, Provider } from "../../proxy/index.ts";
import { isLoopback } from "../addresses.ts";
import type { GatewayApp, GatewayContext, GatewayEnv } from "../context.ts";
import { takeRequest } from "../guards.ts";
import { readOrCreateToken } from "../token-file.ts";
import { describeTokenFault, type TokenPrincipal } from "../tokens.ts";

const tokenHeader = "x-varve-token";

/** The proxy's code is loaded on the first request, since most gateways never get one. */
export function addProxyRoutes(app: GatewayApp, gateway: GatewayContext): void {
  if (!gateway.varve.settings.config.proxy.enabled) return;
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
      const body = await readBody(gateway, c);
      opened ??= open();
      const proxy = await opened;
      const url = new URL(c.req.url);
      const headers = new Headers(c.req.raw.headers);
      if (useOwnKey) for (const name of ["x-api-key", "authorization"]) headers.delete(name);
      const answer = await proxy.handle({
        provider,
        method: c.req.method,
        path: url.pathname.slice(`/proxy/${provider}`.length) + url.search,
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
  if (!isLoopback(gateway.address.host))
    throw createUnauthorizedError(gateway, c, "The model proxy needs an access token of the gateway.");
  return { useOwnKey: false };
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
  takeRequest(gateway, `address ${c.env?.incoming?.socket.remoteAddress ?? "unknown"}`);
  return new VarveError("UNAUTHORIZED", message, {
    remedy: `Send an access token of the gateway in the header ${tokenHeader}, or instead of the provider's key.`,
  });
}

async function readBody(gateway: GatewayContext, c: Context<GatewayEnv>): Promise<Uint8Array> {
  const max = gateway.varve.settings.config.proxy.bodyLimitBytes;
  const tooLarge = (): VarveError =>
    new VarveError("TOO_LARGE", `The request body is larger than ${max} bytes.`, {
      remedy: "Raise proxy.bodyLimitBytes.",
    });
  if (Number(c.req.header("content-length") ?? 0) > max) throw tooLarge();
  if (!c.req.raw.body) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of c.req.raw.body) {
    size += chunk.byteLength;
    if (size > max) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
