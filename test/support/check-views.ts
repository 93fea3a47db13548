/** What must hold of every view of a conversation, whatever its budget: it fits, holds the request, covers everything. */
import { expect } from "vitest";
import { getParts, getToolCalls, getToolResults, type Message } from "../../src/domain/index.ts";
import { type ContextView, type Expansion, estimateTokens, type Session, type Varve } from "../../src/index.ts";
import { estimateMessageTokens } from "../../src/text/index.ts";
import { isLongRun } from "./long-run.ts";

const providers = [undefined, "anthropic", "openai", "openai-compatible", "google", "mistral"] as const;
const prompt = "What did we decide about the theme, and which file failed the check?";

/** Budgets from 1,000 tokens up, closer to each other where little fits. */
export function listBudgets(count: number): number[] {
  return Array.from({ length: count }, (_, index) => Math.round(1_000 * 250 ** (index / (count - 1))));
}

interface Log {
  /** The sequence numbers of all messages of the branch. */
  seqs: number[];
  newestRequest?: { seq: number; text: string };
  tokens: number;
  /** The first and last message under each summary. */
  ranges: Map<string, [first: number, last: number]>;
}

async function readLog(varve: Varve, session: Session): Promise<Log> {
  const log: Log = { seqs: [], tokens: 0, ranges: new Map() };
  for await (const page of varve.transcripts.walk(session)) {
    for (const entry of page) {
      if (entry.type !== "message") continue;
      log.seqs.push(entry.seq);
      log.tokens += estimateMessageTokens(entry.message);
      const isRequest = entry.message.role === "user" && getToolResults(entry.message).length === 0;
      if (isRequest) log.newestRequest = { seq: entry.seq, text: textOf(entry.message) };
    }
  }
  const { summaries } = await varve.context.overview(session);
  const collect = (nodes: Expansion["nodes"]): void => {
    for (const { summary, children } of nodes) {
      log.ranges.set(summary.id, [summary.firstSeq, summary.lastSeq]);
      collect(children);
    }
  };
  const summaryIds = summaries.map(({ id }) => id);
  if (summaryIds.length > 0) {
    collect((await varve.context.expand({ summaryIds, maxDepth: 50, tokenCap: 100_000_000 })).nodes);
  }
  return log;
}

function textOf(message: Message): string {
  return getParts(message)
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("\n");
}

/** Everything that must hold of a view, whatever the conversation and the budget. */
function checkView(view: ContextView, log: Log, budget: number, label: string): void {
  const tokens = view.messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0);
  const addition = estimateTokens(view.systemPromptAddition ?? "");
  expect(tokens + addition, `${label}: tokens`).toBeLessThanOrEqual(budget);
  expect(view.estimatedTokens, `${label}: estimate`).toBe(tokens + addition);
  const shown = JSON.stringify(view.messages);
  const { newestRequest } = log;
  if (newestRequest !== undefined) {
    const start = JSON.stringify(newestRequest.text.trim().slice(0, 24).toWellFormed()).slice(1, -1);
    expect(shown.includes(start) || shown.includes(`msg#${newestRequest.seq} `), `${label}: the newest request`).toBe(
      true,
    );
  }
  checkCoverage(view, log, label);
  checkPairs(view.messages, label);
}

/** Every message is in view, or under a summary in view, or in a line that names its run. */
function checkCoverage({ trace }: ContextView, log: Log, label: string): void {
  const spans: [number, number][] = trace.flatMap((item): [number, number][] => {
    if (item.kind === "summary") return item.in ? [log.ranges.get(item.id) ?? [0, 0]] : [];
    const [first, last = first] = [...item.id.matchAll(/msg#(\d+)/g)].map((found) => Number(found[1]));
    return item.kind === "message" && first !== undefined && last !== undefined ? [[first, last]] : [];
  });
  const missing = log.seqs.filter((seq) => !spans.some(([first, last]) => seq >= first && seq <= last));
  expect(missing, `${label}: messages that nothing stands for`).toEqual([]);
}

function checkPairs(messages: readonly Message[], label: string): void {
  const calls = new Set<string>();
  for (const message of messages) {
    for (const { callId } of getToolResults(message)) {
      expect(calls.has(callId), `${label}: result of ${callId} without its call`).toBe(true);
    }
    for (const { callId } of getToolCalls(message)) calls.add(callId);
  }
}

/** Text that depends on the prompt comes after everything else. */
function checkPromptLast(withPrompt: ContextView, label: string): void {
  const at = withPrompt.messages.findIndex((message) => textOf(message).includes("<recalled"));
  if (at !== -1) expect(at, `${label}: recalled text`).toBe(withPrompt.messages.length - 1);
}

export interface CheckOptions {
  /** From this budget on, a view must use at least 85% of it when the conversation is longer. */
  usedFrom?: number;
  /** Whether each budget is tried with every provider; otherwise with one, in turn. Both with and without a prompt. */
  everyProvider?: boolean;
}

export async function checkBudgets(
  varve: Varve,
  session: Session,
  budgets: readonly number[],
  label: string,
  { usedFrom = Number.POSITIVE_INFINITY, everyProvider = isLongRun }: CheckOptions = {},
): Promise<void> {
  const log = await readLog(varve, session);
  const cases = budgets.flatMap((budgetTokens, index) =>
    (everyProvider ? providers : [providers[index % providers.length]]).map((provider) => ({ budgetTokens, provider })),
  );
  for (const { budgetTokens, provider } of cases) {
    for (const asked of [undefined, prompt]) {
      const name = `${label}, ${budgetTokens} tokens, ${provider}, ${asked === undefined ? "no prompt" : "prompt"}`;
      const view = await varve.context.assemble(session, { budgetTokens, provider, prompt: asked, record: false });
      checkView(view, log, budgetTokens, name);
      checkPromptLast(view, name);
      const isLonger = log.tokens > 1.5 * budgetTokens && budgetTokens >= usedFrom;
      if (asked === undefined && provider === undefined && isLonger) {
        expect(view.estimatedTokens / budgetTokens, `${name}: used`).toBeGreaterThanOrEqual(0.85);
      }
    }
  }
}
