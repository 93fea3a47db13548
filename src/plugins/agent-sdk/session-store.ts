import { createHash } from "node:crypto";
import {
  type EntryDraft,
  fromAnthropic,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonEqual,
  toAnthropic,
} from "../../domain/index.ts";
import { type Entry, type Session, type Varve, VarveError } from "../../index.ts";
import { findSession } from "../find-session.ts";
import {
  belongLike,
  checkSpeaker,
  isOpen,
  pickSpeaker,
  resolveSpeaker,
  type Speaker,
  type SpeakerOptions,
  warnWithoutSpeaker,
} from "../speaker.ts";
import { findRewind } from "./rewinds.ts";
import type { StoreEntry } from "./store-entry.ts";

/** Names a transcript of the Agent SDK: the main one of a session, or with `subpath` one of its sub-agents. */
export interface StoreKey {
  projectKey: string;
  sessionId: string;
  subpath?: string;
}

/** `sessionStore` of the Agent SDK's options. */
export interface VarveSessionStore {
  append(key: StoreKey, entries: StoreEntry[]): Promise<void>;
  load(key: StoreKey): Promise<StoreEntry[] | null>;
  listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]>;
  listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]>;
  delete(key: StoreKey): Promise<void>;
}

export interface SessionStoreOptions extends SpeakerOptions {
  varve: Varve;
  /** The agent of the sessions; the setting `agent` when absent. */
  agent?: string;
}

const channel = "claude-code";
/** The metadata of a session, and the field of an entry, that belong to the store. */
const field = "agentSdk";
const customType = "agent-sdk:entry";
const pageSize = 500;

/**
 * Keeps the transcripts of the Agent SDK in Varve, so that a session can be resumed on another machine, and its messages
 * can be searched, summarised and recalled like all others. An entry with a known `uuid` is not stored again. The store
 * has the sessions of the person who speaks; those of others are as if they did not exist, also for a caller who knows their ids.
 *
 * @example
 * const sessionStore = createSessionStore({ varve, peer: user.id });
 */
export function createSessionStore(options: SessionStoreOptions): VarveSessionStore {
  const who = pickSpeaker(options);
  checkSpeaker(who);
  warnWithoutSpeaker("createSessionStore of varve/agent-sdk", who);
  return openSessionStore({ varve: options.varve, agent: options.agent, who });
}

interface SpeakerPlace {
  varve: Varve;
  agent?: string;
  speaker: Speaker;
}

/** The speaker's session of a transcript; undefined when there is none. */
async function findOwnSession(place: SpeakerPlace, key: StoreKey): Promise<Session | undefined> {
  for (const text of listKeys(place, key)) {
    const session = await findSession(place.varve, text, place.agent);
    if (session && isOwn(session, key) && isOpen(place.speaker, session)) return session;
  }
  return undefined;
}

/** The speaker's session with an id of the SDK, whatever its project. */
export async function findMainSession(place: SpeakerPlace, sessionId: string): Promise<Session | undefined> {
  const [text] = sessionId === "" ? [] : listKeys(place, { projectKey: "", sessionId });
  const session = text === undefined ? undefined : await findSession(place.varve, text, place.agent);
  return session && readMetadata(session)?.sessionId === sessionId && place.speaker.judge(session) === "own"
    ? session
    : undefined;
}

