import { VarveError } from "../../domain/index.ts";
import type { Varve } from "../../engine.ts";
import { serveOnStdio } from "../../mcp/index.ts";
import { type CommonOptions, interruptible, withVarve } from "../context.ts";

export interface McpFlags extends CommonOptions {
  session?: string;
  grant?: string;
}

/** Standard output belongs to the protocol; every word for people goes to standard error. */
export async function mcpCommand({ session, grant, ...common }: McpFlags): Promise<void> {
  const signal = interruptible();
  await withVarve(common, async (varve) => {
    if (session !== undefined) await noteAbsent(varve, session);
    if (grant !== undefined) await varve.context.grant(grant);
    const onFailure = (error: unknown): void => say(error instanceof Error ? error.message : String(error));
    await serveOnStdio(varve, { session, grant, signal, onFailure });
  });
}

/** A session may begin after its server does, so one that is not there yet is no failure. */
async function noteAbsent(varve: Varve, session: string): Promise<void> {
  try {
    await varve.sessions.get(session);
  } catch (error) {
    if (!(error instanceof VarveError && error.code === "SESSION_NOT_FOUND")) throw error;
    say(`There is no session ${JSON.stringify(session)} yet; the tools answer once there is.`);
  }
}

function say(text: string): void {
  process.stderr.write(`varve: ${text}\n`);
}
