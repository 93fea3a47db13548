import { printPeerName } from "../../authorization/index.ts";
import { VarveError } from "../../domain/index.ts";
import type { Varve } from "../../index.ts";
import { type McpOptions, serveOnStdio } from "../../mcp/index.ts";
import { type CommonOptions, listenForInterrupt, withVarve } from "../context.ts";

export interface McpFlags extends CommonOptions {
  session?: string;
  grant?: string;
  channel?: string;
  peer?: string;
}

/** Standard output carries the protocol, so all messages for people go to standard error. */
export async function mcpCommand({ session, grant, channel, peer, ...common }: McpFlags): Promise<void> {
  checkPerson({ channel, peer });
  const signal = listenForInterrupt();
  await withVarve(common, async (varve) => {
    if (session !== undefined) await warnIfMissing(varve, session);
    if (grant !== undefined) await varve.context.grant(grant);
    const onFailure = (error: unknown): void => say(error instanceof Error ? error.message : String(error));
    const principal = channel === undefined || peer === undefined ? "owner" : printPeerName({ channel, peer });
    const recordCall: McpOptions["recordCall"] = ({ tool, ...call }) =>
      varve.audit.record({ principal, action: `tool ${tool}`, ...call });
    // The person's newest conversations are among what the tools see.
    const readPrincipal = peer === undefined ? undefined : () => varve.sessions.resolvePrincipal({ channel, peer });
    await serveOnStdio(varve, { session, grant, readPrincipal, signal, onFailure, recordCall });
  });
}

/** An empty id must not become the owner. */
function checkPerson({ channel, peer }: Pick<McpFlags, "channel" | "peer">): void {
  if (channel === undefined && peer === undefined) return;
  if (channel && peer) return;
  throw new VarveError("BAD_REQUEST", "A person has a channel and an id in it; one of them is missing or empty.", {
    remedy: "Use both: varve mcp --channel app --peer ID. Without them the tools are the owner's.",
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
