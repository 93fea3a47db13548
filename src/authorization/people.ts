import type { SessionKey } from "../domain/index.ts";

/** Canonical peer → the peers that are the same person, as `peer` or `channel:peer`. */
export type IdentityLinks = Readonly<Record<string, readonly string[]>>;

/**
 * The person or group that a conversation belongs to, in the form of their memory scope: `user:<person>` or
 * `group:<channel>:<id>`. A conversation of the owner has none.
 */
export type Audience = string;

/** Programs that the owner works with. Their sessions have the form of direct chats, with the session id as the peer. */
const programs: ReadonlySet<string> = new Set([
  ...["chatgpt", "claude-ai", "claude-code", "codex", "pi", "openclaw", "lossless-claw", "jsonl", "proxy", "cli"],
]);

/** The audience that a session key names. Forks and sub-agents have the audience of the session they come from. */
export function getAudience(key: SessionKey): Audience | undefined {
  if (key.kind === "direct" && !programs.has(key.channel ?? "")) return `user:${joinPeer(key.channel, key.peer)}`;
  if (key.kind === "group") return `group:${key.channel}:${key.id}`;
  return undefined;
}

export function isPerson(audience: Audience): boolean {
  return audience.startsWith("user:");
}

function joinPeer(channel: string | undefined, peer: string): string {
  return (channel === undefined ? peer : `${channel}:${peer}`).toLowerCase();
}

/** The canonical peer that a peer of a channel is linked to; undefined for a peer without a link. */
export function findCanonicalPeer(peer: string, channel: string | undefined, links: IdentityLinks): string | undefined {
  const names = new Set([peer.toLowerCase(), joinPeer(channel, peer)]);
  return Object.entries(links).find(([, peers]) => peers.some((linked) => names.has(linked.toLowerCase())))?.[0];
}

/** The audience after identity links: all linked peers of a person have the same one. */
export function resolveAudience(audience: Audience, links: IdentityLinks): Audience {
  if (!isPerson(audience)) return audience;
  const linked = Object.keys(links).find((canonical) => listAudiences(`user:${canonical}`, links).includes(audience));
  return linked === undefined ? audience : `user:${linked.toLowerCase()}`;
}

/**
 * Every form under which a person's conversations and memories may be stored: the canonical one, the peers that were
 * linked to it later, and the canonical peer within the channels of those peers.
 */
export function listAudiences(audience: Audience, links: IdentityLinks): Audience[] {
  if (!isPerson(audience)) return [audience];
  const person = audience.slice("user:".length);
  const peers = Object.entries(links).find(([canonical]) => canonical.toLowerCase() === person)?.[1] ?? [];
  const forms = peers.flatMap((peer) => {
    const linked = peer.toLowerCase();
    const [channel, ...rest] = linked.split(":");
    return rest.length === 0 ? [linked] : [linked, `${channel}:${person}`];
  });
  return [...new Set([person, ...forms])].map((form) => `user:${form}`);
}

/** The owner's peers by channel. */
export type Owners = Readonly<Record<string, readonly string[]>>;

/** Whether a peer is the owner. Without `turn.owners` nobody is named, so the caller decides what that means. */
export function isOwnerPeer(owners: Owners, channel: string | undefined, peer: string | undefined): boolean {
  if (peer === undefined) return false;
  return listPeers(owners, channel).some((one) => one.toLowerCase() === peer.toLowerCase());
}

export function hasOwners(owners: Owners): boolean {
  return Object.values(owners).some((peers) => peers.length > 0);
}

function listPeers(owners: Owners, channel: string | undefined): readonly string[] {
  const found = Object.entries(owners).find(([name]) => name.toLowerCase() === (channel ?? "local").toLowerCase());
  return found?.[1] ?? [];
}
