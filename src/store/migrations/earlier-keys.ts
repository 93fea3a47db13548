/**
 * Session keys and audiences as versions of the schema before 20 wrote them, and as version 20 writes them: frozen, because
 * a migration must not change when the program does.
 */

export type EarlierKey =
  | { kind: "main"; agent: string; name: string; thread?: EarlierThread }
  | { kind: "direct"; agent: string; channel?: string; account?: string; peer: string; thread?: EarlierThread }
  | { kind: "group"; agent: string; channel: string; room: string; id: string; thread?: EarlierThread }
  | { kind: "subagent"; agent: string; id: string }
  | { kind: "cron"; agent?: string; jobId: string; runId?: string }
  | { kind: "hook"; agent?: string; id: string }
  | { kind: "global" }
  | { kind: "pair"; channel: string; userId: string };

interface EarlierThread {
  type: string;
  id: string;
}

const roomTypes: ReadonlySet<string> = new Set(["group", "channel", "room"]);
const reserved: ReadonlySet<string> = new Set([
  ...["agent", "cron", "hook", "direct", "dm", "subagent", "group", "channel", "room"],
]);

class NoKey extends Error {}

/** Parses a stored key; undefined for a text that is none. */
export function parseEarlierKey(text: string): EarlierKey | undefined {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof NoKey) return undefined;
    throw error;
  }
}

function need(value: string | undefined): string {
  if (value === undefined || value === "") throw new NoKey();
  return value;
}

function name(value: string | undefined): string {
  const text = need(value).toLowerCase();
  if (reserved.has(text)) throw new NoKey();
  return text;
}

function parse(text: string): EarlierKey {
  const parts = text.split(":");
  const head = parts[0]?.toLowerCase() ?? "";
  if (head === "agent") return parseAgentKey(parts);
  if (head === "cron") return parseCron(parts.slice(1));
  if (head === "hook") return { kind: "hook", id: need(parts.slice(1).join(":")) };
  if (head === "global" && parts.length === 1) return { kind: "global" };
  if (parts.length < 2) throw new NoKey();
  return { kind: "pair", channel: name(parts[0]), userId: need(parts.slice(1).join(":")) };
}

function parseCron(parts: string[], agent?: string): EarlierKey {
  const rest = parts.join(":");
  const at = rest.lastIndexOf(":run:");
  const owner = agent === undefined ? {} : { agent };
  if (at === -1) return { kind: "cron", ...owner, jobId: need(rest) };
  return { kind: "cron", ...owner, jobId: need(rest.slice(0, at)), runId: need(rest.slice(at + 5)) };
}

function parseAgentKey(parts: string[]): EarlierKey {
  const agent = need(parts[1]);
  const third = need(parts[2]).toLowerCase();
  const rest = (from: number) => parts.slice(from).join(":");
  if (third === "cron") return parseCron(parts.slice(3), agent);
  if (third === "hook") return { kind: "hook", agent, id: need(rest(3)) };
  if (isDirect(third)) return { kind: "direct", agent, ...parsePeer(rest(3)) };
  if (third === "subagent") return { kind: "subagent", agent, id: need(rest(3)) };
  if (parts.length === 3) return { kind: "main", agent, name: name(third) };
  const channel = name(third);
  const fourth = need(parts[3]).toLowerCase();
  if (fourth === "thread" || fourth === "topic")
    return { kind: "main", agent, name: channel, thread: parseThread(rest(3)) };
  if (isDirect(fourth)) return { kind: "direct", agent, channel, ...parsePeer(rest(4)) };
  if (roomTypes.has(fourth)) return parseRoom(agent, channel, fourth, rest(4));
  if (!isDirect(parts[4]?.toLowerCase())) throw new NoKey();
  return { kind: "direct", agent, channel, account: name(fourth), ...parsePeer(rest(5)) };
}

function isDirect(part: string | undefined): boolean {
  return part === "direct" || part === "dm";
}

function parsePeer(rest: string): { peer: string; thread?: EarlierThread } {
  const at = rest.search(/:(?:thread|topic):/i);
  if (at === -1) return { peer: need(rest) };
  return { peer: need(rest.slice(0, at)), thread: parseThread(rest.slice(at + 1)) };
}

function parseThread(text: string): EarlierThread {
  const type = text.slice(0, 6).toLowerCase() === "thread" ? "thread" : "topic";
  return { type, id: need(text.slice(type.length + 1)) };
}

