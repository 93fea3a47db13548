import { type Belonging, chooseAudience, type Door, type Owners } from "../authorization/index.ts";
import { foldCase, getResetType, type JsonObject, type SessionKey } from "../domain/index.ts";
import type { Store, StoreTransaction } from "../store/index.ts";
import { type Address, checkAddress } from "./address.ts";
import type { MayEnd, ResetAnnouncer } from "./announce-reset.ts";
import { chooseSessionId, type RecordedConversation } from "./recorded-ids.ts";
import { renewNow, renewSession } from "./renew.ts";
import { expiry, findTrigger, type ResetSettings, ruleFor } from "./reset-policy.ts";
import { needsOwners, type RoutingSettings, routeAddress } from "./route.ts";
import { createSession, findNoticedSession, findSessionRow, lockName, resolveAgent } from "./rows.ts";
import { type Session, sessionFromRow } from "./session.ts";
import { findStoredKey, type ProveSpelling } from "./stored-key.ts";

export interface SessionSettings extends RoutingSettings, ResetSettings {
  resetTriggers: string[];
}

/** The dependencies of resolving an address. */
export interface Resolver {
  store: Store;
  settings: SessionSettings;
  /** The owners of an agent, read now. */
  readOwners(agent: string): Promise<Owners>;
}

export interface ResolveOptions {
  /**
   * Whether a person or a channel speaks (the default). Heartbeats, cron wake-ups and notices pass false: they never
   * extend a session's freshness and never open a new one because the old one expired.
   */
  interaction?: boolean;
  /**
   * Whether the next append carries the time of the interaction (`interactionAt`). Then an existing session that has not
   * expired is only read.
   */
  touchedByAppend?: boolean;
  displayName?: string;
  cwd?: string;
  /** The client's own conversation that a new session records, so that an import of it is recognised. */
  recorded?: RecordedConversation;
  /** The metadata of a new session. */
  metadata?: JsonObject;
  /** The way by which it came in; `library` when absent. */
  door?: Door;
  /**
   * Whom a new session belongs to, where its key names no person: the owner, a person (`audience`), or nobody but itself.
   * Hosts that name conversations by ids of their own say it here.
   */
  belongsTo?: Belonging;
  /** Proves that a session whose key is in lower case is the one of this address; see `findStoredKey`. */
  proveSpelling?: ProveSpelling;
}

/** The session that an address leads to, as it is or will be stored. */
export interface RoutedAddress {
  agent: string;
  key: SessionKey;
  keyText: string;
  belongsTo?: Belonging;
}

/** Finds the agent and the key of an address. */
export async function resolveRoute(
  { store, settings, readOwners }: Resolver,
  address: Address,
  proveSpelling?: ProveSpelling,
): Promise<RoutedAddress> {
  checkAddress(address);
  const owners = needsOwners(address, settings) ? await readOwners(address.agent ?? settings.agent) : {};
  const { key, audience } = routeAddress(address, settings, owners);
  const agent = resolveAgent(key, address.agent ?? settings.agent);
  const keyText = await findStoredKey(store, agent, key, address.key, proveSpelling);
  const belongsTo = address.owner ? { owner: true as const } : audience === undefined ? undefined : { audience };
  return { agent, key, keyText, ...(belongsTo === undefined ? {} : { belongsTo }) };
}

export interface Resolved {
  session: Session;
  created: boolean;
  /** Set when the address's session had expired and this is the new one. */
  expired?: "daily" | "idle";
  /** Whether it has pending notices, where that was checked. */
  hasNotices?: boolean;
}

