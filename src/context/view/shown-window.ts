import type { Store } from "../../store/index.ts";
import { isUnbranched } from "../../transcript/index.ts";
import type { ConversationRef } from "../dag.ts";
import type { Frontier } from "../frontier.ts";
import type { TraceItem } from "../items.ts";
import { timeRange, timeWriter } from "../summary-text.ts";
import { isRequest } from "../tool-pairs.ts";
import { countMessagesBetween, findFirstMessage, findRequestBefore, type MessageRun, rawTokens } from "../window.ts";
import { groupMessages, type MessageGroup, messageShare, type ShownMessage, sumTokens } from "./message-groups.ts";
import { chooseWindow, findOwnRequest } from "./raw-window.ts";
import { countTokens } from "./summary-cut.ts";
import type { ReadMessage, Tail } from "./tail.ts";
import { traceMessage } from "./view-trace.ts";
import type { AssembleOptions } from "./view-types.ts";

/**
 * The share of a budget that is left for new messages: cut and window stay the same until they have filled it. Slightly
 * less than 15%, because a cut does not fill its room to the last token and 85% is to be used.
 */
export const growthShare = 0.13;
/** The tokens of a line that stands for a run of messages or summaries. */
export const lineTokens = 60;

export interface ShownWindow {
  raw: (ShownMessage | string)[];
  tokens: number;
  trace: TraceItem[];
  /** Whether it starts right after the summaries. */
  isWhole: boolean;
}

/**
 * The messages after the summaries that fit: all of them, or the newest with the request they belong to and one line for
 * each run that is not shown.
 */
export async function chooseRaw(
  store: Store,
  ref: ConversationRef,
  frontier: Frontier,
  { groups, isComplete, leading, read }: Tail,
  tokens: number,
  budget: number,
  options: AssembleOptions,
): Promise<ShownWindow> {
  const isFull = isComplete && sumTokens(groups) + sumTokens(leading) <= tokens;
  const tokensBefore =
    isFull || groups.length === 0 ? 0 : await countBefore(store, ref, frontier, groups, isComplete, options);
  // One line before the request, one after it, and the request itself: at most its share when it was not read yet.
  const overheadTokens = (from: number) => {
    const own =
      groups[from]?.messages[0]?.isRequest === true
        ? 0
        : (findOwnRequest(groups, from)?.tokens ?? Math.floor(budget * messageShare));
    return (own === 0 ? 1 : 2) * lineTokens + own;
  };
  const stepTokens = Math.max(1, Math.floor(budget * growthShare));
  const window = chooseWindow(groups, {
    tokens: tokens - sumTokens(leading),
    stepTokens,
    tokensBefore,
    isComplete,
    overheadTokens,
  });
  const shown = groups.slice(window.from).flatMap((group) => group.messages);
  const first = shown[0];
  if (window.isWhole || first === undefined) {
    const notes = window.isWhole ? leading : [];
    return {
      raw: [...notes.map(({ text }) => text), ...shown],
      tokens: sumTokens(shown) + sumTokens(notes),
      trace: shown.map((one) => traceMessage(one, "fresh tail")),
      isWhole: true,
    };
  }
  const request = first.isRequest
    ? undefined
    : (findOwnRequest(groups, window.from) ?? (await readOwnRequest(store, ref, frontier, first.seq, budget, options)));
  const begin = Math.max(frontier.coveredSeq, (options.begin?.seq ?? 1) - 1);
  const raw: (ShownMessage | string)[] = [];
  const trace: TraceItem[] = [];
  const addLine = async (after: number, before: number): Promise<void> => {
    const run =
      (await countRead(store, ref, frontier, read, after, before, options)) ??
      (await countMessagesBetween(store, ref, frontier.path, after, before));
    if (run.count === 0) return;
    const line = describeRun(run, options.timeZone);
    raw.push(line.text);
    trace.push({
      kind: "message",
      id: line.id,
      tokens: line.tokens,
      in: false,
      why: "one line; no room for the messages",
    });
  };
  await addLine(begin, request === undefined ? first.seq : request.seq);
  if (request !== undefined) {
    raw.push(request);
    trace.push(traceMessage(request, "the request of the messages after it"));
    await addLine(Math.max(begin, request.seq), first.seq);
  }
  raw.push(...shown);
  trace.push(...shown.map((one) => traceMessage(one, "newest first")));
  const total = raw.reduce((all, one) => all + (typeof one === "string" ? countTokens(one) : one.tokens), 0);
  return { raw, tokens: total, trace, isWhole: false };
}

/** The tokens of the log before the first group, counted from a fixed place: the beginning of the conversation, or the summaries. */
async function countBefore(
  store: Store,
  ref: ConversationRef,
  frontier: Frontier,
  groups: readonly MessageGroup[],
  isComplete: boolean,
  { snapshot }: AssembleOptions,
): Promise<number> {
  const stored = groups.reduce((total, group) => total + group.storedTokens, 0);
  const place = snapshot?.place;
  if (isUnbranched(place)) return Math.max(0, place.tokens - stored);
  return isComplete ? 0 : Math.max(0, (await rawTokens(store, ref, frontier)) - stored);
}

export async function readOwnRequest(
  store: Store,
  ref: ConversationRef,
  frontier: Frontier,
  before: number,
  budget: number,
  options: AssembleOptions,
): Promise<ShownMessage | undefined> {
  const found = await findRequestBefore(store, ref, frontier.path, before, options.begin?.seq ?? 0, isRequest);
  return found === undefined ? undefined : groupMessages([found], budget)[0]?.messages[0];
}

/**
 * A run of messages from what was read and from the counters of the conversation: counting the rows of a long history
 * would take time. Undefined when they do not tell.
 */
async function countRead(
  store: Store,
  ref: ConversationRef,
  frontier: Frontier,
  read: readonly ReadMessage[],
  after: number,
  before: number,
  { snapshot, begin }: AssembleOptions,
): Promise<MessageRun | undefined> {
  const inside = read.filter(({ seq }) => seq > after && seq < before);
  const [first, last] = [inside[0], inside.at(-1)];
  if (last === undefined) return undefined;
  if (first !== undefined && read.some(({ seq }) => seq <= after)) return toRun(inside.length, first, last);
  const place = snapshot?.place;
  if (!isUnbranched(place) || begin !== undefined || after !== frontier.coveredSeq) return undefined;
  const oldest = await findFirstMessage(store, ref, frontier.path, after);
  if (oldest === undefined) return undefined;
  const covered = frontier.summaries.reduce((sum, one) => sum + one.sourceMessageCount, 0);
  const shown = read.filter(({ seq }) => seq >= before).length;
  return toRun(place.message_count - covered - shown, oldest, last);
}

function toRun(count: number, first: ReadMessage, last: ReadMessage): MessageRun {
  return { count, firstSeq: first.seq, lastSeq: last.seq, earliestAt: first.time, latestAt: last.time };
}

/** One line for a run of messages: how many, from when to when, and their citations. */
function describeRun(run: MessageRun, timeZone: string | undefined): { text: string; id: string; tokens: number } {
  const range = timeRange(run.earliestAt, run.latestAt, timeWriter(timeZone));
  const id = run.count === 1 ? `msg#${run.firstSeq}` : `msg#${run.firstSeq} to msg#${run.lastSeq}`;
  const text = `[${run.count} message${run.count === 1 ? "" : "s"}, ${range}, not shown here and not summarised yet: ${id}; lcm_grep finds them, lcm_describe opens them]`;
  return { text, id, tokens: countTokens(text) };
}
