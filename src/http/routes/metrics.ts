import { VarveError } from "../../domain/index.ts";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { boundAgent } from "../tokens.ts";

/** Serves the metrics for Prometheus; not part of the OpenAPI document. */
export function addMetricsRoute(app: GatewayApp, { varve, metrics }: GatewayContext): void {
  app.get("/metrics", async (c) => {
    const agent = boundAgent(c.get("principal"));
    if (agent !== undefined) {
      throw new VarveError(
        "FORBIDDEN",
        `The access token is bound to the agent ${agent}, but the metrics cover all agents.`,
        {
          remedy: "Use a token without an agent.",
        },
      );
    }
    return c.body(await metrics.render(varve), 200, { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" });
  });
}
