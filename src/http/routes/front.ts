/** What is outside of `/api`: health, the page at `/`, and the login of browsers. */
import { setCookie } from "hono/cookie";
import { hasRight } from "../../authorization/index.ts";
import { VarveError } from "../../domain/index.ts";
import type { GatewayApp, GatewayHost } from "../context.ts";
import { answerError } from "../errors.ts";
import { authenticateRequest, cookieName } from "../guards.ts";
import { badLinkPage, pagePolicy, strangerPage, welcomePage } from "../page.ts";
import { boundAgent, type TokenPrincipal } from "../tokens.ts";

const healthKeptMs = 1000;

export function addFrontRoutes(app: GatewayApp, host: GatewayHost): void {
  const isUp = healthCheck(host);
  app.get("/health", async (c) => ((await isUp()) ? c.json({ status: "up" }) : c.json({ status: "down" }, 503)));

  app.get("/", async (c) => {
    c.header("Content-Security-Policy", pagePolicy);
    const principal = visitor(host, c);
    return c.html(principal ? welcomePage(await numbersFor(host, principal)) : strangerPage());
  });

  app.get("/auth", (c) => {
    const login = host.logins.redeem(c.req.query("code") ?? "");
    if (login) {
      setCookie(c, cookieName, login.secret, {
        httpOnly: true,
        sameSite: "Strict",
        path: "/",
        maxAge: login.maxAgeSeconds,
      });
      return c.redirect("/", 303);
    }
    const limited = host.limiter.take(`address ${c.env.incoming.socket.remoteAddress ?? "unknown"}`);
    if (c.req.header("accept")?.includes("text/html") && !limited) {
      c.header("Content-Security-Policy", pagePolicy);
      return c.html(badLinkPage(), 401);
    }
    const error = new VarveError("UNAUTHORIZED", "The login link was used already, is too old, or was never made.", {
      remedy: "Start the gateway again with `varve start` for a new one.",
    });
    return answerError(
      c,
      limited ? new VarveError("RATE_LIMITED", "Too many logins failed.", { details: limited }) : error,
    );
  });
}

/** One look into an index, at most once a second: nobody can load the store by asking after its health. */
function healthCheck({ varve, clock, deadlines }: GatewayHost): () => Promise<boolean> {
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
    if (!last || Math.abs(now - last.at) >= healthKeptMs) last = { at: now, up: look() };
    return last.up;
  };
}

/** Who looks at the page; a cookie that is no longer good makes a stranger, not an error. */
function visitor(host: GatewayHost, c: Parameters<typeof authenticateRequest>[1]): TokenPrincipal | undefined {
  try {
    const principal = authenticateRequest(host, c);
    return principal && hasRight(principal, "read") && boundAgent(principal) === undefined ? principal : undefined;
  } catch (error) {
    if (error instanceof VarveError && (error.code === "UNAUTHORIZED" || error.code === "FORBIDDEN")) return undefined;
    throw error;
  }
}

async function numbersFor({ varve }: GatewayHost, principal: TokenPrincipal): Promise<Record<string, string | number>> {
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
