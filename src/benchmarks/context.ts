import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Message } from "../index.ts";
import { openVarve, type Session, type Varve } from "../index.ts";
import { benchWork, type WorkBench } from "./agent-work/bench-work.ts";
import { type Conversation, listTranscriptPaths, loadDatasets, toMessages } from "./datasets.ts";
import { round } from "./result.ts";

export interface ContextFigures {
  /** The share of evidence turns whose full text is in the assembled messages. */
  evidenceInView: number;
  /** The same for a plain window of the newest messages. */
  windowBaseline: number;
  /** The share that is reachable by a search and one expansion of 4,000 tokens. */
  reachable: number;
  /** How many tokens of history one token of context covers. */
  compression: number;
  /** The share of bytes that stay an identical prefix while turns are added. */
  prefixStability: number;
}

export interface ContextBench {
  datasets: Record<string, { budgets: Record<string, ContextFigures> }>;
  /** Absent when the folder contains no transcripts, or they were not asked for. */
  work?: WorkBench;
}

export interface ContextBenchOptions {
  data: string | undefined;
  /** Only these datasets; `work` stands for the transcripts. All when absent. */
  only?: readonly string[];
  /** The defaults are `questionBudgets` and `workBudgets`. */
  budgets?: readonly number[];
  onProgress(name: string, done: number, total: number): void;
}

const questionBudgets: readonly number[] = [4_000, 8_000, 16_000];
const workBudgets: readonly number[] = [4_000, 8_000, 16_000, 32_000, 64_000];
/** The name of the transcripts among the datasets. */
const workName = "work";

const reachTokens = 4_000;
const reachHits = 50;
/** A hit as a search shows it: a snippet of 200 characters with its citation. */
const snippetTokens = 55;
const stabilityTurns = 10;

export async function benchContext(options: ContextBenchOptions): Promise<ContextBench> {
  const { data, only } = options;
  const datasets = loadDatasets(
    data,
    only?.filter((name) => name !== workName),
  );
  const total = [...datasets.values()].reduce((sum, list) => sum + list.length, 0);
  const result: ContextBench = { datasets: {} };
  let done = 0;
  for (const [name, conversations] of datasets) {
    const sums = new Map((options.budgets ?? questionBudgets).map((budget) => [budget, new Sums()]));
    for (const conversation of conversations) {
      await measure(conversation, sums);
      done += 1;
      options.onProgress(name, done, total);
    }
    const budgets = [...sums].map(([budget, one]) => [String(budget), one.figures()]);
    result.datasets[name] = { budgets: Object.fromEntries(budgets) };
  }
  const paths = data === undefined || only?.includes(workName) === false ? [] : listTranscriptPaths(data);
  if (paths.length === 0) return result;
  const { budgets = workBudgets, onProgress } = options;
  return { ...result, work: await benchWork({ paths, budgets, onProgress }) };
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

/** The conversation is imported and embedded once; every budget gets a fork with its own summaries. */
async function measure(conversation: Conversation, sums: ReadonlyMap<number, Sums>): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "varve-bench-context-"));
  const varve = await openVarve({ home, background: false });
  try {
    const session = await varve.sessions.resolve({ key: "agent:main:bench:direct:conversation" });
    const messages = toMessages(conversation);
    const later = messages.splice(-stabilityTurns);
    await varve.context.ingest(session, messages);
    const reached = new Map<string, Reached>();
    for (const [budget, sum] of sums) {
      const key = `agent:main:subagent:at-${budget}`;
      const fork = (await varve.sessions.fork(session, { key, maxTokens: Number.MAX_SAFE_INTEGER })).session;
      const compacted = await varve.context.compact(fork, { budgetTokens: budget });
      sum.sourceTokens += compacted.tokensBefore;
      sum.contextTokens += compacted.tokensAfter;
      await measurePrefix(varve, fork, later, budget, sum);
      await varve.search.index();
      await measureQuestions(varve, fork, conversation, { budget, reached }, sum);
    }
  } finally {
    await varve.close();
    rmSync(home, { recursive: true, force: true });
  }
}

/**
 * Turn by turn with its jobs. Changes by a compaction, and by a coarser cut through the summaries, are not counted,
 * because the prompt must change then.
 */
async function measurePrefix(
  varve: Varve,
  session: Session,
  later: Message[],
  budget: number,
  sums: Sums,
): Promise<void> {
  let before: { text: string; compactions: number; cut: string } | undefined;
  for (const message of later) {
    await varve.context.ingest(session, [message]);
    await varve.context.afterTurn(session, { windowTokens: budget });
    await varve.jobs.drain();
    const { compactionCount: compactions } = await varve.sessions.get(session.key);
    const view = await varve.context.assemble(session, { budgetTokens: budget });
    const text = JSON.stringify(view.messages).slice(0, -1);
    if (before?.compactions === compactions && before.cut === view.cut) {
      let same = 0;
      while (same < before.text.length && before.text[same] === text[same]) same += 1;
      sums.stableBytes += same;
      sums.bytes += before.text.length;
    }
    before = { text, compactions, cut: view.cut };
  }
}

async function measureQuestions(
  varve: Varve,
  session: Session,
  conversation: Conversation,
  { budget, reached }: { budget: number; reached: Map<string, Reached> },
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
    const asked = question.question;
    // What is reachable in two calls does not depend on the budget, so it is computed once.
    const found = reached.get(asked) ?? (await reach(varve, session, asked));
    reached.set(asked, found);
    for (const id of question.evidence) {
      const text = texts.get(id);
      if (text === undefined) continue;
      sums.evidence += 1;
      if (seen.includes(text)) sums.inView += 1;
      if (window.has(id)) sums.inWindow += 1;
      if (seen.includes(text) || found.block.includes(text) || opens(found, id)) sums.reachable += 1;
    }
  }
}

/** The result of two calls of the recall tools within 4,000 tokens. */
interface Reached {
  /** One call: the best passages, whole. */
  block: string;
  /** Or two: the hits of a search as snippets, and the tokens left to open some of them. */
  hits: Map<string, number>;
}

async function reach(varve: Varve, session: Session, prompt: string): Promise<Reached> {
  const block = await varve.context.recall(session, { prompt, tokens: reachTokens });
  const { agent, conversation } = session;
  const visibility = { agent, conversations: [conversation] };
  const ranked = await varve.search.findMessages({ visibility, prompt, limit: reachHits });
  const hits = new Map<string, number>();
  for (const { entry } of ranked) hits.set(entry.id, entry.tokens);
  return { block, hits };
}

/** Whether a hit exists and can be opened with the tokens that the snippets leave. */
function opens({ hits }: Reached, id: string): boolean {
  const tokens = hits.get(id);
  return tokens !== undefined && tokens <= reachTokens - hits.size * snippetTokens;
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