/** The store of a speaker who was checked. */
export function openSessionStore({
  varve,
  agent,
  who,
}: {
  varve: Varve;
  agent?: string;
  who: SpeakerOptions;
}): VarveSessionStore {
  const readPlace = async (): Promise<SpeakerPlace> => {
    const speaker = await resolveSpeaker(varve, agent ?? varve.settings.config.agent, who);
    return { varve, agent, speaker };
  };
  const address = (key: string) => ({ key, ...(agent === undefined ? {} : { agent }) });
  const find = async (key: StoreKey): Promise<Session | undefined> => findOwnSession(await readPlace(), key);
  const open = async (key: StoreKey): Promise<Session> => {
    const place = await readPlace();
    const found = await findOwnSession(place, key);
    if (found) return found;
    const { projectKey, sessionId, subpath } = key;
    // A sub-agent belongs to whom the session belongs that started it.
    const main = subpath === undefined ? undefined : await open({ projectKey, sessionId });
    const belongsTo = main ? belongLike(main) : place.speaker.belongsTo;
    for (const text of listKeys(place, key)) {
      if (await findSession(varve, text, agent)) continue;
      const metadata = { [field]: toMetadata(key) };
      const { session } = await varve.sessions.open(address(text), { interaction: false, metadata, belongsTo });
      if (isOwn(session, key) && isOpen(place.speaker, session)) return session;
    }
    throw new VarveError("REFUSED", `The session ${key.sessionId} belongs to another project.`, {
      remedy: "Use another session id.",
    });
  };
  const addSubpath = async (key: StoreKey): Promise<void> => {
    if (key.subpath === undefined) return;
    const main = await open({ projectKey: key.projectKey, sessionId: key.sessionId });
    const known = listSubpaths(main);
    if (known.includes(key.subpath)) return;
    const own = { ...toMetadata(key), subpath: "", subpaths: [...known, key.subpath] };
    await varve.sessions.update(main, { metadata: { ...main.metadata, [field]: own } });
  };
  // Batches of one transcript are written in the order of their calls.
  const queues = new Map<string, Promise<unknown>>();
  const inOrder = <R>(name: string, work: () => Promise<R>): Promise<R> => {
    const run = (queues.get(name) ?? Promise.resolve()).then(work, work);
    const settled = run.then(
      () => undefined,
      () => undefined,
    );
    queues.set(name, settled);
    void settled.then(() => {
      if (queues.get(name) === settled) queues.delete(name);
    });
    return run;
  };

  return {
    append: (key, entries) =>
      inOrder(`${key.projectKey}\n${key.sessionId}`, async () => {
        if (entries.length === 0) return;
        const session = await open(key);
        await addSubpath(key);
        await varve.transcripts.append(session, await placeDrafts(varve, session, entries));
        if (entries.some(endsTurn)) await varve.context.afterTurn(session);
      }),
    async load(key) {
      const session = await find(key);
      if (!session) return null;
      const entries: StoreEntry[] = [];
      // Every line in the order in which it was written, also those of other branches: the SDK finds its own way.
      for await (const page of varve.transcripts.walkAll(session)) {
        for (const entry of page) {
          const read = toStoreEntry(entry);
          if (read) entries.push(read);
        }
      }
      return entries;
    },
    async listSessions(projectKey) {
      const found: { sessionId: string; mtime: number }[] = [];
      const { speaker } = await readPlace();
      let after: string | undefined;
      do {
        const page = await varve.sessions.list({ channel, limit: pageSize, agent, ...(after ? { after } : {}) });
        for (const session of page.sessions) {
          const own = speaker.judge(session) === "own" ? readMetadata(session) : undefined;
          if (own?.projectKey === projectKey && own.subpath === "" && typeof own.sessionId === "string")
            found.push({ sessionId: own.sessionId, mtime: session.updatedAt });
        }
        after = page.next;
      } while (after !== undefined);
      return found;
    },
    async listSubkeys(key) {
      const session = await find(key);
      return session ? listSubpaths(session) : [];
    },
    async delete(key) {
      const main = await find(key);
      if (!main) return;
      for (const subpath of key.subpath === undefined ? listSubpaths(main) : []) {
        const part = await find({ ...key, subpath });
        if (part) await varve.sessions.delete(part);
      }
      await varve.sessions.delete(main);
    },
  };
}

