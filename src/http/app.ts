import { OpenAPIHono } from "@hono/zod-openapi";
import { HTTPException } from "hono/http-exception";
import { methodNotAllowed } from "hono/method-not-allowed";
import { timeout } from "hono/timeout";
import { auditRequests } from "./audit-requests.ts";
import { readRequestBody } from "./body-limit.ts";
import type { GatewayApp, GatewayContext, GatewayEnv } from "./context.ts";
import { answerError, answerProxyError, notFound, toPublicError, wrongMethod } from "./errors.ts";
import { authenticate, checkHost, checkOrigin, logRequests, requireRights, secureHeaders } from "./guards.ts";
import { addAuditRoutes } from "./routes/audit.ts";
import { addContextRoutes } from "./routes/context.ts";
import { addDocumentRoute } from "./routes/document.ts";
import { addEventRoute } from "./routes/events.ts";
import { addExportRoute } from "./routes/export.ts";
import { addFrontRoutes } from "./routes/front.ts";
import { addGrantRoutes } from "./routes/grants.ts";
import { addHookRoutes } from "./routes/hooks.ts";
import { addImportRoutes } from "./routes/imports.ts";
import { addJobRoutes } from "./routes/jobs.ts";
import { addLayerRoutes } from "./routes/layers.ts";
import { addMaintenanceRoutes } from "./routes/maintenance.ts";
import { addMcpRoute } from "./routes/mcp.ts";
import { addMeRoute } from "./routes/me.ts";
import { addMemoryRoutes } from "./routes/memories.ts";
import { addMessageRoutes } from "./routes/messages.ts";
import { addMetricsRoute } from "./routes/metrics.ts";
import { addOwnerRoutes } from "./routes/owners.ts";
import { addPersonRoutes } from "./routes/persons.ts";
import { addProofRoute } from "./routes/proof.ts";
import { addProxyRoutes } from "./routes/proxy.ts";
import { addRecallRoutes } from "./routes/recall.ts";
import { addSearchRoute } from "./routes/search.ts";
import { addSessionLifecycleRoutes } from "./routes/session-lifecycle.ts";
import { addSessionRoutes } from "./routes/sessions.ts";
import { addSettingsRoutes } from "./routes/settings.ts";
import { addSystemRoutes } from "./routes/system.ts";
import { addTokenRoutes } from "./routes/tokens.ts";
import { addTurnRoutes } from "./routes/turns.ts";
import { refuseInvalid } from "./schemas.ts";

/** Creates the gateway's middleware and routes, in order. `/api`, `/mcp` and `/metrics` need an access token. */
export function createApp(gateway: GatewayContext): GatewayApp {
  const app: GatewayApp = new OpenAPIHono<GatewayEnv>({ defaultHook: refuseInvalid });
  app.notFound(notFound);
  app.onError(async (error, c) => {
    const answer = toPublicError(error);
    if (answer.kind === "failed") gateway.log({ event: "error", method: c.req.method, path: c.req.path, error });
    return (await answerProxyError(c, answer)) ?? answerError(c, answer);
  });

  app.use(logRequests(gateway));
  app.use(gateway.observations.observe);
  app.use(auditRequests(gateway));
  app.use(methodNotAllowed({ app, onMethodNotAllowed: wrongMethod }));
  app.use(secureHeaders);
  app.use(checkHost(gateway));
  app.use(checkOrigin(gateway));
  // Before the timeout and body limit of the API: a model may take minutes, and every request carries its history.
  addProxyRoutes(app, gateway);
  app.use(timeout(gateway.settings.requestTimeoutMs, () => new HTTPException(504)));
  app.use("/api/*", authenticate(gateway));
  app.use("/api", authenticate(gateway));
  // Every tool returns content; those that write need the right write too.
  app.use("/mcp", authenticate(gateway), requireRights(["read"]));
  app.use("/metrics", authenticate(gateway), requireRights(["read"]));
  app.use(readRequestBody(gateway));

  addFrontRoutes(app, gateway);
  addProofRoute(app, gateway);
  addMeRoute(app, gateway);
  addMaintenanceRoutes(app, gateway);
  addSettingsRoutes(app, gateway);
  addSystemRoutes(app, gateway);
  addSessionRoutes(app, gateway);
  addSessionLifecycleRoutes(app, gateway);
  addMessageRoutes(app, gateway);
  addContextRoutes(app, gateway);
  addLayerRoutes(app, gateway);
  addRecallRoutes(app, gateway);
  addSearchRoute(app, gateway);
  addMemoryRoutes(app, gateway);
  addTurnRoutes(app, gateway);
  addGrantRoutes(app, gateway);
  addOwnerRoutes(app, gateway);
  addTokenRoutes(app, gateway);
  addAuditRoutes(app, gateway);
  addPersonRoutes(app, gateway);
  addImportRoutes(app, gateway);
  addJobRoutes(app, gateway);
  addHookRoutes(app, gateway);
  addExportRoute(app, gateway);
  addEventRoute(app, gateway);
  addDocumentRoute(app);
  addMcpRoute(app, gateway);
  addMetricsRoute(app, gateway);
  return app;
}
