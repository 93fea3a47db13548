import { VarveError } from "../../domain/index.ts";
import type { Varve } from "../../index.ts";
import { type McpOptions, serveOnStdio } from "../../mcp/index.ts";
import { type CommonOptions, listenForInterrupt, withVarve } from "../context.ts";

export interface McpFlags extends CommonOptions {
  session?: string;
  grant?: string;
}

/** Standard output carries the protocol, so all messages for people go to standard error. */
export async function mcpCommand({ session, grant, ...common }: McpFlags): Promise<void> {
  const signal = listenForInterrupt();
  await withVarve(common, async (varve) => {
    if (session !== undefined) await warnIfMissing(varve, session);
    if (grant !== undefined) await varve.context.grant(grant);
    const onFailure = (error: unknown): void => say(error instanceof Error ? error.message : String(error));
    const recordCall: McpOptions["recordCall"] = ({ tool, ...call }) =>
      varve.audit.record({ principal: "owner", action: `tool ${tool}`, ...call });
    await serveOnStdio(varve, { session, grant, signal, onFailure, recordCall });
  });
}

/** A session may be created after the server has started, so a missing one is not an error. */
async function warnIfMissing(varve: Varve, session: string): Promise<void> {
  try {
    await varve.sessions.get(session);
  } catch (error) {
    if (!(error instanceof VarveError && error.code === "SESSION_NOT_FOUND")) throw error;
    say(`There is no session ${JSON.stringify(session)} yet; the tools work as soon as it exists.`);
  }
}

function say(text: string): void {
  process.stderr.write(`varve: ${text}\n`);
}
