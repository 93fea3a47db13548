/** The routes outside `/api`: health, the page at `/`, and the login of browsers. */
import type { Context } from "hono";
import { setCookie } from "hono/cookie";
import { hasRight } from "../../authorization/index.ts";
import { type ErrorCode, toVarveError, VarveError } from "../../domain/index.ts";
import { classifyOrigin } from "../addresses.ts";
import { consolePolicy, openConsoleFiles } from "../console-files.ts";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { answerError, notFound } from "../errors.ts";
import { authenticateRequest, cookieName, takeRequest } from "../guards.ts";
import { badLinkPage, loginPage, notBuiltPage, pagePolicy } from "../page.ts";
import type { TokenPrincipal } from "../tokens.ts";

const healthCacheMs = 1000;
/** The pages of the console; one file serves them all. */
const consolePaths = ["/", "/search", "/sessions", "/sessions/*", "/memory", "/memory/*", "/talk", "/system", "/cite"];

export function addFrontRoutes(app: GatewayApp, gateway: GatewayContext): void {
  const findFault = healthCheck(gateway);
  app.get("/health", async (c) => {
    const isUp = (await findFault()) === undefined;
    return isUp ? c.json({ status: "up" }) : c.json({ status: "down" }, 503);
  });
  // For load balancers: the code says why, and nothing about the database.
  app.get("/ready", async (c) => {
    const code = await findFault();
    if (code === undefined) return c.json({ status: "ready" });
    c.header("Retry-After", "1");
    return c.json({ status: "unavailable", code }, 503);
  });

  const files = openConsoleFiles();
  app.get("/assets/:name", (c) => {
    const file = files.asset(c.req.param("name"), c.req.header("accept-encoding") ?? "");
    if (!file) return notFound(c);
    c.header("Content-Type", file.type);
    c.header("Vary", "Accept-Encoding");
    // The name has a hash of the content.
    c.header("Cache-Control", "public, max-age=31536000, immutable");
    if (file.encoding !== undefined) c.header("Content-Encoding", file.encoding);
    return c.body(file.body);
  });
  for (const path of consolePaths) {
    app.get(path, async (c) => {
      if ((await identifyVisitor(gateway, c)) === undefined) return answerLoginPage(c);
      const page = files.page();
      if (!page) {
        c.header("Content-Security-Policy", pagePolicy);
        return c.html(notBuiltPage(), 503);
      }
      c.header("Content-Security-Policy", consolePolicy);
      c.header("Cache-Control", "private, no-cache");
      c.header("ETag", page.etag);
      if (c.req.header("if-none-match") === page.etag) return c.body(null, 304);
      return c.html(page.html);
    });
  }

  // The form of the login page: an access token, for machines where `varve start` prints no link.
  app.post("/auth", async (c) => {
    const { token } = await c.req.parseBody();
    const isOwn = classifyOrigin(c.req.header("origin"), c.req.header("host"), gateway.address) === "own";
    const found = isOwn && typeof token === "string" ? await gateway.tokens.identify(token.trim()) : undefined;
    if (found && "principal" in found && hasRight(found.principal, "read")) {
      const { hash: _, ...principal } = found.principal;
      setLoginCookie(c, gateway, gateway.logins.open(principal));
      return c.redirect("/", 303);
    }
    takeRequest(gateway, `address ${c.env.incoming.socket.remoteAddress ?? "unknown"}`);
    return answerLoginPage(c, "This access token is not accepted, or it may not read.");
  });

  app.get("/auth", (c) => {
    const login = gateway.logins.redeem(c.req.query("code") ?? "");
    if (login) {
      setLoginCookie(c, gateway, login);
      return c.redirect("/", 303);
    }
    const limited = gateway.limiter.take(`address ${c.env.incoming.socket.remoteAddress ?? "unknown"}`);
    if (c.req.header("accept")?.includes("text/html") && !limited) {
      c.header("Content-Security-Policy", pagePolicy);
      return c.html(badLinkPage(), 401);
    }
    const error = new VarveError(
      "UNAUTHORIZED",
      "The login link is invalid: it was used already or is older than a minute.",
      {
        remedy: "Start the gateway again with `varve start` to get a new one.",
      },
    );
    return answerError(
      c,
      limited ? new VarveError("RATE_LIMITED", "There were too many failed logins.", { details: limited }) : error,
    );
  });
}

/** Checks the store at most once a second, so that health checks put no load on it. */
function healthCheck({ varve, clock, deadlines }: GatewayContext): () => Promise<ErrorCode | undefined> {
  let last: { at: number; fault: Promise<ErrorCode | undefined> } | undefined;
  const look = async (): Promise<ErrorCode | undefined> => {
    const { promise: late, resolve } = Promise.withResolvers<ErrorCode>();
    const timer = setTimeout(() => resolve("STORE_UNREACHABLE"), deadlines.healthMs);
    const answered = varve.sessions.list({ limit: 1 }).then(
      () => undefined,
      (error: unknown) => toVarveError(error).code,
    );
    const fault = await Promise.race([answered, late]);
    clearTimeout(timer);
    return fault;
  };
  return () => {
    const now = clock.now();
    if (!last || Math.abs(now - last.at) >= healthCacheMs) last = { at: now, fault: look() };
    return last.fault;
  };
}

/** Returns the principal that opens the page; an invalid cookie means undefined, not an error. */
async function identifyVisitor(
  gateway: GatewayContext,
  c: Parameters<typeof authenticateRequest>[1],
): Promise<TokenPrincipal | undefined> {
  try {
    const principal = await authenticateRequest(gateway, c);
    return principal && hasRight(principal, "read") ? principal : undefined;
  } catch (error) {
    if (error instanceof VarveError && (error.code === "UNAUTHORIZED" || error.code === "FORBIDDEN")) return undefined;
    throw error;
  }
}

function answerLoginPage(c: Context, fault?: string): Response | Promise<Response> {
  c.header("Content-Security-Policy", pagePolicy);
  // Without a referrer a browser sends no origin with a form, and the gateway accepts forms of its own pages only.
  c.header("Referrer-Policy", "same-origin");
  return c.html(loginPage(fault), fault === undefined ? 200 : 401);
}

function setLoginCookie(c: Context, gateway: GatewayContext, login: { secret: string; maxAgeSeconds: number }): void {
  setCookie(c, cookieName, login.secret, {
    httpOnly: true,
    sameSite: "Strict",
    secure: gateway.address.secure === true,
    path: "/",
    maxAge: login.maxAgeSeconds,
  });
}
