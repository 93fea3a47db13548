import { createMcpHandler } from "@modelcontextprotocol/server";
import { VarveError } from "../domain/index.ts";
import type { Varve } from "../index.ts";
import { createServer, type McpOptions } from "./server.ts";

/** Serves MCP over HTTP. It is stateless: each request carries its options. */
export interface McpEndpoint {
  /** Answers a request. The caller has checked that the client may use these options. */
  handle(request: Request, options: McpOptions): Promise<Response>;
  close(): Promise<void>;
}

const subscriptionsMax = 100;

export function createMcpEndpoint(varve: Varve, onFailure: (error: unknown) => void): McpEndpoint {
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const options = authInfo?.extra?.options as McpOptions | undefined;
      if (!options) throw new VarveError("INTERNAL", "An MCP request has no options.");
      return createServer(varve, { ...options, onFailure });
    },
    { maxSubscriptions: subscriptionsMax, onerror: onFailure },
  );
  return {
    handle: (request, options) =>
      handler.fetch(request, { authInfo: { token: "", clientId: "varve", scopes: [], extra: { options } } }),
    close: () => handler.close(),
  };
}
