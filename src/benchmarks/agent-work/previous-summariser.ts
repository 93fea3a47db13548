import { type Entry, estimateTokens, extractiveSummary, getEntryText, type Message } from "../../index.ts";
import { type BaselineView, listMessages, type MessageEntry } from "./baselines.ts";
import { listParts } from "./steps.ts";

/** The numbers of the summariser as it was before it kept the state of work. They are frozen: a baseline must not move. */
const summaryTokens = 512;
const leafTokensMax = 20_000;
const tailMessages = 64;
/** The newest messages that are never summarised. */
const tailShare = 0.25;
const leafShare = 0.5;
/** A sweep ends when the context has no more than this share of the budget. */
const targetShare = 0.45;
const leafFanout = 8;
const condensedFanout = 4;
const hardFanout = 2;

interface Summary {
  depth: number;
  time: number;
  text: string;
  tokens: number;
  sourceTokens: number;
}

/**
 * The view as it was before: the newest messages, at least a quarter of the budget and always with the newest request,
 * then summaries, the newest first. A summary is 512 tokens of selected sentences for up to 20,000 tokens of messages, or for
 * at least eight leaves, four condensed summaries, or two of any depth while the context is too large.
 */
export function assemblePrevious(entries: readonly Entry[], budgetTokens: number): BaselineView {
  const messages = listMessages(entries);
  const total = sumTokens(messages);
  if (total <= budgetTokens) return { messages: messages.map((entry) => entry.message), tokens: total };
  const tailStart = findTailStart(messages, budgetTokens * tailShare);
  const { summaries, covered } = sweepMessages(messages, tailStart, budgetTokens);
  let from = tailStart;
  let tokens = sumTokens(messages.slice(tailStart));
  while (from > covered && tokens + (messages[from - 1]?.tokens ?? 0) <= budgetTokens) {
    from -= 1;
    tokens += messages[from]?.tokens ?? 0;
  }
  const shown: Message[] = [];
  for (const summary of summaries.toReversed()) {
    if (tokens + summary.tokens > budgetTokens) continue;
    tokens += summary.tokens;
    shown.unshift({ role: "user", content: summary.text });
  }
  return { messages: [...shown, ...messages.slice(from).map((entry) => entry.message)], tokens };
}

function sumTokens(items: readonly { tokens: number }[]): number {
  return items.reduce((sum, item) => sum + item.tokens, 0);
}

function findTailStart(messages: readonly MessageEntry[], tokensMax: number): number {
  let start = messages.length;
  let tokens = 0;
  while (start > 0 && messages.length - start < tailMessages) {
    tokens += messages[start - 1]?.tokens ?? 0;
    if (tokens > tokensMax) break;
    start -= 1;
  }
  const request = messages.findLastIndex(
    ({ message }) => message.role === "user" && listParts(message).some((part) => part.type === "text"),
  );
  if (request !== -1) start = Math.min(start, request);
  // A result stays with its call.
  while (start > 0 && listParts(messages[start]?.message ?? { content: "" }).some(isResult)) start -= 1;
  return start;
}

function isResult(part: { type: string }): boolean {
  return part.type === "tool_result";
}

/** Leaves from the oldest messages on, then condensed summaries from the lowest depth, until the target is reached. */
function sweepMessages(
  messages: readonly MessageEntry[],
  tailStart: number,
  budgetTokens: number,
): { summaries: Summary[]; covered: number } {
  const target = budgetTokens * targetShare;
  const leafTokens = Math.min(leafTokensMax, budgetTokens * leafShare);
  let summaries: Summary[] = [];
  let covered = 0;
  const isReached = () => sumTokens(summaries) + sumTokens(messages.slice(covered)) <= target;
  while (covered < tailStart && !isReached()) {
    const end = findLeafEnd(messages, covered, tailStart, leafTokens);
    summaries.push(writeLeaf(messages.slice(covered, end), summaries.at(-1)?.text));
    covered = end;
  }
  while (!isReached()) {
    const run = planCondensed(summaries, leafTokens, false) ?? planCondensed(summaries, leafTokens, true);
    if (run === undefined) break;
    const written = writeCondensed(summaries.slice(run.from, run.to), summaries[run.from - 1]?.text);
    summaries = [...summaries.slice(0, run.from), written, ...summaries.slice(run.to)];
  }
  return { summaries, covered };
}

function findLeafEnd(messages: readonly MessageEntry[], from: number, limit: number, leafTokens: number): number {
  let end = from + 1;
  let tokens = messages[from]?.tokens ?? 0;
  while (end < limit) {
    const next = messages[end];
    tokens += next?.tokens ?? 0;
    if (tokens > leafTokens && !listParts(next?.message ?? { content: "" }).some(isResult)) break;
    end += 1;
  }
  return end;
}

/** The oldest run of enough neighbours at the lowest depth that has one. */
function planCondensed(
  summaries: readonly Summary[],
  leafTokens: number,
  isHard: boolean,
): { from: number; to: number } | undefined {
  const depths = [...new Set(summaries.map((one) => one.depth))].sort((a, b) => a - b);
  for (const depth of depths) {
    const fanout = isHard ? hardFanout : depth === 0 ? leafFanout : condensedFanout;
    const from = summaries.findIndex((_, at) => {
      const run = summaries.slice(at, at + fanout);
      return run.length === fanout && run.every((one) => one.depth === depth);
    });
    if (from === -1) continue;
    let to = from + fanout;
    while (summaries[to]?.depth === depth && sumTokens(summaries.slice(from, to + 1)) <= leafTokens) to += 1;
    return { from, to };
  }
  return undefined;
}

function writeLeaf(portion: readonly MessageEntry[], previousSummary?: string): Summary {
  const turns = portion.map((entry) => {
    const toolNames = listParts(entry.message).flatMap((part) => (part.type === "tool_call" ? [part.name] : []));
    const { role, name } = entry.message;
    return { time: entry.time, speaker: name ?? role, role, text: getEntryText(entry), toolNames };
  });
  const sourceTokens = sumTokens(portion);
  const text = extractiveSummary({ depth: 0, turns, previousSummary, sourceTokens, targetTokens: summaryTokens });
  return { depth: 0, time: portion[0]?.time ?? 0, text, tokens: estimateTokens(text), sourceTokens };
}

function writeCondensed(sources: readonly Summary[], previousSummary?: string): Summary {
  const depth = (sources[0]?.depth ?? 0) + 1;
  const turns = sources.map(({ time, text }) => ({ time, speaker: "summary", role: "user" as const, text }));
  const sourceTokens = sources.reduce((sum, one) => sum + one.sourceTokens, 0);
  const text = extractiveSummary({ depth, turns, previousSummary, sourceTokens, targetTokens: summaryTokens });
  return { depth, time: sources[0]?.time ?? 0, text, tokens: estimateTokens(text), sourceTokens };
}
