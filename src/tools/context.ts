import { canUseAgent, owner, type Principal } from "../authorization/index.ts";
import type { ContextService, SearchScope } from "../context/index.ts";
import { VarveError } from "../domain/index.ts";
import type { MemoryService } from "../memory/index.ts";
import type { SearchService } from "../search/index.ts";
import type { Session, SessionService } from "../session/index.ts";

/** The services that tools call. */
export interface ToolServices {
  readonly context: ContextService;
  readonly search: SearchService;
  readonly memory: MemoryService;
  readonly sessions: SessionService;
}

/**
 * Where a tool is used: `open` by the owner of the memory, `session` inside a conversation, `delegated` by a reader with
 * a grant.
 */
export type ToolSetting = "open" | "session" | "delegated";

export interface ToolOptions {
  /** Who uses the tools, and what they may see; the owner when absent. */
  principal?: Principal;
  /** Whose memory; the agent of the settings when absent. */
  agent?: string;
  /** Whether only tools that change nothing are offered. */
  readOnly?: boolean;
  /** The session the tools are used in, or its key: its own conversation is meant when none is named. */
  session?: Session | string;
  /** The id of the grant that a delegated reader works under. */
  grant?: string;
}

/** The options of a tool with the services it calls, for one call. */
export interface ToolContext extends ToolOptions {
  services: ToolServices;
  signal?: AbortSignal;
}

export function resolveSetting({ session, grant }: ToolOptions): ToolSetting {
  if (grant !== undefined) return "delegated";
  return session === undefined ? "open" : "session";
}

/** Where a call is made, and what it may see there. */
interface Place {
  agent?: string;
  session?: Session;
  principal: Principal;
}

/**
 * The agent and the session of a call, and who asks there. Read every time: a session may have been renewed since.
 * From within a session no more is seen than its person or group may see.
 */
export async function resolvePlace(context: ToolContext): Promise<Place> {
  const { services, agent, session: given, principal = owner } = context;
  if (given === undefined) return { agent, principal };
  const session = await services.sessions.get(
    typeof given === "string" ? given : given.key,
    typeof given === "string" ? agent : given.agent,
  );
  if (!canUseAgent(principal, session.agent)) throw noSession(`There is no session ${JSON.stringify(session.key)}.`);
  return { agent: session.agent, session, principal: await services.sessions.resolvePrincipal(session, principal) };
}

/** Resolves the scope of a call. A grant is checked at every call, so that one that ended opens nothing. */
export async function resolveScope(
  context: ToolContext,
  input: { conversationId?: string; allConversations?: boolean },
): Promise<SearchScope> {
  context.signal?.throwIfAborted();
  const { conversationId, allConversations } = input;
  const { agent, session, principal } = await resolvePlace(context);
  const grant = context.grant === undefined ? undefined : await context.services.context.grant(context.grant, agent);
  return { principal, agent, session, grant, conversationId, allConversations };
}

export function noSession(message: string, cause?: unknown): VarveError {
  return new VarveError("SESSION_NOT_FOUND", message, {
    remedy: "Send a key or a session id that session_list shows.",
    cause,
  });
}
