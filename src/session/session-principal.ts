import {
  isOwnersChat,
  isPersonal,
  listAudiences,
  listOwnersAudiences,
  listSharedScopes,
  narrowPrincipal,
  type Owners,
  owner,
  type Principal,
  resolveAudience,
  resolveReach,
} from "../authorization/index.ts";
import type { Config } from "../config/index.ts";
import { getOwn, parseSessionKey } from "../domain/index.ts";
import { prepareQuery, type Store } from "../store/index.ts";
import { listAncestors } from "../transcript/index.ts";
import { mergeOwners, ownerRows } from "./owner-rows.ts";
import type { Session } from "./session.ts";

/** The fields that decide how far a session reaches. */
export type SessionReach = Pick<Session, "agent" | "conversation" | "audience" | "key" | "parentKey">;

/**
 * The principal that acts from within a session: recall, search, tools and commands use it. It sees no more than the
 * given one, and no more than the person or group of the session may see.
 */
export async function resolveSessionPrincipal(
  store: Store,
  config: Config,
  session: SessionReach,
  principal: Principal = owner,
): Promise<Principal> {
  const { agent, conversation, audience } = session;
  const { identityLinks } = config.session;
  const forms = audience === undefined ? [] : listAudiences(resolveAudience(audience, identityLinks), identityLinks);
  const read = await readReach(store, { agent, conversation, forms });
  const owners = mergeOwners(config, read.owners);
  const { conversations, ...reach } = isOrphan(config, session)
    ? { conversations: "own" as const, scopes: listSharedScopes(config, agent), writableScopes: [] }
    : resolveReach(config, owners, agent, audience);
  if (conversations === undefined) {
    const isOwners = audience === undefined || isOwnersChat(config, owners, audience);
    const added = isOwners ? await listOwnersScopes(store, config, owners, agent) : [];
    if (added.length > 0 && principal.scopes === undefined) return { ...principal, addedScopes: added };
    return narrowPrincipal(principal, reach);
  }
  const seen = conversations === "own" ? [] : read.conversations;
  // A fork continues in the conversations it was forked from.
  const ancestors = read.isFork ? await listAncestors(store, { agent, conversation }) : [];
  return narrowPrincipal(principal, { ...reach, conversations: [...new Set([...seen, conversation, ...ancestors])] });
}

const firstBranch = prepareQuery((db, { agent, conversation }: { agent: string; conversation: number }) =>
  db
    .selectFrom("branches")
    .select("parent_conversation")
    .where("agent", "=", agent)
    .where("conversation", "=", conversation)
    .where("branch", "=", 1),
);

/** Reads the rows that decide how far a session reaches, in one round trip. */
async function readReach(
  store: Store,
  { agent, conversation, forms }: { agent: string; conversation: number; forms: readonly string[] },
) {
  const own = store.db
    .selectFrom("conversations")
    .select("id")
    .where("agent", "=", agent)
    .where("audience", "in", forms.length === 0 ? [""] : forms);
  const [owners, conversations, [first]] = await store.readBatch([
    ownerRows(store.db, { agent }),
    own,
    firstBranch(store.db, { agent, conversation }),
  ]);
  return { owners, conversations: conversations.map(({ id }) => id), isFork: first?.parent_conversation != null };
}

/** A sub-agent of a shared agent whose starter is unknown may work for anybody, so it sees nothing of others. */
function isOrphan(
  { session: { dmScope } }: Config,
  { key, audience, parentKey }: Pick<Session, "key" | "audience" | "parentKey">,
): boolean {
  const isUnknown = audience === undefined && parentKey === undefined;
  return !isPersonal(dmScope) && isUnknown && parseSessionKey(key).kind === "subagent";
}

/** Like `resolveSessionPrincipal`, for a caller that knows only the conversation. */
export async function resolveConversationPrincipal(
  store: Store,
  config: Config,
  { agent, conversation }: { agent: string; conversation: number },
): Promise<Principal> {
  const row = await store.db
    .selectFrom("conversations")
    .leftJoin("sessions", (join) =>
      join.onRef("sessions.agent", "=", "conversations.agent").onRef("sessions.conversation", "=", "conversations.id"),
    )
    .select(["conversations.key", "conversations.audience", "sessions.parent_key"])
    .where("conversations.agent", "=", agent)
    .where("conversations.id", "=", conversation)
    .executeTakeFirst();
  return resolveSessionPrincipal(store, config, {
    agent,
    conversation,
    key: row?.key ?? "global",
    ...(row?.audience == null ? {} : { audience: row.audience }),
    ...(row?.parent_key == null ? {} : { parentKey: row.parent_key }),
  });
}

/** The owner sees what was learned in the groups of the agent, and under ids that were named as the owner's later. */
async function listOwnersScopes(store: Store, config: Config, owners: Owners, agent: string): Promise<string[]> {
  if (getOwn(config.memory.agentScopes, agent) !== undefined) return [];
  const rows = await store.db
    .selectFrom("conversations")
    .select("audience")
    .distinct()
    .where("agent", "=", agent)
    .where("audience", "is not", null)
    .where("audience", "like", "group:%")
    .execute();
  const { identityLinks, dmScope } = config.session;
  const own = isPersonal(dmScope) ? listOwnersAudiences(owners, identityLinks) : [];
  return [...rows.flatMap(({ audience }) => audience ?? []), ...own];
}
