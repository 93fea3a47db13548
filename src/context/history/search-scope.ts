import { type Requester, resolveVisibility, type Visibility } from "../../authorization/index.ts";
import type { Config } from "../../config/index.ts";
import { VarveError } from "../../domain/index.ts";
import type { Session, SessionService } from "../../session/index.ts";
import type { Store } from "../../store/index.ts";
import { listAncestors } from "../../transcript/index.ts";
import type { Grant } from "./grants.ts";

/** Which conversations a question is about. The principal or a grant limits them. */
export interface SearchScope extends Requester {
  /** Without anything else, its own conversation and those it was forked from. */
  session?: Session;
  /** A session key, a session id, or a conversation's number. */
  conversationId?: string;
  allConversations?: boolean;
  /** A delegated reader sees no more than its grant names. */
  grant?: Grant;
}

export interface ScopeResolver {
  store: Store;
  config: Config;
  sessions: Pick<SessionService, "get">;
}

/** Resolves the visibility of a question: the conversations it names, limited by its principal and its grant. */
export async function resolveSearchScope(resolver: ScopeResolver, scope: SearchScope): Promise<Visibility> {
  const { grant, session, principal } = scope;
  const agent = grant?.agent ?? session?.agent ?? scope.agent;
  const visibility = resolveVisibility(resolver.config, { principal, agent });
  const named = await listNamed(resolver, visibility.agent, scope);
  const allowed = grant ? intersect(visibility.conversations, grant.conversations) : visibility.conversations;
  if (named === undefined) return { ...visibility, conversations: allowed };
  const conversations = intersect(allowed, named);
  if (grant && scope.conversationId !== undefined && conversations.length === 0) {
    throw new VarveError("REFUSED", `The grant ${grant.id} does not open the conversation ${scope.conversationId}.`, {
      remedy: "Leave conversationId out: the grant's own conversations are searched then.",
    });
  }
  return { ...visibility, conversations };
}

/** An id is unique, so it is looked up in all conversations unless the caller is limited to some. */
export function widenScope({ session, ...scope }: SearchScope): SearchScope {
  return { ...scope, agent: session?.agent ?? scope.agent };
}

function intersect(allowed: readonly number[] | undefined, wanted: readonly number[]): number[] {
  return allowed === undefined ? [...wanted] : wanted.filter((one) => allowed.includes(one));
}

async function listNamed(resolver: ScopeResolver, agent: string, scope: SearchScope): Promise<number[] | undefined> {
  const { conversationId, allConversations, session } = scope;
  const conversation =
    conversationId !== undefined
      ? await findConversation(resolver, agent, conversationId)
      : allConversations
        ? undefined
        : session?.conversation;
  if (conversation === undefined) return undefined;
  // The active branch of a fork continues in the conversations it was forked from.
  return [conversation, ...(await listAncestors(resolver.store, { agent, conversation }))];
}

async function findConversation({ store, sessions }: ScopeResolver, agent: string, name: string): Promise<number> {
  if (!/^\d{1,15}$/.test(name)) {
    const session = await sessions.get(name, agent);
    // A key may name a session of another agent.
    if (session.agent === agent) return session.conversation;
    throw new VarveError("SESSION_NOT_FOUND", `The agent ${agent} has no session ${JSON.stringify(name)}.`, {
      remedy: "Send a session key or a session id of this agent; session_list shows them.",
    });
  }
  const row = await store.db
    .selectFrom("conversations")
    .select("id")
    .where("agent", "=", agent)
    .where("id", "=", Number(name))
    .executeTakeFirst();
  if (row) return row.id;
  throw new VarveError("NOT_FOUND", `There is no conversation ${name}.`, {
    remedy: "Send a session key or a session id; session_list shows them.",
  });
}
