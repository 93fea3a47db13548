import { type Entry, getToolCalls, getToolResults, type Message } from "../domain/index.ts";
import type { Store } from "../store/index.ts";
import { type Page, readAfter, readEntries, readTail, type Segment } from "../transcript/index.ts";
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
  /** Only messages before this entry. */
  upTo?: number,
): Promise<MessageEntry[]> {
  const found: MessageEntry[] = [];
  let before = upTo;
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

const messageKinds = ["system", "user", "assistant", "tool", "custom_message"];

/** A run of messages of the active branch, without its ends. */
export interface MessageRun {
  count: number;
  firstSeq: number;
  lastSeq: number;
  earliestAt: number;
  latestAt: number;
}

/** The messages between two entries of a path. It reads an index, not the messages. */
export async function countMessagesBetween(
  store: Store,
  ref: ConversationRef,
  path: readonly Segment[],
  after: number,
  before: number,
): Promise<MessageRun> {
  const run: MessageRun = { count: 0, firstSeq: 0, lastSeq: 0, earliestAt: 0, latestAt: 0 };
  for (const segment of path) {
    if (segment.upTo <= after) continue;
    const row = await store.db
      .selectFrom("entries")
      .select((eb) => [
        eb.fn.countAll<number>().as("count"),
        eb.fn.min<number>("seq").as("first"),
        eb.fn.max<number>("seq").as("last"),
        eb.fn.min<number>("time").as("earliest"),
        eb.fn.max<number>("time").as("latest"),
      ])
      .where("agent", "=", ref.agent)
      .where("conversation", "=", segment.conversation)
      .where("branch", "=", segment.branch)
      .where("seq", "<=", segment.upTo)
      .where("seq", ">", after)
      .where("seq", "<", before)
      .where("kind", "in", messageKinds)
      .executeTakeFirst();
    const count = Number(row?.count ?? 0);
    if (count === 0 || row === undefined) continue;
    if (run.count === 0) {
      run.firstSeq = Number(row.first);
      run.earliestAt = Number(row.earliest);
    }
    run.count += count;
    run.lastSeq = Number(row.last);
    run.earliestAt = Math.min(run.earliestAt, Number(row.earliest));
    run.latestAt = Math.max(run.latestAt, Number(row.latest));
  }
  return run;
}

/** Where the first message of a path after an entry is. */
export async function findFirstMessage(
  store: Store,
  ref: ConversationRef,
  path: readonly Segment[],
  after: number,
): Promise<{ seq: number; time: number } | undefined> {
  for (const segment of path) {
    if (segment.upTo <= after) continue;
    const row = await store.db
      .selectFrom("entries")
      .select(["seq", "time"])
      .where("agent", "=", ref.agent)
      .where("conversation", "=", segment.conversation)
      .where("branch", "=", segment.branch)
      .where("seq", "<=", segment.upTo)
      .where("seq", ">", after)
      .where("kind", "in", messageKinds)
      .orderBy("seq")
      .limit(1)
      .executeTakeFirst();
    if (row !== undefined) return { seq: Number(row.seq), time: Number(row.time) };
  }
  return undefined;
}

const requestsAtOnce = 50;
const requestPagesMax = 40;

/** The last message before an entry for which `matches` holds among the person's messages; none before `from`. */
export async function findRequestBefore(
  store: Store,
  ref: ConversationRef,
  path: readonly Segment[],
  before: number,
  from: number,
  matches: (item: MessageItem) => boolean,
): Promise<MessageEntry | undefined> {
  for (const segment of path.toReversed()) {
    let limit = Math.min(before, segment.upTo + 1);
    for (let page = 0; page < requestPagesMax && limit > from; page += 1) {
      const rows = await store.db
        .selectFrom("entries")
        .select("seq")
        .where("agent", "=", ref.agent)
        .where("conversation", "=", segment.conversation)
        .where("branch", "=", segment.branch)
        .where("seq", "<", limit)
        .where("seq", ">=", from)
        .where("kind", "=", "user")
        .orderBy("seq", "desc")
        .limit(requestsAtOnce)
        .execute();
      if (rows.length === 0) break;
      const seqs = rows.map((row) => Number(row.seq));
      const entries = await readEntries(store, ref.agent, seqs, "reference");
      const found = entries.flatMap((entry) => toMessageEntry(entry) ?? []).findLast(({ item }) => matches(item));
      if (found !== undefined) return found;
      limit = Math.min(...seqs);
    }
  }
  return undefined;
}

/** The tokens of the messages after the summaries. A message counts at most `most`: a view shows no more of it. */
export async function rawTokens(
  store: Store,
  ref: ConversationRef,
  frontier: Frontier,
  most = Number.MAX_SAFE_INTEGER,
): Promise<number> {
  let total = 0;
  for (const segment of frontier.path) {
    if (segment.upTo <= frontier.coveredSeq) continue;
    const row = await store.db
      .selectFrom("entries")
      .select((eb) =>
        eb.fn.sum<number>(eb.case().when("tokens", ">", most).then(most).else(eb.ref("tokens")).end()).as("tokens"),
      )
      .where("agent", "=", ref.agent)
      .where("conversation", "=", segment.conversation)
      .where("branch", "=", segment.branch)
      .where("seq", "<=", segment.upTo)
      .where("seq", ">", frontier.coveredSeq)
      .where("kind", "in", messageKinds)
      .executeTakeFirst();
    total += Number(row?.tokens ?? 0);
  }
  return total;
}
