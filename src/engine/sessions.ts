import { printSessionKey } from "../domain/index.ts";
import {
  type Address,
  addNotice,
  beginCronRun,
  countTokens,
  deleteSession,
  type Forked,
  type ForkOptions,
  findSession,
  forkSession,
  type ListOptions,
  listSessions,
  logCronRun,
  maySend,
  type Received,
  type Resolved,
  type ResolveOptions,
  receiveText,
  renewNow,
  resolveSession,
  restoreSession,
  routeAddress,
  type SendDecision,
  type Session,
  type SessionPage,
  type SessionPatch,
  type SessionSettings,
  sessionHistory,
  type TranscriptInfo,
  takeNotices,
  updateSession,
} from "../session/index.ts";
import { type EngineHost, sessionSettings } from "./host.ts";

/** Which conversation a message belongs to. */
export interface Sessions {
  /** The session of an address: found, renewed when it expired, or made. */
  resolve(address: Address, options?: ResolveOptions): Promise<Session>;
  /** The same, with whether it was made or had expired. */
  open(address: Address, options?: ResolveOptions): Promise<Resolved>;
  /** Takes an inbound text to its session; `/new` and `/reset` open another one. */
  receive(address: Address, text: string, options?: Omit<ResolveOptions, "interaction">): Promise<Received>;
  /** A session by its key, its session id, or the start of one. */
  get(name: string, agent?: string): Promise<Session>;
  list(options?: Partial<ListOptions>): Promise<SessionPage>;
  /** Every session id a key has had. */
  history(session: Session): Promise<TranscriptInfo[]>;
  renew(session: Session, kind: "new" | "reset"): Promise<Session>;
  restore(session: Session, toSessionId?: string): Promise<Session>;
  fork(session: Session, options?: Partial<ForkOptions>): Promise<Forked>;
  update(session: Session, patch: { [K in keyof SessionPatch]: SessionPatch[K] | null }): Promise<Session>;
  countTokens(session: Session, used: { input: number; output: number; context?: number }): Promise<void>;
  maySend(session: Session): SendDecision;
  addNotice(session: Session, text: string): Promise<void>;
  takeNotices(session: Session): Promise<{ time: number; text: string }[]>;
  beginCronRun(jobId: string, agent?: string): Promise<Session>;
  logCronRun(run: { jobId: string; runId: string; log: string; agent?: string }): Promise<{ pruned: number }>;
  delete(session: Session): Promise<{ conversations: number; entries: number }>;
}

/** The short form `<channel>:<userId>` names the session its messages go to. */
export function routedName(name: string, settings: SessionSettings): string {
  const pair = /^(?!agent:|cron:|hook:)[^:\s]+:\S+$/i.test(name);
  return pair ? printSessionKey(routeAddress({ key: name }, settings)) : name;
}

export function sessionsOf(host: EngineHost): Sessions {
  const settings = sessionSettings(host.loaded);
  const { config } = host.loaded;
  const open: Sessions["open"] = (address, options) => resolveSession(host, settings, address, options);
  return {
    open,
    resolve: async (address, options) => (await open(address, options)).session,
    receive: (address, text, options) => receiveText(host, settings, address, text, options),
    get: (name, agent) => findSession(host, routedName(name, settings), agent ?? config.agent),
    list: (options) => listSessions(host, { ...options, agent: options?.agent ?? config.agent }),
    history: (session) => sessionHistory(host, session.agent, session.key),
    renew: (session, kind) => renewNow(host, session, kind, "asked for"),
    restore: (session, toSessionId) => restoreSession(host, session, toSessionId),
    fork: (session, options) =>
      forkSession(host, session, { ...options, maxTokens: options?.maxTokens ?? config.session.forkMaxTokens }),
    update: (session, patch) => updateSession(host, session, patch),
    countTokens: (session, used) => countTokens(host, session, used),
    maySend: (session) => maySend(config.sendPolicy, session),
    addNotice: (session, text) => addNotice(host, session, text),
    takeNotices: (session) => takeNotices(host, session),
    beginCronRun: (jobId, agent) => beginCronRun(host, agent ?? config.agent, jobId),
    logCronRun: ({ agent, ...run }) =>
      logCronRun(
        host,
        { agent: agent ?? config.agent, ...run },
        { maxBytes: config.cron.runLogMaxBytes, maxRows: config.cron.runLogMaxRows },
      ),
    delete: (session) => deleteSession(host, session),
  };
}
