import { getOwn } from "../domain/index.ts";
import {
  type Audience,
  hasOwners,
  type IdentityLinks,
  isPerson,
  listAudiences,
  type Owners,
  resolveAudience,
} from "./people.ts";
import type { Principal } from "./principal.ts";
import { agentScope, reflectionScope } from "./scope-names.ts";

/** How far recall, search, tools and commands reach from within a conversation. */
export type RecallVisibility = "agent" | "person" | "session";

export interface ReachSettings {
  session: { dmScope: string; identityLinks: IdentityLinks };
  turn: { owners: Owners };
  recall: { visibility?: RecallVisibility };
  memory: { agentScopes: Readonly<Record<string, readonly string[]>> };
}

/** What can be seen from within a conversation. */
export interface Reach {
  /** The audiences whose conversations are seen; `own` for the conversation itself only; undefined for all. */
  conversations?: readonly Audience[] | "own";
  /** The memory scopes that are read; undefined for those of the agent. */
  scopes?: readonly string[];
  /** The memory scopes that may be written, the default one first; undefined for all that are read. */
  writableScopes?: readonly string[];
}

/**
 * What a conversation reaches. That of the owner reaches everything of the agent. A direct chat of another person
 * reaches that person's conversations and memories, and a group only its own: not even the speaker's direct chats, because
 * everybody in the group reads the reply.
 */
export function resolveReach(settings: ReachSettings, agent: string, audience: Audience | undefined): Reach {
  const { visibility } = settings.recall;
  if (audience === undefined || isOwnersChat(settings, audience))
    return visibility === "session" ? { conversations: "own" } : {};
  const { identityLinks } = settings.session;
  const own = listAudiences(resolveAudience(audience, identityLinks), identityLinks);
  const open = getOwn(settings.memory.agentScopes, agent) ?? listSharedScopes(settings, agent);
  // An agent without scopes has no memory, by configuration.
  const hasMemory = open.length > 0;
  // Reflections are about everything that was said to the agent.
  const shared = visibility === "agent" ? [...open, reflectionScope(agent)] : open;
  const writable = isOwner(settings, audience) ? [...own.slice(0, 1), ...open] : own.slice(0, 1);
  return {
    ...(visibility === "agent" ? {} : { conversations: visibility === "session" ? "own" : own }),
    scopes: hasMemory ? [...own, ...shared] : [],
    writableScopes: hasMemory ? writable : [],
  };
}

/**
 * The scopes that everybody who uses an agent reads. That of a personal agent holds what its owner told it, so it is not
 * among them.
 */
export function listSharedScopes({ session, recall }: ReachSettings, agent: string): string[] {
  const isPersonal = session.dmScope === "main" && recall.visibility !== "agent";
  return isPersonal ? ["global"] : [agentScope(agent), "global"];
}

/** Who speaks in a conversation, for what is learned from it. */
export function resolveSpeaker(settings: ReachSettings, audience: Audience | undefined): "owner" | "person" | "group" {
  if (audience === undefined || isOwnersChat(settings, audience) || isOwner(settings, audience)) return "owner";
  return isPerson(audience) ? "person" : "group";
}

/** A personal agent's direct chats belong to its owner, as long as nobody else is named or every peer is an owner. */
function isOwnersChat({ session, turn }: ReachSettings, audience: Audience): boolean {
  return isPerson(audience) && session.dmScope === "main" && !hasOwners(turn.owners);
}

/** Whether the direct chat is one of an owner's peers. */
function isOwner({ session: { identityLinks }, turn }: ReachSettings, audience: Audience): boolean {
  const person = resolveAudience(audience, identityLinks);
  return Object.entries(turn.owners).some(([channel, peers]) =>
    peers.some((peer) => {
      const names = [`user:${channel}:${peer}`, `user:${peer}`].map((name) => name.toLowerCase());
      return names.some((name) => resolveAudience(name, identityLinks) === person);
    }),
  );
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
