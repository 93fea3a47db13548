import type { Grant } from "../context/index.ts";
import { VarveError } from "../domain/index.ts";
import { findSession, type Session } from "../session/index.ts";
import { listAncestors } from "../transcript/index.ts";
import { type EngineHost, sessionSettings } from "./host.ts";
import { routedName } from "./sessions.ts";

/** Which conversations a question is about, and what bounds it. */
export interface Reach {
  agent?: string;
  /** The session that asks: without anything else, its own conversation and what that was forked from. */
  session?: Session;
  /** A session key, a session id, or a conversation's number. */
  conversationId?: string;
  allConversations?: boolean;
  /** A delegated reader sees no more than its grant names. */
  grant?: Grant;
}

/** The conversations of a reach; undefined for all of the agent's. */
export async function conversationsOf(host: EngineHost, reach: Reach): Promise<number[] | undefined> {
  const asked = await askedFor(host, reach);
  const { grant } = reach;
  if (!grant) return asked;
  if (asked === undefined) return grant.conversations;
  const foreign = asked.filter((one) => !grant.conversations.includes(one));
  if (reach.conversationId !== undefined && foreign.length === asked.length) {
    throw new VarveError("REFUSED", `The grant ${grant.id} does not open the conversation ${reach.conversationId}.`, {
      remedy: "Leave conversationId out: the grant's own conversations are searched then.",
    });
  }
  return asked.filter((one) => grant.conversations.includes(one));
}

async function askedFor(host: EngineHost, reach: Reach): Promise<number[] | undefined> {
  const agent = agentOf(host, reach);
  if (reach.conversationId !== undefined)
    return familyOf(host, agent, await conversationNamed(host, agent, reach.conversationId));
  if (reach.allConversations || !reach.session) return undefined;
  return familyOf(host, agent, reach.session.conversation);
}

export function agentOf(host: EngineHost, reach: Reach): string {
  return reach.grant?.agent ?? reach.session?.agent ?? reach.agent ?? host.loaded.config.agent;
}

/** A conversation and the ones it was forked from: what is on its branch may lie in either. */
async function familyOf(host: EngineHost, agent: string, conversation: number): Promise<number[]> {
  return [conversation, ...(await listAncestors(host.store, { agent, conversation }))];
}

async function conversationNamed(host: EngineHost, agent: string, name: string): Promise<number> {
  if (!/^\d{1,15}$/.test(name)) {
    const session = await findSession(host, routedName(name, sessionSettings(host.loaded)), agent);
    // A key may name another agent, whose conversations are none of this one's.
    if (session.agent === agent) return session.conversation;
    throw new VarveError("SESSION_NOT_FOUND", `The agent ${agent} has no session ${JSON.stringify(name)}.`, {
      remedy: "Send a session key or a session id of this agent; session_list shows them.",
    });
  }
  const row = await host.store.db
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
