import { escapeNamesake, escapeSegment, foldCase, foldId, readSegment, type SessionKey } from "../domain/index.ts";

/** Canonical peer → the peers that are the same person, as `peer` or `channel:peer`. */
export type IdentityLinks = Readonly<Record<string, readonly string[]>>;

/**
 * Whom a conversation belongs to, in the form of their memory scope: a person (`user:<channel>:<peer>`, or
 * `user:<name>` after identity links), a group (`group:<channel>:<id>`), or nobody but itself
 * (`session:<channel>:<id>`). A conversation of the owner has none.
 */
export type Audience = string;

/** The id of somebody in a channel. */
export interface Peer {
  channel?: string | undefined;
  peer: string;
  /** Whether the peer merely has the name of a linked person. */
  isNamesake?: boolean;
}

/**
 * The audience that a session key names. Forks and sub-agents have the audience of the session they come from, and what
 * came through a door of its own has one that its key does not tell.
 */
export function getAudience(key: SessionKey): Audience | undefined {
  if (key.kind === "direct") return printPerson(key);
  if (key.kind === "group") return `group:${printChannel(key.channel)}:${escapeSegment(foldId(key.channel, key.id))}`;
  return undefined;
}

/** The audience of a person in a channel, before identity links. */
export function printPerson({ channel, peer, isNamesake }: Peer): Audience {
  const id = foldId(channel, peer);
  const segment = isNamesake ? escapeNamesake(id) : escapeSegment(id);
  return channel === undefined ? `user:${segment}` : `user:${printChannel(channel)}:${segment}`;
}

/** The audience of a client of the model proxy that has no access token, by the hash of its provider key. */
export function printProxyClient(keyHash: string): Audience {
  return printPerson({ channel: proxyChannel, peer: keyHash });
}

const proxyChannel = "proxy";

export function isProxyClient(audience: Audience): boolean {
  return audience.startsWith(`user:${proxyChannel}:`);
}

/** The audience of a conversation that belongs to nobody who is known: only the conversation itself reaches it. */
export function printItself(channel: string, id: string): Audience {
  return `session:${printChannel(channel)}:${escapeSegment(id)}`;
}

function printChannel(channel: string): string {
  return escapeSegment(foldCase(channel));
}

export function isPerson(audience: Audience): boolean {
  return audience.startsWith("user:");
}

/** The person of an audience; undefined for that of a group or of a conversation alone. */
export function parsePerson(audience: Audience): Peer | undefined {
  if (!isPerson(audience)) return undefined;
  const [first = "", ...rest] = audience.slice("user:".length).split(":");
  if (rest.length === 0) return toPeer(undefined, first);
  return toPeer(readSegment(first).id, rest.join(":"));
}

function toPeer(channel: string | undefined, segment: string): Peer {
  const { id, isNamesake } = readSegment(segment);
  return { ...(channel === undefined ? {} : { channel }), peer: id, ...(isNamesake ? { isNamesake } : {}) };
}

const channelName = /^[a-z0-9][a-z0-9_-]*$/i;

/** A peer as settings name it: `channel:peer`, or a peer of any channel. Matrix ids contain a colon themselves. */
export function parsePeerName(text: string): Peer {
  const at = text.indexOf(":");
  const channel = at === -1 ? "" : text.slice(0, at);
  if (!channelName.test(channel)) return { peer: readSegment(text).id };
  return { channel: foldCase(channel), peer: readSegment(text.slice(at + 1)).id };
}

/** A peer as settings name it. */
export function printPeerName({ channel, peer }: Peer): string {
  return channel === undefined ? peer : `${channel}:${peer}`;
}

/** Whether a peer is the named one; a name without a channel stands for the id in every channel. */
export function isSamePeer(named: Peer, { channel, peer, isNamesake }: Peer): boolean {
  if (isNamesake) return false;
  if (named.channel !== undefined && named.channel !== foldCase(channel ?? "")) return false;
  return foldId(channel, named.peer) === foldId(channel, peer);
}

/** The canonical peer that a peer of a channel is linked to; undefined for a peer without a link. */
export function findCanonicalPeer(peer: string, channel: string | undefined, links: IdentityLinks): string | undefined {
  const asked = { channel, peer };
  return Object.entries(links).find(([, peers]) => peers.some((name) => isSamePeer(parsePeerName(name), asked)))?.[0];
}

