import { parseSessionKey, printSessionKey, type RoomType, type SessionKey, type ThreadRef } from "../domain/index.ts";

export type DmScope = "main" | "per-peer" | "per-channel-peer" | "per-account-channel-peer";

export interface RoutingSettings {
  agent: string;
  dmScope: DmScope;
  mainKey: string;
  /** Canonical peer → the peers that are the same person, as `peer` or `channel:peer`. */
  identityLinks: Record<string, string[]>;
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
  if (settings.dmScope === "main" || peer === undefined) {
    return normalise({ kind: "main", agent, name: settings.mainKey, thread });
  }
  const canonical = canonicalPeer(peer, channel, settings.identityLinks);
  if (settings.dmScope === "per-peer" || channel === undefined) {
    return normalise({ kind: "direct", agent, peer: canonical, thread });
  }
  if (settings.dmScope === "per-channel-peer" || account === undefined) {
    return normalise({ kind: "direct", agent, channel, peer: canonical, thread });
  }
  return normalise({ kind: "direct", agent, channel, account, peer: canonical, thread });
}

function canonicalPeer(peer: string, channel: string | undefined, links: Record<string, string[]>): string {
  const names = new Set([peer.toLowerCase(), `${channel ?? ""}:${peer}`.toLowerCase()]);
  for (const [canonical, peers] of Object.entries(links)) {
    if (peers.some((linked) => names.has(linked.toLowerCase()))) return canonical;
  }
  return peer;
}

/** Normalises case and checks every part, through the string form of the key. */
function normalise(key: SessionKey): SessionKey {
  return parseSessionKey(printSessionKey(key));
}
