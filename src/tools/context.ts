import { VarveError } from "../domain/index.ts";
import type { Session } from "../session/index.ts";
import type { ToolHost, ToolReach } from "./host.ts";

/**
 * Where a tool is used: `open` by whoever owns the memory, `session` inside a conversation, `delegated` by a reader that
 * was given a grant.
 */
export type ToolSetting = "open" | "session" | "delegated";

export interface ToolOptions {
  /** Whose memory; the agent of the settings when absent. */
  agent?: string;
  /** Whether nothing of another agent may be seen. */
  onlyAgent?: boolean;
  /** The only scopes of memories that may be seen and written; what the settings open for the agent when absent. */
  scopes?: readonly string[];
  /** Whether only tools that change nothing are offered. */
  readOnly?: boolean;
  /** The session the tools are used in, or its key: its own conversation is meant when none is named. */
  session?: Session | string;
  /** The id of the grant that a delegated reader works under. */
  grant?: string;
}

/** A tool's options with the engine behind them, for one call. */
export interface ToolContext extends ToolOptions {
  host: ToolHost;
  signal?: AbortSignal;
}

export function settingOf({ session, grant }: ToolOptions): ToolSetting {
  if (grant !== undefined) return "delegated";
  return session === undefined ? "open" : "session";
}

/** The agent and the session a call belongs to. Read anew each time: a session may have been renewed since. */
export async function placeOf(context: ToolContext): Promise<{ agent?: string; session?: Session }> {
  const { host, agent, session: given } = context;
  if (given === undefined) return { agent };
  const session = await host.sessions.get(
    typeof given === "string" ? given : given.key,
    typeof given === "string" ? agent : given.agent,
  );
  if (context.onlyAgent && agent !== undefined && session.agent !== agent)
    throw noSession(`There is no session ${JSON.stringify(session.key)}.`);
  return { agent: session.agent, session };
}

/** Which conversations a call may see. A grant is looked up at every call, so that one that ended opens nothing. */
export async function reachOf(
  context: ToolContext,
  input: { conversationId?: string; allConversations?: boolean },
): Promise<ToolReach> {
  context.signal?.throwIfAborted();
  const { conversationId, allConversations } = input;
  const { agent, session } = await placeOf(context);
  const grant = context.grant === undefined ? undefined : await context.host.context.grant(context.grant, agent);
  return { agent, session, grant, conversationId, allConversations };
}

export function noSession(message: string, cause?: unknown): VarveError {
  return new VarveError("SESSION_NOT_FOUND", message, {
    remedy: "Send a key or a session id that session_list shows.",
    cause,
  });
}