/** The name in `session.identityLinks` that an id has; earlier versions stored names in lower case. */
function findName(id: string, links: IdentityLinks): string | undefined {
  return Object.keys(links).find((name) => name === id) ?? Object.keys(links).find((name) => name.toLowerCase() === id);
}

/** A peer of a channel after identity links: the name of the linked person, or an id that cannot be such a name. */
export function resolvePeer(channel: string | undefined, peer: string, links: IdentityLinks): Peer {
  const canonical = findCanonicalPeer(peer, channel, links);
  if (canonical !== undefined) return { channel, peer: canonical };
  const isNamesake = Object.keys(links).some((name) => name.toLowerCase() === peer.toLowerCase());
  return { channel, peer, ...(isNamesake ? { isNamesake } : {}) };
}

/** The linked person whom an audience belongs to. */
function findLinkedName({ channel, peer, isNamesake }: Peer, links: IdentityLinks): string | undefined {
  if (isNamesake) return undefined;
  const canonical = findCanonicalPeer(peer, channel, links);
  if (canonical !== undefined) return canonical;
  const name = findName(peer, links);
  if (name === undefined || channel === undefined) return name;
  // The key of a linked person has their name within the channels of their peers.
  const isLinkedThere = links[name]?.some((linked) => {
    const { channel: named = foldCase(channel) } = parsePeerName(linked);
    return named === foldCase(channel);
  });
  return isLinkedThere ? name : undefined;
}

/** The audience after identity links: all linked peers of a person have the same one. */
export function resolveAudience(audience: Audience, links: IdentityLinks): Audience {
  const person = parsePerson(audience);
  const name = person && findLinkedName(person, links);
  return name === undefined ? audience : printPerson({ peer: name });
}

/**
 * Every form under which a person's conversations and memories may be stored: the canonical one, the peers that were
 * linked to it later, the canonical peer within the channels of those peers, and its name in lower case.
 */
export function listAudiences(audience: Audience, links: IdentityLinks): Audience[] {
  const person = parsePerson(audience);
  const name = person && person.channel === undefined && !person.isNamesake ? person.peer : undefined;
  if (name === undefined || !Object.hasOwn(links, name)) return [audience];
  const lowered = name.toLowerCase();
  const names = Object.hasOwn(links, lowered) ? [name] : [name, lowered];
  const peers = (links[name] ?? []).map(parsePeerName);
  const forms = peers.flatMap((peer) => [
    printPerson(peer),
    ...(peer.channel === undefined ? [] : names.map((one) => printPerson({ channel: peer.channel, peer: one }))),
  ]);
  return [...new Set([...names.map((one) => printPerson({ peer: one })), ...forms])];
}

/** Ids by channel: the owner's own, or those of people who may use the owner's commands. */
export type Owners = Readonly<Record<string, readonly string[]>>;

/** Groups ids by channel. A channel may have the name of a property that every object has. */
export function groupOwners(ids: Iterable<Peer & { channel: string }>, known: Owners = {}): Owners {
  const owners: Record<string, readonly string[]> = Object.assign(Object.create(null), known);
  for (const { channel, peer } of ids) owners[channel] = [...(owners[channel] ?? []), peer];
  return owners;
}

export function hasOwners(owners: Owners): boolean {
  return Object.values(owners).some((peers) => peers.length > 0);
}

/** The name under which lists of ids have those of no channel. */
export const localChannel = "local";

/** Whether a list of ids by channel names the person of an audience, as this or another of their linked peers. */
export function isListed(list: Owners, links: IdentityLinks, audience: Audience): boolean {
  if (!isPerson(audience)) return false;
  const person = resolveAudience(audience, links);
  return Object.entries(list).some(([given, peers]) => {
    const channel = foldCase(given) === localChannel ? undefined : given;
    return peers.some((peer) => resolveAudience(printPerson({ channel, peer }), links) === person);
  });
}

/** The audience of a peer of a channel, after identity links. */
export function getPeerAudience(channel: string | undefined, peer: string, links: IdentityLinks): Audience {
  return resolveAudience(printPerson(resolvePeer(channel, peer, links)), links);
}

/** Every form under which conversations and memories of the owner's peers may be stored. */
export function listOwnersAudiences(owners: Owners, links: IdentityLinks): Audience[] {
  const forms = Object.entries(owners).flatMap(([channel, peers]) =>
    peers.flatMap((peer) => {
      const own = printPerson({ channel: foldCase(channel) === localChannel ? undefined : channel, peer });
      return [own, ...listAudiences(resolveAudience(own, links), links)];
    }),
  );
  return [...new Set(forms)];
}
