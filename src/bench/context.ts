import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Message } from "../domain/index.ts";
import { openVarve, type Session, type Varve } from "../engine.ts";
import { type Conversation, loadDatasets, messagesOf } from "./datasets.ts";
import { round } from "./result.ts";

export interface ContextFigures {
  /** The share of evidence turns whose full text is in the assembled messages. */
  evidenceInView: number;
  /** The same for a plain window of the newest messages. */
  windowBaseline: number;
  /** The share that a search and one expansion of 4,000 tokens bring up. */
  reachable: number;
  /** How many tokens of history one token of context stands for. */
  compression: number;
  /** The share of bytes that stay an identical prefix while turns are added. */
  prefixStability: number;
}

export interface ContextBench {
  datasets: Record<string, { budgets: Record<string, ContextFigures> }>;
}

export interface ContextBenchOptions {
  data: string | undefined;
  budgets: number[];
  onProgress(name: string, done: number, total: number): void;
}

const reachTokens = 4_000;
const stabilityTurns = 10;

export async function benchContext(options: ContextBenchOptions): Promise<ContextBench> {
  const datasets = loadDatasets(options.data);
  const total = [...datasets.values()].reduce((sum, list) => sum + list.length * options.budgets.length, 0);
  const result: ContextBench = { datasets: {} };
  let done = 0;
  for (const [name, conversations] of datasets) {
    const budgets: Record<string, ContextFigures> = {};
    for (const budget of options.budgets) {
      const sums = new Sums();
      for (const conversation of conversations) {
        await measure(conversation, budget, sums);
        done += 1;
        options.onProgress(`${name} at ${budget} tokens`, done, total);
      }
      budgets[String(budget)] = sums.figures();
    }
    result.datasets[name] = { budgets };
  }
  return result;
}

class Sums {
  evidence = 0;
  inView = 0;
  inWindow = 0;
  reachable = 0;
  sourceTokens = 0;
  contextTokens = 0;
  stableBytes = 0;
  bytes = 0;

  figures(): ContextFigures {
    const share = (part: number, whole: number) => (whole === 0 ? 0 : round(part / whole));
    return {
      evidenceInView: share(this.inView, this.evidence),
      windowBaseline: share(this.inWindow, this.evidence),
      reachable: share(this.reachable, this.evidence),
      compression: share(this.sourceTokens, this.contextTokens),
      prefixStability: share(this.stableBytes, this.bytes),
    };
  }
}

async function measure(conversation: Conversation, budget: number, sums: Sums): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "varve-bench-context-"));
  const varve = await openVarve({ home });
  try {
    const session = await varve.sessions.resolve({ key: "agent:main:bench:direct:conversation" });
    const messages = messagesOf(conversation);
    const later = messages.splice(-stabilityTurns);
    await varve.context.ingest(session, messages);
    const compacted = await varve.context.compact(session, { budgetTokens: budget });
    sums.sourceTokens += compacted.tokensBefore;
    sums.contextTokens += compacted.tokensAfter;
    await measurePrefix(varve, session, later, budget, sums);
    await measureQuestions(varve, session, conversation, budget, sums);
  } finally {
    await varve.close();
    rmSync(home, { recursive: true, force: true });
  }
}

async function measurePrefix(
  varve: Varve,
  session: Session,
  later: Message[],
  budget: number,
  sums: Sums,
): Promise<void> {
  let before = "";
  for (const message of later) {
    await varve.context.ingest(session, [message]);
    const view = await varve.context.assemble(session, { budgetTokens: budget });
    const text = JSON.stringify(view.messages).slice(0, -1);
    if (before !== "") {
      let same = 0;
      while (same < before.length && before[same] === text[same]) same += 1;
      sums.stableBytes += same;
      sums.bytes += before.length;
    }
    before = text;
  }
}

async function measureQuestions(
  varve: Varve,
  session: Session,
  conversation: Conversation,
  budget: number,
  sums: Sums,
): Promise<void> {
  const texts = new Map(conversation.turns.map((turn) => [turn.id, turn.text]));
  const window = await newestWindow(varve, session, budget);
  for (const question of conversation.questions) {
    if (question.evidence.length === 0) continue;
    const view = await varve.context.assemble(session, { budgetTokens: budget, prompt: question.question });
    const seen = view.messages
      .map((message) => (typeof message.content === "string" ? message.content : ""))
      .join("\n");
    const found = await varve.context.recall(session, { prompt: question.question, tokens: reachTokens });
    for (const id of question.evidence) {
      const text = texts.get(id);
      if (text === undefined) continue;
      sums.evidence += 1;
      if (seen.includes(text)) sums.inView += 1;
      if (window.has(id)) sums.inWindow += 1;
      if (found.includes(text) || seen.includes(text)) sums.reachable += 1;
    }
  }
}

/** The newest messages that fit, and nothing else: what most programs send. */
async function newestWindow(varve: Varve, session: Session, budget: number): Promise<Set<string>> {
  const ids = new Set<string>();
  const page = await varve.transcripts.read(session, { limit: 1000 });
  let tokens = 0;
  for (const entry of page.entries.toReversed()) {
    tokens += entry.tokens;
    if (tokens > budget) break;
    ids.add(entry.id);
  }
  return ids;
}
