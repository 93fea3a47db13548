import { VarveError } from "./errors.ts";

/** A parsed session key. Printing it gives the same string. */
export type SessionKey =
  | { kind: "main"; agent: string; name: string; thread?: ThreadRef }
  | { kind: "direct"; agent: string; channel?: string; account?: string; peer: string; thread?: ThreadRef }
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
const reserved = new Set<string>(["agent", "cron", "hook", "direct", "dm", "subagent", "group", "channel", "room"]);
/** Ids of these rooms are case-sensitive at their source, so lower-casing could merge two rooms. */
const caseSensitiveRooms = new Set(["signal:group", "matrix:room", "matrix:channel", "matrix:group"]);

function badKeyError(input: string, part: string, why: string): VarveError {
  return new VarveError(
    "BAD_KEY",
    `The session key ${JSON.stringify(input.slice(0, 200))} is malformed: ${part} ${why}.`,
    {
      remedy:
        "Send a key such as agent:main:main, agent:main:telegram:direct:5054873275, " +
        "agent:main:slack:channel:c42:thread:7, agent:main:cron:nightly, hook:<uuid> or telegram:5054873275.",
      details: { key: input.slice(0, keyLengthMax), part },
    },
  );
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what a key must not hold.
const forbidden = /[\u0000-\u0020\u007f\ud800-\udfff]/u;

function checkSegment(input: string, part: string, value: string | undefined): string {
  if (value === undefined || value === "") throw badKeyError(input, part, "is empty");
  if (forbidden.test(value))
    throw badKeyError(input, part, "contains a space, a control character or a broken character");
  return value;
}

function checkName(input: string, part: string, value: string | undefined): string {
  const checked = checkSegment(input, part, value).toLowerCase();
  if (reserved.has(checked)) throw badKeyError(input, part, `is the reserved word "${checked}"`);
  return checked;
}

/** Parses a key; the error names the invalid part. */
export function parseSessionKey(input: string): SessionKey {
  if (input.length > keyLengthMax) throw badKeyError(input, "the key", `is longer than ${keyLengthMax} characters`);
  const parts = input.split(":");
  const head = parts[0]?.toLowerCase() ?? "";
  if (head === "agent") return parseAgentKey(input, parts);
  if (head === "cron") return parseCronKey(input, parts.slice(1));
  if (head === "hook") return parseHookKey(input, parts.slice(1));
  if (head === "global" && parts.length === 1) return { kind: "global" };
  if (parts.length < 2) throw badKeyError(input, "the key", "has no colon");
  return {
    kind: "pair",
    channel: checkName(input, "the channel", parts[0]),
    userId: checkSegment(input, "the user id", parts.slice(1).join(":")).toLowerCase(),
  };
}

function parseHookKey(input: string, parts: string[], agent?: string): SessionKey {
  const id = checkSegment(input, "the hook id", parts.join(":")).toLowerCase();
  return { kind: "hook", ...(agent === undefined ? {} : { agent }), id };
}

function parseCronKey(input: string, parts: string[], agent?: string): SessionKey {
  const rest = parts.join(":").toLowerCase();
  const at = rest.lastIndexOf(":run:");
  const owner = agent === undefined ? {} : { agent };
  if (at === -1) return { kind: "cron", ...owner, jobId: checkSegment(input, "the job id", rest) };
  return {
    kind: "cron",
    ...owner,
    jobId: checkSegment(input, "the job id", rest.slice(0, at)),
    runId: checkSegment(input, "the run id", rest.slice(at + 5)),
  };
}

function parseAgentKey(input: string, parts: string[]): SessionKey {
  const agent = checkSegment(input, "the agent id", parts[1]).toLowerCase();
  const third = checkSegment(input, "the part after the agent", parts[2]).toLowerCase();
  const rest = (from: number) => parts.slice(from).join(":");
  if (third === "cron") return parseCronKey(input, parts.slice(3), agent);
  if (third === "hook") return parseHookKey(input, parts.slice(3), agent);
  if (isDirect(third)) return { kind: "direct", agent, ...parsePeer(input, rest(3)) };
  if (third === "subagent") {
    return { kind: "subagent", agent, id: checkSegment(input, "the sub-agent id", rest(3)).toLowerCase() };
  }
  if (parts.length === 3) return { kind: "main", agent, name: checkName(input, "the main key", third) };
  const channel = checkName(input, "the channel", third);
  const fourth = checkSegment(input, "the part after the channel", parts[3]).toLowerCase();
  if (fourth === "thread" || fourth === "topic") {
    const thread = parseThread(input, rest(3), false);
    return { kind: "main", agent, name: checkName(input, "the main key", third), thread };
  }
  if (isDirect(fourth)) {
    return { kind: "direct", agent, channel, ...parsePeer(input, rest(4)) };
  }
  if (roomTypes.has(fourth)) return parseRoom(input, agent, channel, fourth as RoomType, rest(4));
  if (!isDirect(parts[4]?.toLowerCase())) {
    throw badKeyError(input, `"${parts[3]}"`, "is neither direct, group, channel, room nor an account before direct");
  }
  const account = checkName(input, "the account", fourth);
  return { kind: "direct", agent, channel, account, ...parsePeer(input, rest(5)) };
}

/** Direct chats were called `dm` by other programs. */
function isDirect(part: string | undefined): boolean {
  return part === "direct" || part === "dm";
}

/** The person of a direct chat, and a thread of the chat. */
function parsePeer(input: string, rest: string): { peer: string; thread?: ThreadRef } {
  const at = rest.search(/:(?:thread|topic):/i);
  const peer = checkSegment(input, "the peer", at === -1 ? rest : rest.slice(0, at)).toLowerCase();
  return at === -1 ? { peer } : { peer, thread: parseThread(input, rest.slice(at + 1), false) };
}

/** `thread:<id>` or `topic:<id>` */
function parseThread(input: string, text: string, keepCase: boolean): ThreadRef {
  const type = text.slice(0, 6).toLowerCase() === "thread" ? ("thread" as const) : ("topic" as const);
  const id = checkSegment(input, `the ${type} id`, text.slice(type.length + 1));
  return { type, id: keepCase ? id : id.toLowerCase() };
}

function parseRoom(input: string, agent: string, channel: string, room: RoomType, rest: string): SessionKey {
  const keepCase = caseSensitiveRooms.has(`${channel}:${room}`);
  const at = rest.search(/:(?:thread|topic):/i);
  const id = checkSegment(input, `the ${room} id`, at === -1 ? rest : rest.slice(0, at));
  const base = { kind: "group" as const, agent, channel, room, id: keepCase ? id : id.toLowerCase() };
  return at === -1 ? base : { ...base, thread: parseThread(input, rest.slice(at + 1), keepCase) };
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
  return thread === undefined ? "" : `:${thread.type}:${thread.id}`;
}

function formatKey(key: SessionKey): string {
  switch (key.kind) {
    case "main":
      return `agent:${key.agent}:${key.name}${formatThread(key.thread)}`;
    case "direct": {
      const account = key.account === undefined ? "" : `${key.account}:`;
      const place = key.channel === undefined ? "" : `${key.channel}:${account}`;
      return `agent:${key.agent}:${place}direct:${key.peer}${formatThread(key.thread)}`;
    }
    case "group":
      return `agent:${key.agent}:${key.channel}:${key.room}:${key.id}${formatThread(key.thread)}`;
    case "subagent":
      return `agent:${key.agent}:subagent:${key.id}`;
    case "cron":
      return `${formatOwner(key.agent)}cron:${key.jobId}${key.runId === undefined ? "" : `:run:${key.runId}`}`;
    case "hook":
      return `${formatOwner(key.agent)}hook:${key.id}`;
    case "global":
      return "global";
    case "pair":
      return `${key.channel}:${key.userId}`;
  }
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
