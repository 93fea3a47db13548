import { getResetType, type JsonObject, printStoredKey } from "../domain/index.ts";
import type { Store, StoreTransaction } from "../store/index.ts";
import type { RecordedConversation } from "../transcript/index.ts";
import type { MayEnd, ResetAnnouncer } from "./announce-reset.ts";
import { chooseSessionId } from "./recorded-conversation.ts";
import { renewNow, renewSession } from "./renew.ts";
import { expiry, findTrigger, type ResetSettings, ruleFor } from "./reset-policy.ts";
import { type Address, type RoutingSettings, routeAddress } from "./route.ts";
import { createSession, findNoticedSession, findSessionRow, lockName, resolveAgent } from "./rows.ts";
import { type Session, sessionFromRow } from "./session.ts";

export interface SessionSettings extends RoutingSettings, ResetSettings {
  resetTriggers: string[];
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
  store: Store,
  settings: SessionSettings,
  address: Address,
  options: ResolveOptions,
  announcer: ResetAnnouncer,
): Promise<Resolved> {
  const key = routeAddress(address, settings);
  const agent = resolveAgent(key, address.agent ?? settings.agent);
  const keyText = printStoredKey(key);
  const interaction = options.interaction ?? true;
  const expired = (session: Session, now: number) => {
    const channel = session.channel ?? address.channel?.toLowerCase();
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
      const row = await createSession(tx, { agent, key, keyText, transcript, displayName, metadata });
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
  mayReset?(session: Session, kind: "new" | "reset"): boolean;
}

/** Finds the session of an inbound text. A trigger opens a new one; the text after it is the first message. */
export async function receiveText(
  store: Store,
  settings: SessionSettings,
  address: Address,
  text: string,
  { mayReset, ...options }: ReceiveOptions,
  announcer: ResetAnnouncer,
): Promise<Received> {
  const resolved = await resolveSession(store, settings, address, options, announcer);
  const trigger = findTrigger(text, settings.resetTriggers);
  if (!trigger) return { ...resolved, text };
  if (mayReset?.(resolved.session, trigger.kind) === false) return { ...resolved, text, refused: trigger.kind };
  // A session that this message has just opened is not renewed again.
  const session =
    resolved.created || resolved.expired
      ? resolved.session
      : await renewNow(store, resolved.session, { kind: trigger.kind, reason: "trigger" }, announcer);
  return { ...resolved, session, text: trigger.rest, reset: trigger.kind };
}
