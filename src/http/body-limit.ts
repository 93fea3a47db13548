import type { MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { VarveError } from "../domain/index.ts";
import type { GatewayEnv, GatewayHost } from "./context.ts";

export function limitBody(host: GatewayHost): MiddlewareHandler<GatewayEnv> {
  const maxSize = host.settings.bodyLimitBytes;
  return bodyLimit({
    maxSize,
    onError: () => {
      throw new VarveError("TOO_LARGE", `The body is larger than ${maxSize} bytes.`, {
        remedy: "Send less at a time, or raise gateway.bodyLimitBytes.",
        details: { limitBytes: maxSize },
      });
    },
  });
}
