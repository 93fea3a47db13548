import { chooseAudience, type Principal, printItself } from "../authorization/index.ts";
import type { Config } from "../config/index.ts";
import type { EngineEvent } from "../domain/index.ts";
import type { Store } from "../store/index.ts";
import type { Address } from "./address.ts";
import { type BeforeResetHook, ResetAnnouncer } from "./announce-reset.ts";
import { beginCronRun, logCronRun } from "./cron.ts";
import { findReadable, type ReadableSession } from "./earlier.ts";
import { type Forked, type ForkOptions, forkSession, type ReadParentView } from "./fork.ts";
import { type ListOptions, listSessions, type SessionPage, sessionHistory, type TranscriptInfo } from "./list.ts";
import { isNewPerson } from "./owners.ts";
import { renewNow, restoreSession } from "./renew.ts";
import {
  type Received,
  type ReceiveOptions,
  type Resolved,
  type ResolveOptions,
  type Resolver,
  receiveText,
  resolveRoute,
  resolveSession,
  type SessionSettings,
} from "./resolve.ts";
import { findSession, findSessionRow } from "./rows.ts";
import { maySend, type SendDecision } from "./send-policy.ts";
import { type Session, type SessionPatch, sessionFromRow } from "./session.ts";
import { resolveSessionPrincipal, type SessionReach } from "./session-principal.ts";
import { addNotice, countTokens, deleteSession, type NoticeAudience, takeNotices, updateSession } from "./update.ts";
import { readOwnersToRoute } from "./upgraded-owner.ts";

/** Finds, opens and renews the session a message belongs to. */
export interface SessionService {
  /** The agent and key that an address leads to; creates nothing. */
  resolveKey(
    address: Address,
    options?: Pick<ResolveOptions, "proveSpelling">,
  ): Promise<{ agent: string; key: string }>;
  /** The session of an address: found, renewed when it expired, or created. */
  resolve(address: Address, options?: ResolveOptions): Promise<Session>;
  /** Like `resolve`, and tells whether the session was created or had expired. */
  open(address: Address, options?: ResolveOptions): Promise<Resolved>;
  /** The session of an inbound text; `/new` and `/reset` open a new one. */
  receive(address: Address, text: string, options?: ReceiveOptions): Promise<Received>;
  /** A session by its key, its session id, or the start of one. */
  get(name: string, agent?: string): Promise<Session>;
  /** Like `get`, for reading: a session id stands for its own transcript, also when its key has moved on. */
  find(name: string, agent?: string): Promise<ReadableSession>;
  list(options?: Partial<ListOptions>): Promise<SessionPage>;
  /** Every session id that a key has had. */
  history(session: Session): Promise<TranscriptInfo[]>;
  renew(session: Session, kind: "new" | "reset"): Promise<Session>;
  restore(session: Session, toSessionId?: string): Promise<Session>;
  fork(session: Session, options?: Partial<ForkOptions>): Promise<Forked>;
  update(session: Session, patch: { [K in keyof SessionPatch]: SessionPatch[K] | null }): Promise<Session>;
  countTokens(session: Session, used: { input: number; output: number; context?: number }): Promise<void>;
  /** Whether a reply may be sent; `channel` is that of the message, which a key of `dmScope: main` does not name. */
  maySend(session: Session, from?: { channel?: string }): SendDecision;
  /**
   * The principal that acts from within a session, or for the person of an address, who may have no session yet: it sees
   * what that person or group may see. Pass it to searches and to `memory`.
   */
  resolvePrincipal(session: Session | Address, principal?: Principal): Promise<Principal>;
  addNotice(session: Session, text: string, audience?: NoticeAudience): Promise<void>;
  takeNotices(session: Session, audience?: NoticeAudience): Promise<{ time: number; text: string }[]>;
  beginCronRun(jobId: string, agent?: string): Promise<Session>;
  logCronRun(run: { jobId: string; runId: string; log: string; agent?: string }): Promise<{ pruned: number }>;
  delete(session: Session): Promise<{ conversations: number; entries: number }>;
}

export interface SessionServiceOptions {
  /** How a fork sees its parent. The context module, which knows views, is above this one. */
  readParentView: ReadParentView;
  /** Is told about sessions before they end. */
  beforeReset?: BeforeResetHook;
  emit?(event: EngineEvent): void;
}

