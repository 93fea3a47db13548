/** The model proxy's door: who may use it, and what it is given. */
import { join } from "node:path";
import type { Context } from "hono";
import { hasRight, type Principal } from "../../authorization/index.ts";
import { systemRandom, VarveError } from "../../domain/index.ts";
import type { ModelProxy, Provider } from "../../proxy/index.ts";
import { isLoopback } from "../addresses.ts";
import type { GatewayApp, GatewayEnv, GatewayHost } from "../context.ts";
import { takeFrom } from "../guards.ts";
import { readOrMakeToken } from "../token-file.ts";
import { identify, type TokenPrincipal } from "../tokens.ts";

const tokenHeader = "x-varve-token";

/** Loaded when somebody first comes: most gateways are never asked. */
export function addProxyRoutes(app: GatewayApp, host: GatewayHost): void {
  if (!host.varve.settings.config.proxy.enabled) return;
  let opened: Promise<ModelProxy> | undefined;
  const open = async (): Promise<ModelProxy> => {
    const { createProxy } = await import("../../proxy/index.ts");
    const proxy = createProxy({
      varve: host.varve,
      deadlines: host.deadlines.proxy,
      secret: readOrMakeToken(join(host.varve.settings.home, "proxy-secret"), systemRandom),
      onFailure: (what, error) =>
        host.log({ event: "error", method: "POST", path: "/proxy", error: new Error(what, { cause: error }) }),
    });
    host.proxyCounters = proxy.counters;
    host.closers.push(() => proxy.close());
    return proxy;
  };
  for (const provider of ["anthropic", "openai"] as const) {
    app.all(`/proxy/${provider}/*`, async (c) => {
      const { principal, useOwnKey } = admit(host, c, provider);
      const body = await readBody(host, c);
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
      // Made anew so that the headers of the guards are on it.
      return c.newResponse(answer.body, answer);
    });
  }
}

/**
 * On this machine a client's own credential with the provider is enough. Where others can reach the gateway they need a
 * token of it, beside their credential or in its place.
 */
function admit(
  host: GatewayHost,
  c: Context<GatewayEnv>,
  provider: Provider,
): { principal?: Principal; useOwnKey: boolean } {
  const shown = c.req.header(tokenHeader);
  const bearer = /^Bearer +(\S{1,4096})$/i.exec(c.req.header("authorization") ?? "")?.[1];
  const keys = [shown, provider === "anthropic" ? c.req.header("x-api-key") : undefined, bearer];
  for (const [index, secret] of keys.entries()) {
    if (secret === undefined) continue;
    const found = identify(host.tokens, secret, host.clock.now());
    if ("principal" in found) return { principal: admitToken(host, c, found.principal), useOwnKey: index > 0 };
    if (found.fault === "expired") throw refused(host, c, "The token has expired.");
    if (index === 0) throw refused(host, c, "The token is not known.");
  }
  if (!isLoopback(host.place.host)) throw refused(host, c, "The proxy needs a token of the gateway.");
  return { useOwnKey: false };
}

function admitToken(host: GatewayHost, c: Context<GatewayEnv>, found: TokenPrincipal): Principal {
  takeFrom(host, `token ${found.name}`);
  c.set("principal", found);
  if (!hasRight(found, "write")) {
    throw new VarveError("FORBIDDEN", `The token ${JSON.stringify(found.name)} does not carry the right to write.`, {
      remedy: "Use another token, or add write to its rights in gateway.tokens.",
    });
  }
  return found;
}

function refused(host: GatewayHost, c: Context<GatewayEnv>, message: string): VarveError {
  takeFrom(host, `address ${c.env?.incoming?.socket.remoteAddress ?? "unknown"}`);
  return new VarveError("UNAUTHORIZED", message, {
    remedy: `Send a token of gateway.tokens as ${tokenHeader}, or in place of the provider's key.`,
  });
}

async function readBody(host: GatewayHost, c: Context<GatewayEnv>): Promise<Uint8Array> {
  const max = host.varve.settings.config.proxy.bodyLimitBytes;
  const tooLarge = (): VarveError =>
    new VarveError("TOO_LARGE", `The body is larger than ${max} bytes.`, { remedy: "Raise proxy.bodyLimitBytes." });
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
