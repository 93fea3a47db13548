import { VarveError } from "./errors.ts";
import { escapeNamesake, escapeSegment, foldCase, foldId, readSegment } from "./key-segments.ts";

/** A parsed session key: ids are the sender's own, not escaped. Printing it gives the same string. */
export type SessionKey =
  | { kind: "main"; agent: string; name: string; thread?: ThreadRef }
  | {
      kind: "direct";
      agent: string;
      channel?: string;
      account?: string;
      peer: string;
      /** Whether the peer merely has the name of a linked person (`session.identityLinks`). */
      isNamesake?: true;
      thread?: ThreadRef;
    }
  | { kind: "group"; agent: string; channel: string; room: RoomType; id: string; thread?: ThreadRef }
  | { kind: "subagent"; agent: string; id: string }
  /** The agent is in the key when the caller names it; it is stored next to the key, not in it. */
  | { kind: "cron"; agent?: string; jobId: string; runId?: string }
  | { kind: "hook"; agent?: string; id: string }
  /** One session for everybody, of an agent that is told apart otherwise. */
  | { kind: "global" }
  /** The short form `<channel>:<userId>`: accepted as input, normalised by routing. */
  | { kind: "pair"; channel: string; userId: string };

export type RoomType = "group" | "channel" | "room";
export interface ThreadRef {
  type: "thread" | "topic";
  id: string;
}

export const keyLengthMax = 512;

const roomTypes = new Set<string>(["group", "channel", "room"]);
/** Words that cannot stand where a channel or the name of a session is expected. */
const structural = new Set<string>(["agent", "cron", "hook", "direct", "dm", "subagent", ...roomTypes]);

