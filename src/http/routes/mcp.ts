import { hasRight } from "../../authorization/index.ts";
import { keyLengthMax, VarveError } from "../../domain/index.ts";
import type { McpDoor, McpOptions } from "../../mcp/index.ts";
import type { GatewayApp, GatewayHost } from "../context.ts";
import { boundAgent, type TokenPrincipal } from "../tokens.ts";

/** The tools over MCP. The package behind it is large, so it is loaded when somebody first asks. */
export function addMcpRoute(app: GatewayApp, host: GatewayHost): void {
  let opened: Promise<McpDoor> | undefined;
  const open = async (): Promise<McpDoor> => {
    const { createMcpDoor } = await import("../../mcp/index.ts");
    const door = createMcpDoor(host.varve, (error) =>
      host.log({ event: "error", method: "POST", path: "/mcp", error }),
    );
    host.closers.push(() => door.close());
    return door;
  };
  app.post("/mcp", async (c) => {
    const options = settingFor(c.get("principal"), c.req.header("x-varve-session"), c.req.header("x-varve-grant"));
    opened ??= open();
    const door = await opened;
    const answer = await door.handle(c.req.raw, options);
    // Made anew so that the headers of the guards are on it.
    return c.newResponse(answer.body, answer);
  });
}

/** In which setting the tools are used: a session or a grant that the client names, within what its token may see. */
function settingFor(principal: TokenPrincipal, session: string | undefined, grant: string | undefined): McpOptions {
  if (session !== undefined && grant !== undefined) {
    throw new VarveError("BAD_REQUEST", "Both X-Varve-Session and X-Varve-Grant are sent.", {
      remedy: "A delegated reader sends its grant alone.",
    });
  }
  if ((session ?? grant ?? "x").length > keyLengthMax || session === "" || grant === "") {
    throw new VarveError(
      "BAD_REQUEST",
      `X-Varve-Session or X-Varve-Grant is empty or longer than ${keyLengthMax} characters.`,
      {
        remedy: "Send a session key or a session id, or the id of a grant; or leave the header out.",
      },
    );
  }
  const bound = {
    principal,
    agent: boundAgent(principal),
    ...(hasRight(principal, "write") ? {} : { readOnly: true }),
  };
  return { ...bound, ...(session === undefined ? {} : { session }), ...(grant === undefined ? {} : { grant }) };
}
