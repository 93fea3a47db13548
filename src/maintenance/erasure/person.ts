import {
  findCanonicalPeer,
  type IdentityLinks,
  isSamePeer,
  listAudiences,
  type Peer,
  parsePeerName,
  parsePerson,
  printPeerName,
  printPerson,
  resolvePeer,
} from "../../authorization/index.ts";
import { VarveError } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";

/** A person, by every id they have. */
export interface Person {
  /** One without a channel stands for the id in every channel. */
  peers: readonly Peer[];
  /** The peers as settings name them: `telegram:5054873275`. */
  forms: readonly string[];
  /** The audiences of their conversations, and their memory scopes. */
  audiences: readonly string[];
}

/**
 * Resolves the id of a person through identity links and the conversations in the store. An id without a channel is
 * refused when it belongs to chats of several channels that no link connects: they may be different people.
 */
export async function resolvePerson({ db }: Store, id: string, links: IdentityLinks): Promise<Person> {
  const given = id.trim().replace(/^user:/i, "");
  if (given === "") {
    throw new VarveError("BAD_REQUEST", "The id of the person is empty.", {
      remedy:
        "Name a person as their channel does, such as telegram:5054873275, or by a name of session.identityLinks.",
    });
  }
  const named = parsePeerName(given);
  const name = findLinkName(given, named, links);
  const linkedPeers = (name === undefined ? [] : (links[name] ?? [])).map(parsePeerName);
  const peers = name === undefined ? [resolvePeer(named.channel, named.peer, links)] : [{ peer: name }, ...linkedPeers];
  const linked = name === undefined ? [] : listAudiences(printPerson({ peer: name }), links);
  const stored = await db
    .selectFrom("conversations")
    .select("audience")
    .distinct()
    .where("audience", "like", "user:%")
    .execute();
  const found = stored.flatMap(({ audience }) => {
    const person = audience === null ? undefined : parsePerson(audience);
    return audience !== null && person && peers.some((peer) => isPeerOf(person, peer)) ? [audience] : [];
  });
  const unlinked = found.filter((audience) => !linked.includes(audience));
  const channels = new Set(unlinked.map((audience) => parsePerson(audience)?.channel));
  if (name === undefined && named.channel === undefined && channels.size > 1) throw ambiguous(given, found);
  return {
    peers,
    forms: [...new Set(peers.map(printPeerName))],
    audiences: [...new Set([...linked, ...found, ...peers.map(printPerson)])],
  };
}

/** The name of the linked person that an id means: the name itself, or one of its peers. */
function findLinkName(given: string, { channel, peer }: Peer, links: IdentityLinks): string | undefined {
  const names = Object.keys(links);
  const named =
    names.find((name) => name === given) ?? names.find((name) => name.toLowerCase() === given.toLowerCase());
  return named ?? findCanonicalPeer(peer, channel, links);
}

function isPeerOf(person: Peer, peer: Peer): boolean {
  return (
    (person.isNamesake ?? false) === (peer.isNamesake ?? false) && isSamePeer(peer, { ...person, isNamesake: false })
  );
}

/** Whether a sender in a channel is the person. */
export function isSender({ peers }: Person, channel: string | undefined, sender: string): boolean {
  return peers.some((peer) => isSamePeer(peer, { channel, peer: sender }));
}

/** The peers without their channels, as they appear in messages. */
export function listPeers({ peers }: Person): string[] {
  return [...new Set(peers.flatMap((peer) => [peer.peer, printPeerName(peer)]))];
}

function ambiguous(id: string, found: readonly string[]): VarveError {
  const names = found.map((audience) => printPeerName(parsePerson(audience) ?? { peer: audience })).join(", ");
  return new VarveError("AMBIGUOUS", `${JSON.stringify(id)} belongs to chats of several channels: ${names}.`, {
    remedy: "Name one of them with its channel, or connect them in session.identityLinks if they are one person.",
    details: { found },
  });
}
