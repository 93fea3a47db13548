import type { MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { VarveError } from "../domain/index.ts";
import type { GatewayContext, GatewayEnv } from "./context.ts";

export function limitBody(gateway: GatewayContext): MiddlewareHandler<GatewayEnv> {
  const maxSize = gateway.settings.bodyLimitBytes;
  return bodyLimit({
    maxSize,
    onError: () => {
      throw new VarveError("TOO_LARGE", `The request body is larger than ${maxSize} bytes.`, {
        remedy: "Split it into several requests, or raise gateway.bodyLimitBytes.",
        details: { limitBytes: maxSize },
      });
    },
  });
}