/** The session an address belongs to: found, renewed when it expired, or created. */
export async function resolveSession(
  resolver: Resolver,
  address: Address,
  options: ResolveOptions,
  announcer: ResetAnnouncer,
): Promise<Resolved> {
  const { store, settings } = resolver;
  const { agent, key, keyText, belongsTo } = await resolveRoute(resolver, address, options.proveSpelling);
  const door = options.door ?? "library";
  const interaction = options.interaction ?? true;
  const expired = (session: Session, now: number) => {
    const channel = session.channel ?? (address.channel === undefined ? undefined : foldCase(address.channel));
    return expiry(ruleFor(settings, getResetType(key), channel, isChat(address)), session, now, settings.timezone);
  };
  if (options.touchedByAppend) {
    const now = store.clock.now();
    const found = await findNoticedSession(store, agent, keyText);
    if (found && expired(found.session, now) === undefined) {
      return { ...found, session: { ...found.session, lastInteractionAt: now, updatedAt: now }, created: false };
    }
  }
  // The next append makes it durable; after a power failure an empty session is created again. A server that loses it
  // while this process goes on would leave the session without a conversation, or give its number to another one.
  const how = { sync: store.engine === "postgres" };
  const resolve = async (tx: StoreTransaction, mayEnd: MayEnd): Promise<Resolved> => {
    await tx.lock(lockName(agent, keyText));
    const now = store.clock.now();
    const found = await findSessionRow(tx.db, agent, keyText);
    if (!found) {
      const transcript = { cwd: options.cwd, sessionId: await chooseSessionId(tx, agent, options.recorded) };
      const { displayName, metadata } = options;
      const audience = chooseAudience(key, door, options.belongsTo ?? belongsTo);
      const isOwners = (options.belongsTo ?? belongsTo) !== undefined && audience === undefined;
      const who = { audience, isOwners, door };
      const row = await createSession(tx, { agent, key, keyText, transcript, displayName, metadata, ...who });
      return { session: sessionFromRow(row), created: true, hasNotices: false };
    }
    if (!interaction) return { session: sessionFromRow(found), created: false };
    const session = sessionFromRow(found);
    const because = expired(session, now);
    if (because) mayEnd({ session, kind: "new", reason: because });
    const current = because ? await renewSession(tx, session, "new", because) : session;
    await tx.db
      .updateTable("sessions")
      .set({ last_interaction_at: now, updated_at: now })
      .where("agent", "=", agent)
      .where("key", "=", keyText)
      .execute();
    return { session: { ...current, lastInteractionAt: now, updatedAt: now }, created: false, expired: because };
  };
  return announcer.renew((mayEnd) => store.transaction((tx) => resolve(tx, mayEnd), how));
}

/** Whether an address is a chat's, not the bare name of a session. */
function isChat(address: Address): boolean {
  return (
    address.channel !== undefined ||
    address.group !== undefined ||
    !/^(?:agent|cron|hook):/i.test(address.key ?? "agent:")
  );
}

export interface Received extends Resolved {
  /** The message without its trigger; empty when there was only the trigger. */
  text: string;
  reset?: "new" | "reset";
  /** The trigger that the sender may not use; the session and the text are unchanged. */
  refused?: "new" | "reset";
}

export interface ReceiveOptions extends Omit<ResolveOptions, "interaction"> {
  /** Whether the sender may start a new session by a trigger; true when absent. */
  mayReset?(session: Session, kind: "new" | "reset"): Promise<boolean>;
}

/** Finds the session of an inbound text. A trigger opens a new one; the text after it is the first message. */
export async function receiveText(
  resolver: Resolver,
  address: Address,
  text: string,
  { mayReset, ...options }: ReceiveOptions,
  announcer: ResetAnnouncer,
): Promise<Received> {
  const { store, settings } = resolver;
  const resolved = await resolveSession(resolver, address, options, announcer);
  const trigger = findTrigger(text, settings.resetTriggers);
  if (!trigger) return { ...resolved, text };
  if ((await mayReset?.(resolved.session, trigger.kind)) === false) return { ...resolved, text, refused: trigger.kind };
  // A session that this message has just opened is not renewed again.
  const session =
    resolved.created || resolved.expired
      ? resolved.session
      : await renewNow(store, resolved.session, { kind: trigger.kind, reason: "trigger" }, announcer);
  return { ...resolved, session, text: trigger.rest, reset: trigger.kind };
}
