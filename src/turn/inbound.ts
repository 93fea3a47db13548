import { createHash } from "node:crypto";
import { type Message, type Part, VarveError } from "../domain/index.ts";
import type { Address } from "../session/index.ts";

/** A message as a channel delivers it. */
export interface Inbound {
  /** The channel's id of the message: sent twice, it is answered once. Created when absent. */
  id?: string;
  /** The addressed agent; the agent of the settings when absent. */
  agent?: string;
  /** The key of the session; then the address below is ignored. */
  session?: string;
  channel?: string;
  account?: string;
  /** Who speaks. Absent, with no chat and no session, the owner does: a missing login must not send it. */
  from?: { id: string; name?: string };
  /** Whether the owner speaks, whatever the channel calls them. */
  owner?: boolean;
  chat?: Chat;
  text: string;
  /** The kind of sender: a person (the default), a heartbeat, or the run of a scheduled job. */
  kind?: InboundKind;
  /** The scheduled job of a run, and the name of the run. */
  job?: string;
  run?: string;
  attachments?: Attachment[];
  /** Whether the agent is addressed in a group; decided by `turn.names` when absent. */
  mentioned?: boolean;
  /** How long to wait for more messages of the sender, in milliseconds; `turn.debounceMs` when absent. */
  debounceMs?: number;
}

/**
 * A heartbeat does not extend the freshness of its session, and does not renew one that has expired. A run of a scheduled
 * job starts in a fresh session of the job. Neither is a command.
 */
export type InboundKind = "message" | "heartbeat" | "cron";

export interface Chat {
  type: "direct" | "group" | "channel" | "room";
  id: string;
  thread?: string;
}

/** A file of a message: its URL, its bytes in base64, or its text. */
export interface Attachment {
  name?: string;
  mediaType?: string;
  url?: string;
  data?: string;
  text?: string;
}

const textMax = 4_000_000;
const attachmentsMax = 64;

/** Whether a person sent it. */
export function isFromPerson({ kind }: Pick<Inbound, "kind">): boolean {
  return kind === undefined || kind === "message";
}

export function toAddress(inbound: Inbound): Address {
  const { agent: named, session, channel, account, from, chat, owner } = inbound;
  const agent = named === undefined ? {} : { agent: named };
  if (inbound.kind === "cron") return { ...agent, key: `cron:${inbound.job ?? ""}` };
  if (session !== undefined) return { ...agent, key: session, ...(owner ? { owner } : {}) };
  const isDirect = chat === undefined || chat.type === "direct";
  const type = !isDirect && topicChannels.has(channel?.toLowerCase() ?? "") ? ("topic" as const) : ("thread" as const);
  const thread = chat?.thread === undefined ? {} : { thread: { type, id: chat.thread } };
  const place = {
    ...agent,
    ...(channel === undefined ? {} : { channel }),
    ...(account === undefined ? {} : { account }),
    ...(owner ? { owner } : {}),
  };
  if (chat !== undefined && chat.type !== "direct") {
    return { ...place, group: { type: chat.type, id: chat.id, ...thread } };
  }
  // A sender that is given but missing is no one: the address is refused.
  const isNamed = "from" in inbound || chat !== undefined;
  return { ...place, ...(isNamed && !owner ? { peer: (from?.id ?? chat?.id) as string } : {}), ...thread };
}

/** Channels whose groups have topics instead of threads. */
const topicChannels: ReadonlySet<string> = new Set(["telegram"]);

/** The idempotency key of a message. */
export function createIdempotencyKey(inbound: Inbound & { id: string }): string {
  const { session, channel, account, chat, from, id, kind, job } = inbound;
  const sender = isFromPerson(inbound) ? [] : [kind, job];
  const place = JSON.stringify([
    session,
    channel,
    account,
    chat?.type,
    chat?.id,
    chat?.thread,
    from?.id,
    id,
    ...sender,
  ]);
  return createHash("sha256").update(place).digest("hex").slice(0, 40);
}

export function isGroup(inbound: Inbound): boolean {
  return inbound.session === undefined && inbound.chat !== undefined && inbound.chat.type !== "direct";
}

/** Whether the agent is addressed. In a direct chat it always is. */
export function isAddressed(inbound: Inbound, names: readonly string[]): boolean {
  if (!isGroup(inbound)) return true;
  if (inbound.mentioned !== undefined) return inbound.mentioned;
  if (names.length === 0) return true;
  return names.some((name) => containsName(inbound.text, name));
}

