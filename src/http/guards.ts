/** The middleware every request walks through before a route sees it, in the order it is walked. */
import type { MiddlewareHandler } from "hono";
import { getCookie } from "hono/cookie";
import { hasRight, type Right } from "../authorization/index.ts";
import { VarveError } from "../domain/index.ts";
import { isOwnHost, originKind } from "./addresses.ts";
import type { GatewayEnv, GatewayHost } from "./context.ts";
import { boundAgent, identify, type TokenPrincipal } from "./tokens.ts";

type Guard = MiddlewareHandler<GatewayEnv>;

export const cookieName = "varve_token";
const bearer = /^Bearer +([\x21-\x7e]{1,4096})$/i;
const looking = new Set(["GET", "HEAD"]);

export function logRequests(host: GatewayHost): Guard {
  return async (c, next) => {
    const started = performance.now();
    await next();
    const durationMs = Math.round((performance.now() - started) * 10) / 10;
    const { method, path } = c.req;
    host.metrics.request(method, c.res.status);
    host.log({ event: "request", method, path, status: c.res.status, durationMs, caller: c.get("principal")?.name });
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

export function checkHost(host: GatewayHost): Guard {
  return async (c, next) => {
    const given = c.req.header("host");
    if (!isOwnHost(given, host.place)) {
      throw new VarveError(
        "FORBIDDEN",
        `The gateway does not go by the name ${JSON.stringify(given?.slice(0, 200))}.`,
        {
          remedy: "Call it by its address, or add the name to gateway.allowedHosts.",
        },
      );
    }
    await next();
  };
}

/** Turns pages of other sites away, and answers the question a browser asks before it lets an allowed one through. */
export function checkOrigin(host: GatewayHost): Guard {
  return async (c, next) => {
    const origin = c.req.header("origin");
    const kind = originKind(origin, c.req.header("host"), host.place);
    if (kind === "foreign") {
      throw new VarveError("FORBIDDEN", `Pages of ${origin?.slice(0, 200)} may not call this gateway.`, {
        remedy: "Add the origin to gateway.allowedOrigins if you trust it.",
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

/**
 * Lets in who shows a token that is known, and counts the request against its minute. The right is given where the method
 * does not tell whether something is changed.
 */
export function authenticate(host: GatewayHost, right?: Right): Guard {
  return async (c, next) => {
    const principal = authenticateRequest(host, c);
    if (!principal) throw unauthorized(host, c, "The gateway needs a token.", false);
    takeFrom(host, `token ${principal.name}`);
    c.set("principal", principal);
    requireRight(principal, right ?? (looking.has(c.req.method) ? "read" : "write"));
    await next();
  };
}

type Request = Parameters<Guard>[0];

/** Who sends the request, or undefined when it shows nothing at all. */
export function authenticateRequest(host: GatewayHost, c: Request): TokenPrincipal | undefined {
  const header = c.req.header("authorization");
  if (header !== undefined) {
    const secret = bearer.exec(header)?.[1];
    if (secret === undefined) throw unauthorized(host, c, "The Authorization header is not a bearer token.", true);
    const found = identify(host.tokens, secret, host.clock.now());
    if ("principal" in found) return found.principal;
    throw unauthorized(host, c, found.fault === "expired" ? "The token has expired." : "The token is not known.", true);
  }
  const cookie = getCookie(c, cookieName);
  if (cookie === undefined) return undefined;
  const found = host.logins.identify(cookie);
  if (!("principal" in found)) throw unauthorized(host, c, "The login is over.", true);
  refuseForged(host, c);
  return found.principal;
}

/** A cookie comes along whoever asks, so a request that rides on one must be seen to come from the console itself. */
function refuseForged(host: GatewayHost, c: Request): void {
  const site = c.req.header("sec-fetch-site");
  const kind = originKind(c.req.header("origin"), c.req.header("host"), host.place);
  const fromElsewhere = site !== undefined && site !== "same-origin" && site !== "none";
  if (!fromElsewhere && (looking.has(c.req.method) || kind === "own")) return;
  throw new VarveError("FORBIDDEN", "A login counts only for requests of the gateway's own pages.", {
    remedy: "Send the token as Authorization: Bearer … instead.",
  });
}

/** Failed attempts are counted by where they come from: a token that is guessed at has no minute of its own. */
function unauthorized(host: GatewayHost, c: Request, message: string, given: boolean): VarveError {
  takeFrom(host, `address ${c.env?.incoming?.socket.remoteAddress ?? "unknown"}`);
  c.header("WWW-Authenticate", `Bearer realm="varve"${given ? ', error="invalid_token"' : ""}`);
  return new VarveError("UNAUTHORIZED", message, {
    remedy:
      "Send Authorization: Bearer TOKEN. On this machine the token is in the file gateway-token in Varve's home; " +
      "browsers come in by the link that `varve start` prints.",
  });
}

/** Counts a request against somebody's minute. */
export function takeFrom(host: GatewayHost, key: string): void {
  const wait = host.limiter.take(key);
  if (!wait) return;
  throw new VarveError(
    "RATE_LIMITED",
    `There were more than ${host.settings.requestsPerMinute} requests in a minute.`,
    {
      remedy: `Wait ${wait.retryAfterSeconds} s, or raise gateway.requestsPerMinute.`,
      details: wait,
    },
  );
}

function requireRight(principal: TokenPrincipal, right: Right): void {
  if (hasRight(principal, right)) return;
  throw new VarveError(
    "FORBIDDEN",
    `The token ${JSON.stringify(principal.name)} does not carry the right to ${right}.`,
    {
      remedy: `Use another token, or add ${right} to its rights in gateway.tokens.`,
    },
  );
}

/** Admin routes are about everything there is, so a token that is bound to one agent has no business there. */
export const requireAdmin: Guard = async (c, next) => {
  const principal = c.get("principal");
  requireRight(principal, "admin");
  if (boundAgent(principal) !== undefined) {
    throw new VarveError(
      "FORBIDDEN",
      `The token is bound to the agent ${boundAgent(principal)}; this is about all of them.`,
      {
        remedy: "Use a token without an agent.",
      },
    );
  }
  await next();
};
