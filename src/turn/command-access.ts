import { findCanonicalPeer, isOwnerPeer } from "../authorization/index.ts";
import type { Config } from "../config/index.ts";
import type { Session } from "../session/index.ts";
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

/** The person who sent a message. A message without a sender and a chat comes from the owner's own program. */
export function identifySender(config: Settings, session: Session, inbound: Inbound): Sender {
  const isInGroup = session.chatType !== "direct";
  const { channel, from, chat } = inbound;
  if (from === undefined && chat === undefined) return { isOwner: true, isInGroup };
  const peer = from?.id ?? (isInGroup ? undefined : chat?.id);
  const isOwnersChat = !isInGroup && session.audience === undefined;
  return { isOwner: isOwnersChat || (peer !== undefined && isNamed(config, channel, peer)), isInGroup };
}

function isNamed({ session, turn }: Settings, channel: string | undefined, peer: string): boolean {
  const names = [peer, findCanonicalPeer(peer, channel, session.identityLinks)];
  return names.some((name) => isOwnerPeer(turn.owners, channel, name) || isOwnerPeer(turn.commandAllow, channel, name));
}

export function mayUse(users: CommandUsers, { isOwner, isInGroup }: Sender): boolean {
  if (isOwner || users === "everybody") return true;
  return users === "own chat" && !isInGroup;
}

export const refusal = "Only the owner of this agent may use this command.";
