/** The routes outside `/api`: health, the page at `/`, and the login of browsers. */
import { setCookie } from "hono/cookie";
import { hasRight } from "../../authorization/index.ts";
import { VarveError } from "../../domain/index.ts";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { answerError } from "../errors.ts";
import { authenticateRequest, cookieName } from "../guards.ts";
import { badLinkPage, loginPage, pagePolicy, welcomePage } from "../page.ts";
import { boundAgent, type TokenPrincipal } from "../tokens.ts";

const healthCacheMs = 1000;

export function addFrontRoutes(app: GatewayApp, gateway: GatewayContext): void {
  const isUp = healthCheck(gateway);
  app.get("/health", async (c) => ((await isUp()) ? c.json({ status: "up" }) : c.json({ status: "down" }, 503)));

  app.get("/", async (c) => {
    c.header("Content-Security-Policy", pagePolicy);
    const principal = await identifyVisitor(gateway, c);
    return c.html(principal ? welcomePage(await loadNumbers(gateway, principal)) : loginPage());
  });

  app.get("/auth", (c) => {
    const login = gateway.logins.redeem(c.req.query("code") ?? "");
    if (login) {
      setCookie(c, cookieName, login.secret, {
        httpOnly: true,
        sameSite: "Strict",
        secure: gateway.address.secure === true,
        path: "/",
        maxAge: login.maxAgeSeconds,
      });
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
function healthCheck({ varve, clock, deadlines }: GatewayContext): () => Promise<boolean> {
  let last: { at: number; up: Promise<boolean> } | undefined;
  const look = async (): Promise<boolean> => {
    const { promise: late, resolve } = Promise.withResolvers<false>();
    const timer = setTimeout(() => resolve(false), deadlines.healthMs);
    const alive = varve.sessions.list({ limit: 1 }).then(
      () => true,
      () => false,
    );
    const up = await Promise.race([alive, late]);
    clearTimeout(timer);
    return up;
  };
  return () => {
    const now = clock.now();
    if (!last || Math.abs(now - last.at) >= healthCacheMs) last = { at: now, up: look() };
    return last.up;
  };
}

/** Returns the principal that opens the page; an invalid cookie means undefined, not an error. */
async function identifyVisitor(
  gateway: GatewayContext,
  c: Parameters<typeof authenticateRequest>[1],
): Promise<TokenPrincipal | undefined> {
  try {
    const principal = await authenticateRequest(gateway, c);
    return principal && hasRight(principal, "read") && boundAgent(principal) === undefined ? principal : undefined;
  } catch (error) {
    if (error instanceof VarveError && (error.code === "UNAUTHORIZED" || error.code === "FORBIDDEN")) return undefined;
    throw error;
  }
}

async function loadNumbers(
  { varve }: GatewayContext,
  principal: TokenPrincipal,
): Promise<Record<string, string | number>> {
  const status = await varve.status();
  return {
    Version: status.version,
    Store: status.engine,
    Sessions: status.sessions,
    Messages: status.messages,
    Tokens: status.tokens,
    "Database bytes": status.databaseBytes,
    ...(hasRight(principal, "admin") ? { Home: status.home } : {}),
  };
}
