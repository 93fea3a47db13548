import { OpenAPIHono } from "@hono/zod-openapi";
import { HTTPException } from "hono/http-exception";
import { methodNotAllowed } from "hono/method-not-allowed";
import { timeout } from "hono/timeout";
import { limitBody } from "./body-limit.ts";
import type { GatewayApp, GatewayEnv, GatewayHost } from "./context.ts";
import { answerError, answerProxyError, notFound, publicError, wrongMethod } from "./errors.ts";
import { authenticate, checkHost, checkOrigin, logRequests, secureHeaders } from "./guards.ts";
import { addContextRoutes } from "./routes/context.ts";
import { addDocumentRoute } from "./routes/document.ts";
import { addEventRoute } from "./routes/events.ts";
import { addExportRoute } from "./routes/export.ts";
import { addFrontRoutes } from "./routes/front.ts";
import { addHookRoutes } from "./routes/hooks.ts";
import { addJobRoutes } from "./routes/jobs.ts";
import { addMaintenanceRoutes } from "./routes/maintenance.ts";
import { addMcpRoute } from "./routes/mcp.ts";
import { addMemoryRoutes } from "./routes/memories.ts";
import { addMessageRoutes } from "./routes/messages.ts";
import { addMetricsRoute } from "./routes/metrics.ts";
import { addProxyRoutes } from "./routes/proxy.ts";
import { addRecallRoutes } from "./routes/recall.ts";
import { addSearchRoute } from "./routes/search.ts";
import { addSessionLifecycleRoutes } from "./routes/session-lifecycle.ts";
import { addSessionRoutes } from "./routes/sessions.ts";
import { addTurnRoutes } from "./routes/turns.ts";
import { refuseInvalid } from "./schemas.ts";

/** The whole gateway, from guard to guard to route. Everything under `/api`, `/mcp` and `/metrics` is closed unless a token opens it. */
export function createApp(host: GatewayHost): GatewayApp {
  const app: GatewayApp = new OpenAPIHono<GatewayEnv>({ defaultHook: refuseInvalid });
  app.notFound(notFound);
  app.onError(async (error, c) => {
    const answer = publicError(error);
    if (answer.kind === "failed") host.log({ event: "error", method: c.req.method, path: c.req.path, error });
    return (await answerProxyError(c, answer)) ?? answerError(c, answer);
  });

  app.use(logRequests(host));
  app.use(methodNotAllowed({ app, onMethodNotAllowed: wrongMethod }));
  app.use(secureHeaders);
  app.use(checkHost(host));
  app.use(checkOrigin(host));
  // Before the limits of the API: a model may think for minutes, and every request brings its whole history.
  addProxyRoutes(app, host);
  app.use(timeout(host.settings.requestTimeoutMs, () => new HTTPException(504)));
  app.use("/api/*", authenticate(host));
  app.use("/api", authenticate(host));
  // Every message of MCP is a POST; whoever may only read is offered only the tools that do.
  app.use("/mcp", authenticate(host, "read"));
  app.use("/metrics", authenticate(host, "read"));
  app.use(limitBody(host));

  addFrontRoutes(app, host);
  addMaintenanceRoutes(app, host);
  addSessionRoutes(app, host);
  addSessionLifecycleRoutes(app, host);
  addMessageRoutes(app, host);
  addContextRoutes(app, host);
  addRecallRoutes(app, host);
  addSearchRoute(app, host);
  addMemoryRoutes(app, host);
  addTurnRoutes(app, host);
  addJobRoutes(app, host);
  addHookRoutes(app, host);
  addExportRoute(app, host);
  addEventRoute(app, host);
  addDocumentRoute(app);
  addMcpRoute(app, host);
  addMetricsRoute(app, host);
  return app;
}
