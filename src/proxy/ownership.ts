/** Who may record in a session, and read it again: the client whose credential it was recorded with. */
import { recordedField } from "../domain/index.ts";
import type { Session, Varve } from "../index.ts";
import type { KnownReplies } from "./alignment.ts";
import { type ClientSession, renewedPrefix } from "./session-name.ts";

/** A credential that is renewed every few hours leaves this many hashes in a session before the oldest is forgotten. */
const ownersMax = 16;

/** Returns the hashes of the credentials that a session belongs to; empty for one that nobody recorded in. */
function readOwners({ metadata }: Session): string[] {
  const owners = metadata[recordedField];
  return typeof owners === "string" ? owners.split(" ") : [];
}

/**
 * Whether a client may use a session. One that nobody recorded in yet, such as an import, is open to a client that knows
 * one of its replies. A person who signed in gets another credential every few hours: it is recognised by the newest
 * reply and most of what precedes it.
 */
export function mayRecord(client: ClientSession, session: Session, known: KnownReplies): boolean {
  const owners = readOwners(session);
  if (isOwner(client, session)) return true;
  if (owners.length === 0) return known.some;
  const isRenewable = owners.every((owner) => owner === client.sharedOwner || owner.startsWith(renewedPrefix));
  return client.isRenewed && isRenewable && known.newest;
}

/** Whether a session belongs to the client already. */
export function isOwner(client: ClientSession, session: Session): boolean {
  return client.readsAll || readOwners(session).includes(client.owner);
}

/** Adds the client to the owners of a session. */
export async function addOwner(varve: Varve, client: ClientSession, session: Session): Promise<Session> {
  const owners = readOwners(session);
  if (owners.includes(client.owner) || (client.readsAll && owners.length > 0)) return session;
  const others = owners.filter((owner) => owner !== client.sharedOwner);
  const next = [client.owner, ...others].slice(0, ownersMax).join(" ");
  return varve.sessions.update(session, { metadata: { ...session.metadata, [recordedField]: next } });
}
