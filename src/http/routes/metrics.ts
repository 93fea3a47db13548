import { VarveError } from "../../domain/index.ts";
import type { GatewayApp, GatewayHost } from "../context.ts";
import { boundAgent } from "../tokens.ts";

/** Not part of the API's document: the format is Prometheus's own. */
export function addMetricsRoute(app: GatewayApp, { varve, metrics }: GatewayHost): void {
  app.get("/metrics", async (c) => {
    const agent = boundAgent(c.get("principal"));
    if (agent !== undefined) {
      throw new VarveError("FORBIDDEN", `The token is bound to the agent ${agent}; these numbers are of all of them.`, {
        remedy: "Use a token without an agent.",
      });
    }
    return c.body(await metrics.render(varve), 200, { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" });
  });
}