export function createSessionService(
  store: Store,
  config: Config,
  { readParentView, beforeReset, emit = () => undefined }: SessionServiceOptions,
): SessionService {
  const settings = sessionSettings(config);
  const announcer = new ResetAnnouncer(beforeReset);
  const resolver: Resolver = { store, settings, readOwners: (agent) => readOwnersToRoute(store, config, agent) };
  const expand = (name: string, agent: string | undefined) => expandShortName(resolver, name, agent);
  const announcePerson = async (session: Session) => {
    const { agent, key, audience, displayName: name } = session;
    if (audience === undefined || !(await isNewPerson(store, config, session))) return;
    emit({ type: "person.unknown", agent, key, data: { audience, ...(name === undefined ? {} : { name }) } });
  };
  const announce = async (received: Received) => {
    const event = describeOpening(received);
    if (event) emit(event);
    if (received.created) await announcePerson(received.session);
  };
  const open: SessionService["open"] = async (address, options = {}) => {
    const resolved = await resolveSession(resolver, address, options, announcer);
    if (resolved.created) await announcePerson(resolved.session);
    return resolved;
  };
  return {
    async resolveKey(address, { proveSpelling } = {}) {
      const { agent, keyText } = await resolveRoute(resolver, address, proveSpelling);
      return { agent, key: keyText };
    },
    open,
    resolve: async (address, options) => (await open(address, options)).session,
    async receive(address, text, options = {}) {
      const received = await receiveText(resolver, address, text, options, announcer);
      await announce(received);
      return received;
    },
    get: async (name, agent) => findSession(store, await expand(name, agent), agent ?? config.agent),
    find: async (name, agent) => findReadable(store, await expand(name, agent), agent ?? config.agent),
    list: (options) => listSessions(store, { ...options, agent: options?.agent ?? config.agent }),
    history: (session) => sessionHistory(store, session.agent, session.key),
    renew: (session, kind) => renewNow(store, session, { kind, reason: "request" }, announcer),
    restore: (session, toSessionId) => restoreSession(store, session, toSessionId),
    fork: (session, options) =>
      forkSession(
        store,
        session,
        { ...options, maxTokens: options?.maxTokens ?? config.session.forkMaxTokens },
        readParentView,
      ),
    update: (session, patch) => updateSession(store, session, patch),
    countTokens: (session, used) => countTokens(store, session, used),
    maySend: (session, from) => maySend(config.sendPolicy, session, from),
    async resolvePrincipal(session, principal) {
      const known = "sessionId" in session ? session : await findOrDescribe(resolver, session);
      return resolveSessionPrincipal(store, config, known, principal);
    },
    addNotice: (session, text, audience) => addNotice(store, session, text, audience),
    takeNotices: (session, audience) => takeNotices(store, session, audience),
    beginCronRun: (jobId, agent) => beginCronRun(store, agent ?? config.agent, jobId, announcer),
    logCronRun: ({ agent, ...run }) =>
      logCronRun(
        store,
        { agent: agent ?? config.agent, ...run },
        { maxBytes: config.cron.runLogMaxBytes, maxRows: config.cron.runLogMaxRows },
      ),
    delete: (session) => deleteSession(store, session),
  };
}

function sessionSettings({ agent, timezone, session }: Config): SessionSettings {
  return {
    agent,
    timezone,
    dmScope: session.dmScope,
    mainKey: session.mainKey,
    identityLinks: session.identityLinks,
    reset: session.reset,
    resetByType: session.resetByType,
    resetByChannel: session.resetByChannel,
    resetTriggers: session.resetTriggers,
  };
}

function describeOpening({ session, created, expired, reset }: Received): EngineEvent | undefined {
  const { agent, key, sessionId } = session;
  const reason = expired ?? reset;
  if (created) return { type: "session.created", agent, key, sessionId };
  return reason && { type: "session.renewed", agent, key, sessionId, data: { reason } };
}

/** The session of an address, or what it would be: one without messages. */
async function findOrDescribe(resolver: Resolver, address: Address): Promise<SessionReach> {
  const { agent, key, keyText, belongsTo } = await resolveRoute(resolver, address);
  const row = await findSessionRow(resolver.store.db, agent, keyText);
  if (row) return sessionFromRow(row);
  const own = chooseAudience(key, "library", belongsTo);
  // A sub-agent that nobody known has started may work for anybody.
  const audience = own === undefined && key.kind === "subagent" ? printItself(key.kind, key.id) : own;
  return { agent, key: keyText, conversation: noConversation, ...(audience === undefined ? {} : { audience }) };
}

/** The number of no conversation. */
const noConversation = 0;

/** The short form `<channel>:<userId>` names the session that its messages go to. */
async function expandShortName(resolver: Resolver, name: string, agent: string | undefined): Promise<string> {
  if (!/^(?!agent:|cron:|hook:)[^:]+:[\s\S]+$/i.test(name)) return name;
  const { keyText } = await resolveRoute(resolver, { key: name, ...(agent === undefined ? {} : { agent }) });
  return keyText;
}
