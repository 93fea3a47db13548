import { listSharedScopes, narrowPrincipal, owner, type Principal, resolveReach } from "../authorization/index.ts";
import type { Config } from "../config/index.ts";
import { getOwn, parseSessionKey } from "../domain/index.ts";
import type { Store } from "../store/index.ts";
import { listAncestors } from "../transcript/index.ts";
import type { Session } from "./session.ts";

/**
 * The principal that acts from within a session: recall, search, tools and commands use it. It sees no more than the
 * given one, and no more than the person or group of the session may see.
 */
export async function resolveSessionPrincipal(
  store: Store,
  config: Config,
  session: Session,
  principal: Principal = owner,
): Promise<Principal> {
  const { agent, conversation, audience } = session;
  const { conversations, ...reach } = isOrphan(config, session)
    ? { conversations: "own" as const, scopes: listSharedScopes(config, agent), writableScopes: [] }
    : resolveReach(config, agent, audience);
  if (conversations === undefined) {
    const groups = audience === undefined ? await listGroupScopes(store, config, session) : [];
    if (groups.length > 0 && principal.scopes === undefined) return { ...principal, addedScopes: groups };
    return narrowPrincipal(principal, reach);
  }
  const seen = conversations === "own" ? [conversation] : await listConversations(store, agent, conversations);
  // A fork continues in the conversations it was forked from.
  const ancestors = await listAncestors(store, { agent, conversation });
  return narrowPrincipal(principal, { ...reach, conversations: [...new Set([...seen, conversation, ...ancestors])] });
}

/** A sub-agent of a shared agent whose starter is unknown may work for anybody, so it sees nothing of others. */
function isOrphan({ session: { dmScope } }: Config, { key, audience, parentKey }: Session): boolean {
  const isUnknown = audience === undefined && parentKey === undefined;
  return dmScope !== "main" && isUnknown && parseSessionKey(key).kind === "subagent";
}

async function listConversations(store: Store, agent: string, audiences: readonly string[]): Promise<number[]> {
  const rows = await store.db
    .selectFrom("conversations")
    .select("id")
    .where("agent", "=", agent)
    .where("audience", "in", audiences)
    .execute();
  return rows.map((row) => row.id);
}

/** The owner sees what was learned in the groups of the agent. */
async function listGroupScopes(store: Store, config: Config, { agent }: Session): Promise<string[]> {
  if (getOwn(config.memory.agentScopes, agent) !== undefined) return [];
  const rows = await store.db
    .selectFrom("conversations")
    .select("audience")
    .distinct()
    .where("agent", "=", agent)
    .where("audience", "is not", null)
    .where("audience", "like", "group:%")
    .execute();
  return rows.flatMap(({ audience }) => audience ?? []);
}
