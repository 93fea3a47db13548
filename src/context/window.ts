import { type Entry, getToolCalls, getToolResults, type Message } from "../domain/index.ts";
import type { Store } from "../store/index.ts";
import { type Page, readAfter, readTail } from "../transcript/index.ts";
import type { ConversationRef } from "./dag.ts";
import type { Frontier } from "./frontier.ts";
import type { MessageItem } from "./items.ts";

const pageEntries = 200;

/** The message of an entry that the model sees; undefined for other entries. */
export function getEntryMessage(entry: Entry): Message | undefined {
  return entry.type === "message" || entry.type === "custom_message" ? entry.message : undefined;
}

export interface MessageEntry {
  entry: Entry;
  message: Message;
  item: MessageItem;
}

/** An entry as the planner sees it. */
export function toMessageEntry(entry: Entry): MessageEntry | undefined {
  const message = getEntryMessage(entry);
  if (!message) return undefined;
  const aborted = message.stopReason === "aborted" || message.stopReason === "error";
  const item: MessageItem = {
    kind: "message",
    seq: entry.seq,
    tokens: entry.tokens,
    role: message.role,
    calls: getToolCalls(message).map((call) => call.callId),
    results: getToolResults(message).map((result) => result.callId),
    time: entry.time,
    ...(aborted ? { aborted } : {}),
  };
  return { entry, message, item };
}

/** The oldest messages after the summaries: more than `tokens` of them, or all. */
export async function oldestRaw(
  store: Store,
  ref: ConversationRef,
  frontier: Frontier,
  tokens: number,
): Promise<MessageEntry[]> {
  const found: MessageEntry[] = [];
  let held = 0;
  for (let after = frontier.coveredSeq; held <= tokens; ) {
    const page = await readAfter(store, ref.agent, frontier.path, { after, limit: pageEntries, content: "reference" });
    if (page.length === 0) break;
    for (const entry of page) {
      const one = toMessageEntry(entry);
      if (!one) continue;
      found.push(one);
      held += one.item.tokens;
    }
    after = page.at(-1)?.seq ?? after;
  }
  return found;
}

/** The newest messages of the active branch, oldest first, until there are `count` of them. */
export async function newestRaw(
  store: Store,
  ref: ConversationRef,
  frontier: Frontier,
  count: number,
  /** The newest page, if it was read already. */
  first?: Page,
): Promise<MessageEntry[]> {
  const found: MessageEntry[] = [];
  let before: number | undefined;
  while (found.length < count) {
    const limit = Math.min(1000, count - found.length + 8);
    const isFirst = before === undefined && first !== undefined;
    const page = isFirst ? first : await readTail(store, ref, { limit, before, content: "reference" });
    const fresh = page.entries.filter((entry) => entry.seq > frontier.coveredSeq);
    found.unshift(...fresh.flatMap((entry) => toMessageEntry(entry) ?? []));
    if (page.before === undefined || fresh.length < page.entries.length) break;
    before = page.before;
  }
  return found;
}

/** How many messages follow an entry, including itself. */
export async function messagesSince(store: Store, ref: ConversationRef, seq: number): Promise<number> {
  const row = await store.db
    .selectFrom("entries")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("agent", "=", ref.agent)
    .where("conversation", "=", ref.conversation)
    .where("seq", ">=", seq)
    .where("kind", "in", ["system", "user", "assistant", "tool", "custom_message"])
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

/** The tokens of the messages after the summaries. */
export async function rawTokens(store: Store, ref: ConversationRef, frontier: Frontier): Promise<number> {
  let total = 0;
  for (const segment of frontier.path) {
    if (segment.upTo <= frontier.coveredSeq) continue;
    const row = await store.db
      .selectFrom("entries")
      .select((eb) => eb.fn.sum<number>("tokens").as("tokens"))
      .where("agent", "=", ref.agent)
      .where("conversation", "=", segment.conversation)
      .where("branch", "=", segment.branch)
      .where("seq", "<=", segment.upTo)
      .where("seq", ">", frontier.coveredSeq)
      .where("kind", "in", ["system", "user", "assistant", "tool", "custom_message"])
      .executeTakeFirst();
    total += Number(row?.tokens ?? 0);
  }
  return total;
}
