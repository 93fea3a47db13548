import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openVarve, type SearchAnswer, type SearchRequest, type Session, type Varve } from "../index.ts";
import { type Conversation, loadDatasets, toMessages } from "./datasets.ts";
import { PlainBm25 } from "./plain-bm25.ts";
import { areaUnderCurve, type RecallFigures, RecallSums, recallDepths } from "./recall-metrics.ts";
import { round } from "./result.ts";

export interface RecallBench {
  /** The metrics of the configured search. */
  datasets: Record<string, RecallFigures>;
  /** The same questions in the same run with simpler methods. */
  baselines: Record<string, Record<string, RecallFigures>>;
  /** Whether unanswerable questions are recognised: the area under the ROC curve. */
  abstention: Record<string, { unanswerable: number; auroc: number | null; markedWeak: number }>;
  embedding: { messages: number; seconds: number };
}

export interface RecallBenchOptions {
  data: string | undefined;
  /** Only these datasets; all when absent. */
  only?: readonly string[];
  /** Whether to run the baselines too. */
  baselines: boolean;
  /** A database in place of a scratch SQLite file, such as a `postgres://` address of an empty one. */
  database?: string;
  onProgress(name: string, done: number, total: number): void;
}

/** Compares the ranking itself, without the stages after it. */
const bare: SearchRequest["skipStages"] = [
  "minScore",
  "rerank",
  "recency",
  "length",
  "hardMinScore",
  "noise",
  "diversity",
];
const ways: Record<string, SearchRequest> = {
  "bm25-tuned": { retrievers: ["lexical"], profile: "classic", skipStages: bare },
  "vector-only": { retrievers: ["vector"], profile: "classic", skipStages: bare },
  classic: { profile: "classic" },
  /** Before the model has embedded anything. */
  instant: { tier: "instant" },
};
const plain = "bm25-or";
const adversarial = "5";

class Tables {
  readonly sums = new Map<string, RecallSums>();
  readonly answerable: number[] = [];
  readonly unanswerable: number[] = [];
  weak = 0;

  of(name: string): RecallSums {
    const known = this.sums.get(name) ?? new RecallSums();
    this.sums.set(name, known);
    return known;
  }
}

export async function benchRecall(options: RecallBenchOptions): Promise<RecallBench> {
  const datasets = loadDatasets(options.data, options.only);
  const total = [...datasets.values()].reduce((sum, list) => sum + list.length, 0);
  const result: RecallBench = { datasets: {}, baselines: {}, abstention: {}, embedding: { messages: 0, seconds: 0 } };
  let done = 0;
  for (const [name, conversations] of datasets) {
    const tuned = new Tables();
    const baselines = new Map([plain, ...Object.keys(ways)].map((way) => [way, new Tables()]));
    for (const conversation of conversations) {
      await measure(conversation, name, options, tuned, baselines, result.embedding);
      done += 1;
      options.onProgress(name, done, total);
    }
    for (const [table, sums] of tuned.sums) result.datasets[table] = sums.figures();
    for (const [way, tables] of options.baselines ? baselines : []) {
      for (const [table, sums] of tables.sums) {
        result.baselines[way] = { ...result.baselines[way], [table]: sums.figures() };
      }
    }
    result.abstention[name] = {
      unanswerable: tuned.unanswerable.length,
      auroc: areaUnderCurve(tuned.answerable, tuned.unanswerable),
      markedWeak: tuned.unanswerable.length === 0 ? 0 : round(tuned.weak / tuned.unanswerable.length),
    };
  }
  result.embedding.seconds = round(result.embedding.seconds);
  return result;
}

async function measure(
  conversation: Conversation,
  dataset: string,
  options: RecallBenchOptions,
  tuned: Tables,
  baselines: ReadonlyMap<string, Tables>,
  embedding: RecallBench["embedding"],
): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "varve-bench-recall-"));
  const varve = await openVarve({ home, database: options.database });
  const simple = new PlainBm25(conversation);
  try {
    const key = `agent:main:bench:direct:${dataset}-${conversation.id}`.toLowerCase().replace(/[^a-z0-9:_.-]/g, "-");
    const session = await varve.sessions.resolve({ key });
    await varve.context.ingest(session, toMessages(conversation));
    const began = performance.now();
    const { embedded } = await varve.search.index();
    embedding.seconds += (performance.now() - began) / 1000;
    embedding.messages += embedded;
    // The first search loads the model and the vectors; a program does that once.
    await ask(varve, session, "hello", {});
    for (const question of conversation.questions) {
      const evidence = new Set(question.evidence);
      const apart = dataset === "locomo" && question.category === adversarial;
      const { answer, ms } = await ask(varve, session, question.question, {});
      if (evidence.size === 0) {
        tuned.unanswerable.push(answer.certainty);
        if (answer.confidence !== "strong") tuned.weak += 1;
        continue;
      }
      if (!apart) tuned.answerable.push(answer.certainty);
      const table = apart ? "locomo-adversarial" : dataset;
      tuned.of(table).add(listIds(answer), evidence, ms);
      if (!options.baselines) continue;
      const began = performance.now();
      const words = simple.find(question.question, Math.max(...recallDepths));
      baselines
        .get(plain)
        ?.of(table)
        .add(words, evidence, performance.now() - began);
      for (const [way, tables] of baselines) {
        if (way === plain) continue;
        const other = await ask(varve, session, question.question, ways[way] ?? {});
        tables.of(table).add(listIds(other.answer), evidence, other.ms);
      }
    }
  } finally {
    simple.close();
    await varve.close();
    rmSync(home, { recursive: true, force: true });
  }
}

async function ask(
  varve: Varve,
  session: Session,
  question: string,
  request: SearchRequest,
): Promise<{ answer: SearchAnswer; ms: number }> {
  const began = performance.now();
  const limit = Math.max(...recallDepths);
  const answer = await varve.search.find(question, { session, kinds: ["message"], limit, ...request });
  return { answer, ms: performance.now() - began };
}

function listIds(answer: SearchAnswer): string[] {
  return answer.results.map((result) => result.id);
}
