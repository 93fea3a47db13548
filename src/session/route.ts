import { findCanonicalPeer, hasOwners, isOwnerPeer, type Owners } from "../authorization/index.ts";
import { parseSessionKey, printSessionKey, type RoomType, type SessionKey, type ThreadRef } from "../domain/index.ts";

export type DmScope = "main" | "per-peer" | "per-channel-peer" | "per-account-channel-peer";

export interface RoutingSettings {
  agent: string;
  dmScope: DmScope;
  mainKey: string;
  /** Canonical peer → the peers that are the same person, as `peer` or `channel:peer`. */
  identityLinks: Record<string, string[]>;
  /** The owner's peers by channel. When there are any, direct chats of others never share the main session. */
  owners: Owners;
}

/** Where a message comes from. `key` names the session directly and takes precedence over everything else. */
export interface Address {
  agent?: string;
  key?: string;
  channel?: string;
  account?: string;
  peer?: string;
  group?: { type: RoomType; id: string; thread?: ThreadRef };
  /** A thread of a direct chat. */
  thread?: ThreadRef;
}

/** The session key of an address, normalised. */
export function routeAddress(address: Address, settings: RoutingSettings): SessionKey {
  const agent = address.agent ?? settings.agent;
  if (address.key !== undefined) {
    const key = parseSessionKey(address.key);
    return key.kind === "pair" ? directKey(agent, { channel: key.channel, peer: key.userId }, settings) : key;
  }
  if (address.group) {
    const { type: room, id, thread } = address.group;
    return normalise({ kind: "group", agent, channel: address.channel ?? "local", room, id, thread });
  }
  return directKey(agent, address, settings);
}

function directKey(agent: string, from: Address, settings: RoutingSettings): SessionKey {
  const { peer, channel, account, thread } = from;
  if (peer === undefined || (settings.dmScope === "main" && isOwners(settings, channel, peer))) {
    return normalise({ kind: "main", agent, name: settings.mainKey, thread });
  }
  const canonical = findCanonicalPeer(peer, channel, settings.identityLinks) ?? avoidNames(peer, channel, settings);
  if (settings.dmScope === "per-peer" || channel === undefined) {
    return normalise({ kind: "direct", agent, peer: canonical, thread });
  }
  if (settings.dmScope !== "per-account-channel-peer" || account === undefined) {
    return normalise({ kind: "direct", agent, channel, peer: canonical, thread });
  }
  return normalise({ kind: "direct", agent, channel, account, peer: canonical, thread });
}

/** A peer that merely has the name of a linked person is somebody else, and keeps an id that cannot be that name. */
function avoidNames(peer: string, channel: string | undefined, { identityLinks }: RoutingSettings): string {
  const isName = Object.keys(identityLinks).some((name) => name.toLowerCase() === peer.toLowerCase());
  return isName ? `${channel ?? "local"}:${peer}` : peer;
}

/** Whether a direct chat belongs to the owner. Without `turn.owners` all of them do. */
function isOwners({ owners, identityLinks }: RoutingSettings, channel: string | undefined, peer: string): boolean {
  if (!hasOwners(owners) || isOwnerPeer(owners, channel, peer)) return true;
  const canonical = findCanonicalPeer(peer, channel, identityLinks);
  return canonical !== undefined && isOwnerPeer(owners, channel, canonical);
}

/** Normalises case and checks every part, through the string form of the key. */
function normalise(key: SessionKey): SessionKey {
  return parseSessionKey(printSessionKey(key));
}
