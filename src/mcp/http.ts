import { createMcpHandler } from "@modelcontextprotocol/server";
import { VarveError } from "../domain/index.ts";
import type { Varve } from "../engine.ts";
import { createServer, type McpOptions } from "./server.ts";

/** MCP over HTTP. It keeps nothing between two requests: each brings along for whom it is. */
export interface McpDoor {
  /** Answers a request in the setting of the options. Who may ask for that setting was found out before. */
  handle(request: Request, options: McpOptions): Promise<Response>;
  close(): Promise<void>;
}

const subscriptionsMax = 100;

export function createMcpDoor(varve: Varve, onFailure: (error: unknown) => void): McpDoor {
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const options = authInfo?.extra?.options as McpOptions | undefined;
      if (!options) throw new VarveError("INTERNAL", "A request came to MCP without its setting.");
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
