import { getOwn } from "../domain/index.ts";
import {
  type Audience,
  hasOwners,
  type IdentityLinks,
  isListed,
  isPerson,
  isProxyClient,
  listAudiences,
  type Owners,
  resolveAudience,
} from "./people.ts";
import type { Principal } from "./principal.ts";
import { agentScope, reflectionScope } from "./scope-names.ts";

/** How far recall, search, tools and commands reach from within a conversation. */
export type RecallVisibility = "agent" | "person" | "session";

/**
 * Which direct chats share a conversation. `auto`: those of the owner. `main`: the same, and everybody's while no owner
 * is named. The others give everybody a conversation of their own, also the owner.
 */
export type DmScope = "auto" | "main" | "per-peer" | "per-channel-peer" | "per-account-channel-peer";

export interface ReachSettings {
  session: { dmScope: DmScope; identityLinks: IdentityLinks };
  recall: { visibility?: RecallVisibility };
  memory: { agentScopes: Readonly<Record<string, readonly string[]>> };
}

/** The reach of a conversation. */
export interface Reach {
  /** The audiences whose conversations are seen; `own` for the conversation itself only; undefined for all. */
  conversations?: readonly Audience[] | "own";
  /** The memory scopes that are read; undefined for those of the agent. */
  scopes?: readonly string[];
  /** The memory scopes that may be written, the default one first; undefined for all that are read. */
  writableScopes?: readonly string[];
}

/** Whether an agent has an owner whose direct chats are one conversation, apart from everybody else's. */
export function isPersonal(dmScope: DmScope): boolean {
  return dmScope === "auto" || dmScope === "main";
}

/** Whether direct chats of a person belong to the owner. */
export function isOwnersChat(
  { session: { dmScope, identityLinks } }: Pick<ReachSettings, "session">,
  owners: Owners,
  audience: Audience,
): boolean {
  if (!isPersonal(dmScope) || !isPerson(audience)) return false;
  return (dmScope === "main" && !hasOwners(owners)) || isListed(owners, identityLinks, audience);
}

/**
 * Resolves the reach of a conversation. The owner reaches everything of the agent. A direct chat of another person
 * reaches that person's conversations and memories, and a group only its own: not even the speaker's direct chats, because
 * everybody in the group reads the reply. A conversation of nobody reaches itself.
 */
export function resolveReach(
  settings: ReachSettings,
  owners: Owners,
  agent: string,
  audience: Audience | undefined,
): Reach {
  const { visibility } = settings.recall;
  if (audience === undefined || isOwnersChat(settings, owners, audience))
    return visibility === "session" ? { conversations: "own" } : {};
  const { identityLinks } = settings.session;
  const own = listAudiences(resolveAudience(audience, identityLinks), identityLinks);
  const open = getOwn(settings.memory.agentScopes, agent) ?? listSharedScopes(settings, agent);
  // An agent without scopes has no memory, by configuration.
  const hasMemory = open.length > 0;
  // Reflections are about everything that was said to the agent.
  const shared = visibility === "agent" ? [...open, reflectionScope(agent)] : open;
  const isOwner = isListed(owners, identityLinks, audience);
  const writable = isOwner ? [...own.slice(0, 1), ...open] : own.slice(0, 1);
  const isAlone = visibility === "session" || isNobodys(audience);
  return {
    ...(visibility === "agent" && !isNobodys(audience) ? {} : { conversations: isAlone ? "own" : own }),
    scopes: hasMemory ? [...own, ...shared] : [],
    writableScopes: hasMemory ? writable : [],
  };
}

/** Whether an audience is that of a conversation which belongs to nobody but itself. */
export function isNobodys(audience: Audience): boolean {
  return audience.startsWith("session:");
}

/**
 * The scopes that everybody who uses an agent reads. That of a personal agent holds what its owner told it, so it is not
 * among them.
 */
export function listSharedScopes({ session, recall }: ReachSettings, agent: string): string[] {
  return isPersonal(session.dmScope) && recall.visibility !== "agent" ? ["global"] : [agentScope(agent), "global"];
}

/** Who speaks in a conversation, for what is learned from it. */
export function resolveSpeaker(
  settings: ReachSettings,
  owners: Owners,
  audience: Audience | undefined,
): "owner" | "person" | "group" | "untrusted" {
  if (audience === undefined || isOwnersChat(settings, owners, audience)) return "owner";
  if (isListed(owners, settings.session.identityLinks, audience)) return "owner";
  if (isNobodys(audience) || isProxyClient(audience)) return "untrusted";
  return isPerson(audience) ? "person" : "group";
}

/** The principal that acts from within a conversation: never more than the given one. */
export function narrowPrincipal(
  principal: Principal,
  { scopes, writableScopes, conversations }: Omit<Reach, "conversations"> & { conversations?: readonly number[] },
): Principal {
  return {
    ...principal,
    ...limit("scopes", principal.scopes === "all" ? undefined : principal.scopes, scopes),
    ...limit("writableScopes", principal.writableScopes, writableScopes),
    ...limit("conversations", principal.conversations, conversations),
  };
}

function limit<K extends string, T>(
  name: K,
  given: readonly T[] | undefined,
  most: readonly T[] | undefined,
): { [N in K]?: readonly T[] } {
  if (most === undefined) return {};
  const kept = given === undefined ? most : most.filter((one) => given.includes(one));
  return { [name]: kept } as { [N in K]?: readonly T[] };
}
