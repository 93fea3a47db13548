import {
  type Audience,
  type DmScope,
  getPeerAudience,
  hasOwners,
  type IdentityLinks,
  isListed,
  isPersonal,
  type Owners,
  resolvePeer,
} from "../authorization/index.ts";
import { parseSessionKey, printSessionKey, type SessionKey } from "../domain/index.ts";
import type { Address } from "./address.ts";

export interface RoutingSettings {
  agent: string;
  dmScope: DmScope;
  mainKey: string;
  /** Canonical peer → the peers that are the same person, as `peer` or `channel:peer`. */
  identityLinks: IdentityLinks;
}

/** The session that an address leads to. */
export interface Route {
  key: SessionKey;
  /** The person it belongs to, after identity links, where the address names one. */
  audience?: Audience;
}

/** Whether the owners must be known to route an address: those of the settings and of the database. */
export function needsOwners({ key, group, peer, owner }: Address, { dmScope }: RoutingSettings): boolean {
  const isPair = key !== undefined && peer === undefined && parseSessionKey(key).kind === "pair";
  return isPersonal(dmScope) && group === undefined && !owner && (isPair || (key === undefined && peer !== undefined));
}

/** The session key of an address that was checked, normalised. */
export function routeAddress(address: Address, settings: RoutingSettings, owners: Owners): Route {
  const agent = address.agent ?? settings.agent;
  if (address.key !== undefined) {
    const key = parseSessionKey(address.key);
    if (key.kind !== "pair") return { key };
    return routeDirect(agent, { channel: key.channel, peer: key.userId, owner: address.owner }, settings, owners);
  }
  if (address.group) {
    const { type: room, id, thread } = address.group;
    return { key: normalise({ kind: "group", agent, channel: address.channel ?? "local", room, id, thread }) };
  }
  return routeDirect(agent, address, settings, owners);
}

function routeDirect(agent: string, from: Address, settings: RoutingSettings, owners: Owners): Route {
  const { peer, channel, account, thread, owner } = from;
  const { dmScope, identityLinks, mainKey } = settings;
  const main = (): Route => ({ key: normalise({ kind: "main", agent, name: mainKey, thread }) });
  if (peer === undefined || owner) return main();
  const audience = getPeerAudience(channel, peer, identityLinks);
  const isOwners = (dmScope === "main" && !hasOwners(owners)) || isListed(owners, identityLinks, audience);
  if (isPersonal(dmScope) && isOwners) return main();
  const person = resolvePeer(channel, peer, identityLinks);
  const direct = {
    kind: "direct" as const,
    agent,
    peer: person.peer,
    ...(person.isNamesake ? { isNamesake: true as const } : {}),
    thread,
  };
  if (dmScope === "per-peer" || channel === undefined) return { key: normalise(direct), audience };
  if (dmScope !== "per-account-channel-peer" || account === undefined)
    return { key: normalise({ ...direct, channel }), audience };
  return { key: normalise({ ...direct, channel, account }), audience };
}

/** Normalises case and checks every part, through the string form of the key. */
function normalise(key: SessionKey): SessionKey {
  return parseSessionKey(printSessionKey(key));
}