function badKeyError(input: string, part: string, why: string): VarveError {
  return new VarveError(
    "BAD_KEY",
    `The session key ${JSON.stringify(input.slice(0, 200))} is malformed: ${part} ${why}.`,
    {
      remedy:
        "Send a key such as agent:main:main, agent:main:telegram:direct:5054873275, " +
        "agent:main:slack:channel:C42:thread:7, agent:main:cron:nightly, hook:<uuid> or telegram:5054873275.",
      details: { key: input.slice(0, keyLengthMax), part },
    },
  );
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what these names must not hold.
const forbidden = /[\u0000-\u0020\u007f\ud800-\udfff]/u;

/** How the segments of a key are read: as they are written now, or as versions before escaping wrote them. */
type ReadId = (segment: string) => { id: string; isNamesake: boolean };
const readLiterally: ReadId = (segment) => ({ id: segment, isNamesake: false });

interface Reader {
  input: string;
  readId: ReadId;
}

function checkSegment({ input }: Reader, part: string, value: string | undefined): string {
  if (value === undefined || value === "") throw badKeyError(input, part, "is empty");
  if (forbidden.test(value))
    throw badKeyError(input, part, "contains a space, a control character or a broken character");
  return value;
}

/** A word of the key's structure; it may also be an id, which is read by `checkId`. */
function readWord({ input }: Reader, part: string, value: string | undefined): string {
  if (value === undefined || value === "") throw badKeyError(input, part, "is empty");
  return foldCase(value);
}

/** An id that is written in one segment; with several, it is the older form, in which colons stood as they are. */
function readId(reader: Reader, part: string, segments: readonly string[]): { id: string; isNamesake: boolean } {
  const text = segments.join(":");
  if (text === "") throw badKeyError(reader.input, part, "is empty");
  if (!text.isWellFormed()) throw badKeyError(reader.input, part, "contains a broken character");
  return segments.length === 1 ? reader.readId(text) : readLiterally(text);
}

function checkId(reader: Reader, part: string, segments: readonly string[], channel?: string): string {
  const { id, isNamesake } = readId(reader, part, segments);
  return foldId(channel, isNamesake ? segments.join(":") : id);
}

function checkChannel(reader: Reader, value: string | undefined): string {
  const channel = foldCase(checkId(reader, "the channel", [value ?? ""]));
  if (structural.has(foldCase(value ?? ""))) {
    throw badKeyError(reader.input, "the channel", `is the reserved word "${channel}"`);
  }
  return channel;
}

function checkName(reader: Reader, name: string): string {
  const checked = checkSegment(reader, "the main key", name);
  if (structural.has(checked)) throw badKeyError(reader.input, "the main key", `is the reserved word "${checked}"`);
  return checked;
}

/** Parses a key; the error names the invalid part. */
export function parseSessionKey(input: string): SessionKey {
  return parse({ input, readId: readSegment });
}

/**
 * The forms under which a key may be stored, the one of today first: versions before escaping wrote ids as they are, so
 * that `%41` in one of their keys is three characters.
 */
export function parseKeySpellings(input: string): SessionKey[] {
  const now = parseSessionKey(input);
  if (!input.includes("%")) return [now];
  return [now, parse({ input, readId: readLiterally })];
}

function parse(reader: Reader): SessionKey {
  const { input } = reader;
  if (typeof input !== "string") throw badKeyError(String(input), "the key", "is not a text");
  if (input.length > keyLengthMax) throw badKeyError(input, "the key", `is longer than ${keyLengthMax} characters`);
  const parts = input.split(":");
  const head = foldCase(parts[0] ?? "");
  if (head === "agent") return parseAgentKey(reader, parts);
  if (head === "cron") return parseCronKey(reader, parts.slice(1));
  if (head === "hook") return parseHookKey(reader, parts.slice(1));
  if (head === "global" && parts.length === 1) return { kind: "global" };
  if (parts.length < 2) throw badKeyError(input, "the key", "has no colon");
  const channel = checkChannel(reader, parts[0]);
  return { kind: "pair", channel, userId: checkId(reader, "the user id", parts.slice(1), channel) };
}

function parseHookKey(reader: Reader, parts: string[], agent?: string): SessionKey {
  const id = checkSegment(reader, "the hook id", parts.join(":")).toLowerCase();
  return { kind: "hook", ...(agent === undefined ? {} : { agent }), id };
}

function parseCronKey(reader: Reader, parts: string[], agent?: string): SessionKey {
  const rest = parts.join(":").toLowerCase();
  const at = rest.lastIndexOf(":run:");
  const owner = agent === undefined ? {} : { agent };
  if (at === -1) return { kind: "cron", ...owner, jobId: checkSegment(reader, "the job id", rest) };
  return {
    kind: "cron",
    ...owner,
    jobId: checkSegment(reader, "the job id", rest.slice(0, at)),
    runId: checkSegment(reader, "the run id", rest.slice(at + 5)),
  };
}

function parseAgentKey(reader: Reader, parts: string[]): SessionKey {
  const { input } = reader;
  const agent = foldCase(checkSegment(reader, "the agent id", parts[1]));
  const third = readWord(reader, "the part after the agent", parts[2]);
  if (third === "cron") return parseCronKey(reader, parts.slice(3), agent);
  if (third === "hook") return parseHookKey(reader, parts.slice(3), agent);
  if (isDirect(third)) return { kind: "direct", agent, ...parsePeer(reader, parts.slice(3)) };
  if (third === "subagent") {
    const id = checkSegment(reader, "the sub-agent id", parts.slice(3).join(":")).toLowerCase();
    return { kind: "subagent", agent, id };
  }
  if (parts.length === 3) return { kind: "main", agent, name: checkName(reader, third) };
  const fourth = readWord(reader, "the part after the channel", parts[3]);
  if (fourth === "thread" || fourth === "topic") {
    return { kind: "main", agent, name: checkName(reader, third), thread: parseThread(reader, parts, 3) };
  }
  const channel = checkChannel(reader, parts[2]);
  if (isDirect(fourth)) return { kind: "direct", agent, channel, ...parsePeer(reader, parts.slice(4), channel) };
  if (roomTypes.has(fourth)) return parseRoom(reader, agent, channel, fourth as RoomType, parts.slice(4));
  if (!isDirect(foldCase(parts[4] ?? ""))) {
    throw badKeyError(input, `"${parts[3]}"`, "is neither direct, group, channel, room nor an account before direct");
  }
  const account = checkId(reader, "the account", [parts[3] ?? ""], channel);
  return { kind: "direct", agent, channel, account, ...parsePeer(reader, parts.slice(5), channel) };
}

/** Direct chats were called `dm` by other programs. */
function isDirect(part: string): boolean {
  return part === "direct" || part === "dm";
}

/** The end of an id: the position of `thread` or `topic` after it, or the end of the key. */
function findThread(segments: readonly string[]): number {
  const at = segments.findIndex((segment, index) => index > 0 && /^(?:thread|topic)$/i.test(segment));
  return at === -1 || at === segments.length - 1 ? segments.length : at;
}

/** The person of a direct chat, and a thread of the chat. */
function parsePeer(reader: Reader, segments: readonly string[], channel?: string) {
  const end = findThread(segments);
  const { id, isNamesake } = readId(reader, "the peer", segments.slice(0, end));
  const peer = foldId(channel, id);
  const thread = end === segments.length ? {} : { thread: parseThread(reader, segments, end) };
  return { peer, ...(isNamesake ? { isNamesake: true as const } : {}), ...thread };
}

/** `thread:<id>` or `topic:<id>` */
function parseThread(reader: Reader, segments: readonly string[], at: number): ThreadRef {
  const type = foldCase(segments[at] ?? "") === "thread" ? ("thread" as const) : ("topic" as const);
  return { type, id: checkId(reader, `the ${type} id`, segments.slice(at + 1)) };
}

function parseRoom(
  reader: Reader,
  agent: string,
  channel: string,
  room: RoomType,
  segments: readonly string[],
): SessionKey {
  const end = findThread(segments);
  const id = checkId(reader, `the ${room} id`, segments.slice(0, end), channel);
  const base = { kind: "group" as const, agent, channel, room, id };
  return end === segments.length ? base : { ...base, thread: parseThread(reader, segments, end) };
}

/** Formats a key for storage. The result always parses to the same value. */
export function printSessionKey(key: SessionKey): string {
  const text = formatKey(key);
  parseSessionKey(text);
  return text;
}

/** The key of a session in the store, where the agent of a job or a hook is a column of its own. */
export function printStoredKey(key: SessionKey): string {
  if (key.kind !== "cron" && key.kind !== "hook") return printSessionKey(key);
  return printSessionKey({ ...key, agent: undefined });
}

function formatOwner(agent: string | undefined): string {
  return agent === undefined ? "" : `agent:${agent}:`;
}

function formatThread(thread: ThreadRef | undefined): string {
  return thread === undefined ? "" : `:${thread.type}:${escapeSegment(thread.id)}`;
}

function formatChannel(channel: string): string {
  return escapeSegment(foldCase(channel));
}

function formatKey(key: SessionKey): string {
  switch (key.kind) {
    case "main":
      return `agent:${key.agent}:${key.name}${formatThread(key.thread)}`;
    case "direct": {
      const account = key.account === undefined ? "" : `${escapeSegment(foldId(key.channel, key.account))}:`;
      const place = key.channel === undefined ? "" : `${formatChannel(key.channel)}:${account}`;
      const peer = foldId(key.channel, key.peer);
      const person = key.isNamesake ? escapeNamesake(peer) : escapeSegment(peer);
      return `agent:${key.agent}:${place}direct:${person}${formatThread(key.thread)}`;
    }
    case "group": {
      const id = escapeSegment(foldId(key.channel, key.id));
      return `agent:${key.agent}:${formatChannel(key.channel)}:${key.room}:${id}${formatThread(key.thread)}`;
    }
    case "subagent":
      return `agent:${key.agent}:subagent:${key.id}`;
    case "cron":
      return `${formatOwner(key.agent)}cron:${key.jobId}${key.runId === undefined ? "" : `:run:${key.runId}`}`;
    case "hook":
      return `${formatOwner(key.agent)}hook:${key.id}`;
    case "global":
      return "global";
    case "pair":
      return `${formatChannel(key.channel)}:${escapeSegment(foldId(key.channel, key.userId))}`;
  }
}

/**
 * The key that versions before case was kept gave to the same address: ids in lower case. Undefined when it is the same
 * key. Such a session belongs to the lower-case id, and to the spelling that its messages name.
 */
export function lowerCaseKey(key: SessionKey): SessionKey | undefined {
  const thread = "thread" in key && key.thread ? { thread: { ...key.thread, id: key.thread.id.toLowerCase() } } : {};
  const lowered = { ...key, ...lowerIds(key), ...thread } as SessionKey;
  return formatKey(lowered) === formatKey(key) ? undefined : lowered;
}

function lowerIds(key: SessionKey): object {
  if (key.kind === "group") return { id: key.id.toLowerCase() };
  if (key.kind === "pair") return { userId: key.userId.toLowerCase() };
  if (key.kind !== "direct") return {};
  return { peer: key.peer.toLowerCase(), ...(key.account === undefined ? {} : { account: key.account.toLowerCase() }) };
}

export type ChatType = "direct" | "group" | "room";

/** The kind of chat; channels and rooms both have many readers. */
export function getChatType(key: SessionKey): ChatType {
  if (key.kind !== "group") return "direct";
  return key.room === "group" ? "group" : "room";
}

export type ResetType = "direct" | "group" | "thread";

/** The kind of reset rule that applies to a key. */
export function getResetType(key: SessionKey): ResetType {
  if ("thread" in key && key.thread !== undefined) return "thread";
  return key.kind === "group" ? "group" : "direct";
}

export function getChannel(key: SessionKey): string | undefined {
  return "channel" in key ? key.channel : undefined;
}
