/** The middleware that every request passes before it reaches a route, in this order. */
import type { MiddlewareHandler } from "hono";
import { getCookie } from "hono/cookie";
import { hasRight, type Right, resolveAccess, runWithAccess } from "../authorization/index.ts";
import { VarveError } from "../domain/index.ts";
import { classifyOrigin, isOwnHost } from "./addresses.ts";
import type { GatewayContext, GatewayEnv } from "./context.ts";
import { boundAgent, describeTokenFault, type TokenPrincipal } from "./tokens.ts";

type Guard = MiddlewareHandler<GatewayEnv>;

export const cookieName = "varve_token";
const requestTokenHeader = "x-varve-request-token";
const bearer = /^Bearer +([\x21-\x7e]{1,4096})$/i;
const readMethods = new Set(["GET", "HEAD"]);

export function logRequests(gateway: GatewayContext): Guard {
  return async (c, next) => {
    const started = performance.now();
    await next();
    const durationMs = Math.round((performance.now() - started) * 10) / 10;
    const { method, path } = c.req;
    gateway.metrics.request(method, c.res.status);
    gateway.log({ event: "request", method, path, status: c.res.status, durationMs, caller: c.get("principal")?.name });
  };
}

export const secureHeaders: Guard = async (c, next) => {
  c.header("X-Content-Type-Options", "nosniff");
  c.header("Referrer-Policy", "no-referrer");
  c.header("X-Frame-Options", "DENY");
  c.header("Cross-Origin-Resource-Policy", "same-origin");
  c.header("Cross-Origin-Opener-Policy", "same-origin");
  c.header("Cache-Control", "no-store");
  c.header("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  await next();
};

export function checkHost(gateway: GatewayContext): Guard {
  return async (c, next) => {
    const given = c.req.header("host");
    // No web page can open a Unix socket, so the name of its requests needs no port.
    const isLocal = given === "localhost" && gateway.localConnections.has(c.env.incoming.socket);
    if (!isLocal && !isOwnHost(given, gateway.address)) {
      throw new VarveError(
        "FORBIDDEN",
        `The Host header ${JSON.stringify(given?.slice(0, 200))} does not name this gateway.`,
        {
          remedy: "Use the address that the gateway listens on, or add the name to gateway.allowedHosts.",
        },
      );
    }
    await next();
  };
}

/** Refuses requests of other sites' pages, and answers CORS preflight requests of allowed origins. */
export function checkOrigin(gateway: GatewayContext): Guard {
  return async (c, next) => {
    const origin = c.req.header("origin");
    const kind = classifyOrigin(origin, c.req.header("host"), gateway.address);
    if (kind === "foreign") {
      throw new VarveError("FORBIDDEN", `Pages of the origin ${origin?.slice(0, 200)} may not call this gateway.`, {
        remedy: "If you trust the origin, add it to gateway.allowedOrigins.",
      });
    }
    c.header("Vary", "Origin");
    if (kind !== "allowed" || origin === undefined) return next();
    c.header("Access-Control-Allow-Origin", origin);
    c.header("Access-Control-Expose-Headers", "Retry-After, Content-Disposition");
    c.header("Cross-Origin-Resource-Policy", "cross-origin");
    if (c.req.method !== "OPTIONS" || c.req.header("access-control-request-method") === undefined) return next();
    c.header("Access-Control-Allow-Methods", "GET, HEAD, POST, PATCH, DELETE");
    c.header(
      "Access-Control-Allow-Headers",
      "Authorization, Content-Type, Last-Event-ID, Mcp-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, " +
        "X-Varve-Session, X-Varve-Grant",
    );
    c.header("Access-Control-Max-Age", "600");
    return c.body(null, 204);
  };
}

/** Requires a known access token and counts the request against its rate limit. Each route checks its own rights. */
export function authenticate(gateway: GatewayContext): Guard {
  return async (c, next) => {
    const principal = await authenticateRequest(gateway, c);
    if (!principal) throw createUnauthorizedError(gateway, c, "The request has no access token.", false);
    takeRequest(gateway, `token ${principal.name}`);
    c.set("principal", principal);
    await runWithAccess(resolveAccess(gateway.varve.settings.config, principal), next);
  };
}

type Request = Parameters<Guard>[0];

/** Returns the principal of a request; undefined when it has neither a token nor a login cookie. */
export async function authenticateRequest(gateway: GatewayContext, c: Request): Promise<TokenPrincipal | undefined> {
  const header = c.req.header("authorization");
  if (header !== undefined) {
    const secret = bearer.exec(header)?.[1];
    if (secret === undefined)
      throw createUnauthorizedError(gateway, c, "The Authorization header is not a bearer token.", true);
    const found = await gateway.tokens.identify(secret);
    if ("principal" in found) return found.principal;
    throw createUnauthorizedError(gateway, c, describeTokenFault(found.fault), true);
  }
  const cookie = getCookie(c, cookieName);
  if (cookie === undefined) return undefined;
  const found = gateway.logins.identify(cookie);
  if (!("principal" in found)) throw createUnauthorizedError(gateway, c, "The login has expired.", true);
  refuseForgedRequest(gateway, c, cookie);
  // A login by an access token ends with the token.
  if (found.principal.tokenId === undefined || (await gateway.tokens.isAccepted(found.principal)))
    return found.principal;
  gateway.logins.close(cookie);
  throw createUnauthorizedError(gateway, c, "The access token of this login is no longer accepted.", true);
}

/** A browser sends the cookie with requests of any page, so such a request must come from the gateway's own pages. */
function refuseForgedRequest(gateway: GatewayContext, c: Request, cookie: string): void {
  const site = c.req.header("sec-fetch-site");
  const kind = classifyOrigin(c.req.header("origin"), c.req.header("host"), gateway.address);
  const fromElsewhere = site !== undefined && site !== "same-origin" && site !== "none";
  const isRead = readMethods.has(c.req.method);
  if (
    !fromElsewhere &&
    !isRead &&
    kind === "own" &&
    !gateway.logins.isRequestToken(cookie, c.req.header(requestTokenHeader))
  ) {
    throw new VarveError(
      "FORBIDDEN",
      "A request of a browser login that writes needs the request token of the login.",
      {
        remedy: "Send the requestToken of GET /api/me as the header X-Varve-Request-Token, or reload the page.",
      },
    );
  }
  if (!fromElsewhere && (isRead || kind === "own")) return;
  throw new VarveError("FORBIDDEN", "A browser login is valid only for requests of the gateway's own pages.", {
    remedy: "Send the token as Authorization: Bearer … instead.",
  });
}

/** Counts the failed attempt against the sender's address, since a guessed token has no rate limit of its own. */
function createUnauthorizedError(gateway: GatewayContext, c: Request, message: string, given: boolean): VarveError {
  takeRequest(gateway, `address ${c.env?.incoming?.socket.remoteAddress ?? "unknown"}`);
  c.header("WWW-Authenticate", `Bearer realm="varve"${given ? ', error="invalid_token"' : ""}`);
  return new VarveError("UNAUTHORIZED", message, {
    remedy:
      "Send the header Authorization: Bearer TOKEN. On this machine the token is in the file gateway-token in Varve's " +
      "home folder; a browser is logged in by the link that `varve start` prints.",
  });
}

/** Counts a request against the rate limit of a token or an address; throws when it is used up. */
export function takeRequest(gateway: GatewayContext, key: string): void {
  const wait = gateway.limiter.take(key);
  if (!wait) return;
  throw new VarveError(
    "RATE_LIMITED",
    `The limit of ${gateway.settings.requestsPerMinute} requests per minute is exceeded.`,
    {
      remedy: `Wait ${wait.retryAfterSeconds} s and try again, or raise gateway.requestsPerMinute.`,
      details: wait,
    },
  );
}

function requireRight(principal: TokenPrincipal, right: Right): void {
  if (hasRight(principal, right)) return;
  throw new VarveError(
    "FORBIDDEN",
    `The access token ${JSON.stringify(principal.name)} does not have the right ${right}.`,
    {
      remedy: `Use another token, or create one with the right ${right} by \`varve tokens create\`.`,
    },
  );
}

/** Refuses a principal without the rights of a route. Admin routes concern all agents, so bound tokens are refused. */
export function requireRights(rights: readonly Right[]): Guard {
  return async (c, next) => {
    const principal = c.get("principal");
    for (const right of rights) requireRight(principal, right);
    if (rights.includes("admin")) refuseBoundToken(principal);
    await next();
  };
}

function refuseBoundToken(principal: TokenPrincipal): void {
  const agent = boundAgent(principal);
  if (agent === undefined) return;
  throw new VarveError(
    "FORBIDDEN",
    `The access token is bound to the agent ${agent}, but this route concerns all agents.`,
    { remedy: "Use a token without an agent." },
  );
}