/** Lines as entries; a prompt that goes back in the conversation continues after the line that it answers. */
async function placeDrafts(varve: Varve, session: Session, entries: readonly StoreEntry[]): Promise<EntryDraft[]> {
  const drafts: EntryDraft[] = [];
  const added = new Set<string>();
  for (const entry of entries) {
    const parentId = await findRewind(varve, session, entry, added);
    drafts.push({ ...toDraft(entry), ...(parentId === undefined ? {} : { parentId }) });
    if (entry.uuid !== undefined) added.add(entry.uuid);
  }
  return drafts;
}

/**
 * The key that an import of Claude Code's own file has, and others where that belongs to another project or person.
 */
function listKeys({ varve, agent, speaker }: SpeakerPlace, { projectKey, sessionId, subpath }: StoreKey): string[] {
  const name = agent ?? varve.settings.config.agent;
  const id = toKeyPart(sessionId);
  const part = subpath === undefined ? id : `${id}.${toKeyPart(subpath.replace(/^subagents\//, ""))}`;
  const key = subpath === undefined ? `agent:${name}:${channel}:direct:${part}` : `agent:${name}:subagent:${part}`;
  const suffixes = [projectKey, ...speaker.marks.map((mark) => `${projectKey}\n${mark}`)].map(hashText);
  return [key, ...suffixes.map((suffix) => `${key}.${suffix}`)];
}

function hashText(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}

function toKeyPart(text: string): string {
  return text.replace(/[^\p{L}\p{N}._@+-]+/gu, "-");
}

function toMetadata({ projectKey, sessionId, subpath }: StoreKey): JsonObject {
  return { projectKey, sessionId, subpath: subpath ?? "" };
}

function readMetadata(session: Session): JsonObject | undefined {
  const own = session.metadata[field];
  return isJsonObject(own) ? own : undefined;
}

function isOwn(session: Session, key: StoreKey): boolean {
  const own = readMetadata(session);
  const wanted = toMetadata(key);
  return own !== undefined && Object.keys(wanted).every((name) => own[name] === wanted[name]);
}

function listSubpaths(session: Session): string[] {
  const subpaths = readMetadata(session)?.subpaths;
  return Array.isArray(subpaths) ? subpaths.filter((one) => typeof one === "string") : [];
}

/**
 * A message is stored as one, with the other fields of its line; everything else as state that no model reads. What
 * cannot be rebuilt exactly from its message is stored whole.
 */
function toDraft(given: StoreEntry): EntryDraft {
  const entry = JSON.parse(JSON.stringify(given)) as JsonObject;
  const time = Date.parse(given.timestamp ?? "");
  const common = { ...(given.uuid ? { id: given.uuid } : {}), ...(Number.isFinite(time) ? { time } : {}) };
  const { message: wire, ...line } = entry;
  const isMessage = (given.type === "user" || given.type === "assistant") && entry.isCompactSummary !== true;
  if (isMessage && isJsonObject(wire)) {
    const message = fromAnthropic(wire);
    const written = toAnthropic(message);
    if (written.length === 1 && jsonEqual(written[0], wire)) {
      const extra = { [field]: { line, order: Object.keys(entry) } };
      return { type: "message", message, extra, ...common };
    }
  }
  return { type: "custom", customType, data: entry, ...common };
}

function toStoreEntry(entry: Entry): StoreEntry | undefined {
  if (entry.type === "custom")
    return entry.customType === customType ? (entry.data as unknown as StoreEntry) : undefined;
  const own = entry.extra?.[field];
  if (entry.type !== "message" || !isJsonObject(own) || !isJsonObject(own.line)) return undefined;
  const fields: JsonObject = { ...own.line, message: toAnthropic(entry.message)[0] ?? null };
  const order = Array.isArray(own.order) ? (own.order as string[]) : Object.keys(fields);
  return Object.fromEntries(order.map((name) => [name, fields[name] as JsonValue])) as unknown as StoreEntry;
}

function endsTurn({ type, message }: StoreEntry): boolean {
  return type === "assistant" && isJsonObject(message) && message.stop_reason === "end_turn";
}
