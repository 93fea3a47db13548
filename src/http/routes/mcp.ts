import { printCaller } from "../../authorization/index.ts";
import { keyLengthMax, VarveError } from "../../domain/index.ts";
import type { McpEndpoint, McpOptions } from "../../mcp/index.ts";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { boundAgent, type TokenPrincipal } from "../tokens.ts";

/** Serves the tools over MCP. The MCP package is large, so it is loaded on the first request. */
export function addMcpRoute(app: GatewayApp, gateway: GatewayContext): void {
  let opened: Promise<McpEndpoint> | undefined;
  const open = async (): Promise<McpEndpoint> => {
    const { createMcpEndpoint } = await import("../../mcp/index.ts");
    const endpoint = createMcpEndpoint(gateway.varve, (error) =>
      gateway.log({ event: "error", method: "POST", path: "/mcp", error }),
    );
    gateway.closers.push(() => endpoint.close());
    return endpoint;
  };
  app.post("/mcp", async (c) => {
    const [session, grant] = [c.req.header("x-varve-session"), c.req.header("x-varve-grant")];
    const options = resolveOptions(c.get("principal"), session, grant);
    opened ??= open();
    const endpoint = await opened;
    const caller = printCaller(c.get("principal"));
    const recordCall: McpOptions["recordCall"] = ({ tool, status, targets }) =>
      gateway.varve.audit.record({
        principal: caller,
        action: `tool ${tool}`,
        targets: {
          ...(session === undefined ? {} : { session }),
          ...(grant === undefined ? {} : { grant }),
          ...targets,
        },
        status,
      });
    const answer = await endpoint.handle(c.req.raw, { ...options, recordCall });
    // A new response, so that it gets the headers that the guards set.
    return c.newResponse(answer.body, answer);
  });
}

/** Returns the options of the tools: the session or grant that the client names, and the limits of its token. */
function resolveOptions(principal: TokenPrincipal, session: string | undefined, grant: string | undefined): McpOptions {
  if (session !== undefined && grant !== undefined) {
    throw new VarveError("BAD_REQUEST", "The request has both X-Varve-Session and X-Varve-Grant.", {
      remedy: "Send only one of them: a delegated reader sends X-Varve-Grant.",
    });
  }
  if ((session ?? grant ?? "x").length > keyLengthMax || session === "" || grant === "") {
    throw new VarveError(
      "BAD_REQUEST",
      `X-Varve-Session or X-Varve-Grant is empty or longer than ${keyLengthMax} characters.`,
      {
        remedy: "Send a session key, a session id or the id of a grant, or omit the header.",
      },
    );
  }
  const bound = { principal, agent: boundAgent(principal) };
  return { ...bound, ...(session === undefined ? {} : { session }), ...(grant === undefined ? {} : { grant }) };
}
