import { getPeerAudience, isListed, isOwnersChat, resolveAudience } from "../authorization/index.ts";
import type { Config } from "../config/index.ts";
import { readOwners, type Session } from "../session/index.ts";
import type { Store } from "../store/index.ts";
import type { Inbound } from "./inbound.ts";

/**
 * Who may use a command: `everybody`; everybody in `own chat`, that is in their own direct chat, and owners in groups; or
 * `owners` only, and those in `turn.commandAllow`.
 */
export type CommandUsers = "everybody" | "own chat" | "owners";

/** The sender of a command, as far as its rights are concerned. */
export interface Sender {
  isOwner: boolean;
  isInGroup: boolean;
}

type Settings = Pick<Config, "session" | "turn">;

/** The person who sent a message. One without a sender comes from a program: it speaks for the session's own person. */
export async function identifySender(
  store: Store,
  config: Settings,
  session: Session,
  inbound: Inbound,
): Promise<Sender> {
  const isInGroup = session.chatType !== "direct";
  const { channel, from, chat } = inbound;
  if (inbound.owner) return { isOwner: true, isInGroup };
  const peer = from?.id ?? (isInGroup ? undefined : chat?.id);
  if (peer === undefined) return { isOwner: session.audience === undefined, isInGroup };
  const owners = await readOwners(store, config, session.agent);
  const { identityLinks } = config.session;
  const audience = getPeerAudience(channel, peer, identityLinks);
  const isNamed = [owners, config.turn.commandAllow].some((list) => isListed(list, identityLinks, audience));
  return { isOwner: isNamed || (!isInGroup && isOwnersChat(config, owners, audience)), isInGroup };
}

/**
 * Whether a message that names its session comes from somebody else than the person of that session. One that is addressed
 * by its sender is always in a session of that sender.
 */
export async function isStranger(
  store: Store,
  config: Settings,
  { agent, audience, chatType }: Session,
  { session: named, channel, from, owner }: Inbound,
): Promise<boolean> {
  if (named === undefined || from === undefined || owner || chatType !== "direct") return false;
  const { identityLinks } = config.session;
  const sender = getPeerAudience(channel, from.id, identityLinks);
  if (audience !== undefined) return resolveAudience(audience, identityLinks) !== sender;
  return !isOwnersChat(config, await readOwners(store, config, agent), sender);
}

export function mayUse(users: CommandUsers, { isOwner, isInGroup }: Sender): boolean {
  if (isOwner || users === "everybody") return true;
  return users === "own chat" && !isInGroup;
}

export const refusal = "Only the owner of this agent may use this command.";
