import type { RequestListener } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { VarveError } from "../domain/index.ts";
import { createApp } from "./app.ts";
import type { GatewayContext } from "./context.ts";

/** Creates the app of a gateway and the listener that passes requests to it. */
export function createAppListener(gateway: GatewayContext): RequestListener {
  const app = createApp(gateway);
  return getRequestListener(app.fetch as Parameters<typeof getRequestListener>[0], {
    errorHandler: answerUnreadable,
    // The server drops bodies that are not read; see server.ts.
    autoCleanupIncoming: false,
  });
}

/** Answers what is not a valid request: a missing or malformed Host header or target. */
function answerUnreadable(error: unknown): Response {
  const fault = new VarveError("BAD_REQUEST", "The request's URL or Host header is malformed.", {
    remedy: "Send a valid URL and the Host header of this gateway.",
    cause: error,
  });
  return Response.json(fault.toJSON(), { status: fault.httpStatus, headers: { Connection: "close" } });
}