/** Scripts that are written without spaces: a name in them has no boundary that could be seen. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** Whether a text contains a name as a word of its own: "Ada" is not in "Canada". */
function containsName(text: string, name: string): boolean {
  const trimmed = name.trim();
  if (trimmed === "") return false;
  const bounded = (character: string | undefined, boundary: string) =>
    character === undefined || unspaced.test(character) ? "" : boundary;
  const start = bounded([...trimmed][0], "(?<![\\p{L}\\p{N}_])");
  const end = bounded([...trimmed].at(-1), "(?![\\p{L}\\p{N}_])");
  return new RegExp(`${start}${escapePattern(trimmed)}${end}`, "iu").test(text);
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

/** The sender: consecutive messages of one sender make one turn. */
export function getSender(inbound: Inbound): string {
  return inbound.from?.id ?? inbound.chat?.id ?? "";
}

export function checkInbound(inbound: Inbound): void {
  const fault = findFault(inbound);
  if (fault === undefined) return;
  throw new VarveError("BAD_REQUEST", fault.message, { remedy: fault.remedy });
}

function findFault(inbound: Inbound): { message: string; remedy: string } | undefined {
  const { text, attachments = [], id, kind, job } = inbound;
  if (kind === "cron" && (job ?? "").trim() === "") {
    return { message: "The run of a scheduled job names no job.", remedy: "Send job, the name of the scheduled job." };
  }
  if (typeof text !== "string")
    return { message: "A message has no text.", remedy: "Send text, if only an empty one." };
  if (text.length > textMax) {
    return { message: `A message of ${text.length} characters is too long.`, remedy: `Send at most ${textMax}.` };
  }
  if (attachments.length > attachmentsMax) {
    return { message: `${attachments.length} attachments are too many.`, remedy: `Send at most ${attachmentsMax}.` };
  }
  if (text.trim() === "" && attachments.length === 0) {
    return { message: "The message is empty.", remedy: "Send text or an attachment." };
  }
  if (id !== undefined && (id === "" || id.length > 512 || id.includes("\u0000"))) {
    return { message: "The id of the message cannot be used.", remedy: "Send 1 to 512 characters, or no id." };
  }
  const bare = attachments.find((one) => one.url === undefined && one.data === undefined && one.text === undefined);
  if (bare) return { message: "An attachment holds nothing.", remedy: "Give it a url, data in base64, or text." };
  const lost = attachments.find((one) => one.url !== undefined && !URL.canParse(one.url));
  if (lost) return { message: `${lost.url} is no address.`, remedy: "Send a whole URL." };
  return undefined;
}

/** The message for the log, with the id it was accepted under: ids of channels are not unique in a conversation. */
export function toMessage(inbound: Inbound, text: string, accepted: { id: string; time: number }): Message {
  const parts = (inbound.attachments ?? []).map(toPart);
  const content: Message["content"] = parts.length === 0 ? text : [...(text === "" ? [] : [textPart(text)]), ...parts];
  const inGroup = isGroup(inbound);
  const name = inbound.from?.name ?? (inGroup ? inbound.from?.id : undefined);
  const meta = {
    ...(inbound.channel === undefined ? {} : { channel: inbound.channel }),
    ...(inbound.id === undefined ? {} : { channelMessageId: inbound.id }),
    // A display name does not identify a person; the erasure of a person needs the id.
    ...(inbound.from === undefined ? {} : { sender: inbound.from.id }),
    ...(isFromPerson(inbound) ? {} : { kind: inbound.kind ?? "" }),
    ...(inGroup ? { group: inbound.mentioned === false ? "overheard" : "addressed" } : {}),
  };
  return {
    ...accepted,
    role: "user",
    content,
    ...(name === undefined ? {} : { name }),
    ...(Object.keys(meta).length === 0 ? {} : { meta }),
  };
}

function textPart(text: string): Part {
  return { type: "text", text };
}

function toPart({ name, mediaType, url, data, text }: Attachment): Part {
  const source =
    text !== undefined
      ? ({ kind: "text", text } as const)
      : data !== undefined
        ? ({ kind: "base64", data } as const)
        : ({ kind: "url", url: url ?? "" } as const);
  const media = mediaType === undefined ? {} : { mediaType };
  if (mediaType?.startsWith("image/") && source.kind !== "text") return { type: "image", source, ...media };
  return { type: "file", source, ...media, ...(name === undefined ? {} : { name }) };
}