function parseRoom(agent: string, channel: string, room: string, rest: string): EarlierKey {
  const at = rest.search(/:(?:thread|topic):/i);
  const base = { kind: "group" as const, agent, channel, room, id: need(at === -1 ? rest : rest.slice(0, at)) };
  return at === -1 ? base : { ...base, thread: parseThread(rest.slice(at + 1)) };
}

/** Programs whose direct chats had no audience. */
const programs: ReadonlySet<string> = new Set([
  ...["chatgpt", "claude-ai", "claude-code", "codex", "pi", "openclaw", "lossless-claw", "jsonl", "proxy", "cli"],
]);

export function isEarlierProgram(key: EarlierKey): boolean {
  return key.kind === "direct" && programs.has(key.channel ?? "");
}

/** The audience of a key: `user:<peer>`, `user:<channel>:<peer>` or `group:<channel>:<id>`; none for the owner's. */
export function getEarlierAudience(key: EarlierKey): string | undefined {
  if (key.kind === "direct" && !isEarlierProgram(key)) {
    return `user:${(key.channel === undefined ? key.peer : `${key.channel}:${key.peer}`).toLowerCase()}`;
  }
  return key.kind === "group" ? `group:${key.channel}:${key.id}` : undefined;
}

const keyLengthMax = 512;
const reservedIds: ReadonlySet<string> = new Set([
  ...["agent", "cron", "hook", "direct", "dm", "subagent", "group", "channel", "room"],
  ...["thread", "topic", "run", "main", "global"],
]);
const unsafe =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are among what is escaped.
  /[:%\u0000-\u0020\u007f-\u00a0\u00ad\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]/g;

function escapeId(id: string): string {
  const encode = (character: string) =>
    [...new TextEncoder().encode(character)]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
      .join("");
  const escaped = id.replace(unsafe, encode);
  return reservedIds.has(id.replace(/[A-Z]/g, (letter) => letter.toLowerCase()))
    ? `${encode(id.charAt(0))}${escaped.slice(1)}`
    : escaped;
}

/** The form that version 20 gives to a stored key; undefined for a text that keeps its spelling. */
export function respellKey(text: string): string | undefined {
  const key = parseEarlierKey(text);
  const printed = key === undefined || !text.isWellFormed() ? undefined : printKey(key);
  return printed === undefined || printed === text || printed.length > keyLengthMax ? undefined : printed;
}

/** Keys of jobs, hooks, sub-agents and pairs are written as they are. */
function printKey(key: EarlierKey): string | undefined {
  const thread = "thread" in key && key.thread ? `:${key.thread.type}:${escapeId(key.thread.id)}` : "";
  if (key.kind === "main") return `agent:${key.agent}:${key.name}${thread}`;
  if (key.kind === "group")
    return `agent:${key.agent}:${escapeId(key.channel)}:${key.room}:${escapeId(key.id)}${thread}`;
  if (key.kind !== "direct") return undefined;
  const account = key.account === undefined ? "" : `${escapeId(key.account)}:`;
  const place = key.channel === undefined ? "" : `${escapeId(key.channel)}:${account}`;
  return `agent:${key.agent}:${place}direct:${escapeId(key.peer)}${thread}`;
}

/** The audience that version 20 gives to a key; undefined for the owner's. */
export function respellAudience(key: EarlierKey): string | undefined {
  if (key.kind === "group") return `group:${escapeId(key.channel)}:${escapeId(key.id)}`;
  if (key.kind !== "direct") return undefined;
  const peer = escapeId(key.peer.toLowerCase());
  return key.channel === undefined ? `user:${peer}` : `user:${escapeId(key.channel)}:${peer}`;
}

/** A scope of a person or a group that no conversation has: the first segment is a channel where it can be one. */
export function respellScope(scope: string): string {
  const [, kind, rest] = /^(user|group):([\s\S]+)$/.exec(scope) ?? [];
  if (kind === undefined || rest === undefined || !rest.isWellFormed()) return scope;
  const [, channel, id] = /^([a-z0-9][a-z0-9_-]*):([\s\S]+)$/i.exec(rest) ?? [];
  return channel === undefined || id === undefined ? `${kind}:${escapeId(rest)}` : `${kind}:${channel}:${escapeId(id)}`;
}

/** The audience of a conversation that belongs to nobody who is known. */
export function nameConversation(channel: string, id: string): string {
  return `session:${escapeId(channel)}:${escapeId(id)}`;
}
