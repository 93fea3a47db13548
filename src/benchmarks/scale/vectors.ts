import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { getEntryText, type SearchRequest, type Varve, VarveError } from "../../index.ts";
import { createQueries, messageAt } from "../conversation.ts";
import { byCosineAlone } from "../hybrid-speed.ts";
import { type BenchResult, percentile, round, timed } from "../result.ts";
import type { SyntheticEmbedder } from "../synthetic-embedder.ts";
import { ExactScan } from "./exact-scan.ts";
import { type BenchTarget, openBench } from "./open-bench.ts";
import type { ServeReport, ServeTask } from "./serve-worker.ts";

export interface VectorsOptions extends BenchTarget {
  /** How many messages have vectors: all of one agent, and then again of many agents. */
  messages: number;
  /** How many agents share them then. */
  agents: number;
  mustBeEmpty: boolean;
}

const depth = 20;
const recallSearches = 40;
const searches = 60;
const loadRounds = 100;
const batchMessages = 500;
const session = "vectors";
const largeAgent = "benchlarge";

/** Hybrid search over one large agent and over many small ones, next to an exact scan, and the memory that it takes. */
export async function benchVectors(options: VectorsOptions): Promise<BenchResult[]> {
  const { varve, embedder, home, close } = await openBench(options, options.mustBeEmpty);
  const { messages } = options;
  const messagesEach = Math.max(1, Math.round(messages / options.agents));
  try {
    const scan = new ExactScan(embedder.space.dimensions, messages);
    await write(varve, largeAgent, messages, options, (id, text) => scan.add(id, embedder.vectorOf(text)));
    const small = Array.from({ length: options.agents }, (_, index) => `benchsmall${index}`);
    for (const [index, agent] of small.entries()) {
      await write(varve, agent, messagesEach, options, () => undefined, index * messagesEach);
    }
    options.onProgress("vector index", 0, 1);
    await varve.search.maintainVectors();
    const compared = await compareWithScan(varve, embedder, scan, messages);
    options.onProgress("serving one agent", 0, 1);
    const one = await serve({ home, ...pickDatabase(options), agents: [largeAgent], session, searchesEach: searches });
    options.onProgress("serving many agents", 0, 1);
    const many = await serve({ home, ...pickDatabase(options), agents: small, session, searchesEach: 1 });
    return [
      ...compared,
      ...describeServed("one agent", messages, one),
      ...describeServed(`${small.length} agents`, messages, many),
      {
        name: `memory of ${small.length} agents`,
        size: messages,
        value: many.memoryMb,
        unit: "MB, 400 at most",
        ratio: round(many.memoryMb / many.memoryHalfMb),
      },
      { name: "memory of one agent", size: messages, value: one.memoryMb, unit: "MB" },
    ];
  } finally {
    await close();
  }
}

function pickDatabase({ database }: VectorsOptions): { database?: string } {
  return database === undefined ? {} : { database };
}

async function write(
  varve: Varve,
  agent: string,
  count: number,
  { onProgress }: VectorsOptions,
  observe: (id: string, text: string) => void,
  from = 0,
): Promise<void> {
  const target = await varve.sessions.resolve({ key: `agent:${agent}:${session}` });
  for (let at = 0; at < count; at += batchMessages) {
    const batch = Array.from({ length: Math.min(batchMessages, count - at) }, (_, index) =>
      messageAt(from + at + index),
    );
    await varve.context.ingest(target, batch);
    for (const message of batch) observe(message.id ?? "", getEntryText({ type: "message", message }));
    onProgress(`messages of ${agent}`, at + batch.length, count);
  }
  await varve.search.index({ agent });
}

/** The recall of the vector retriever by cosine alone, and the time of a scan over all vectors in memory. */
async function compareWithScan(
  varve: Varve,
  embedder: SyntheticEmbedder,
  scan: ExactScan,
  size: number,
): Promise<BenchResult[]> {
  const request: SearchRequest = { ...byCosineAlone, agent: largeAgent, limit: depth };
  embedder.plain = true;
  await loadVectors(varve, request);
  const times = { scan: [] as number[], vector: [] as number[] };
  let found = 0;
  for (const query of createQueries(recallSearches)) {
    let exact: ReadonlySet<string> = new Set();
    times.scan.push(
      await timed(async () => {
        exact = new Set(scan.nearest(embedder.vectorOf(query), depth));
      }),
    );
    times.vector.push(
      await timed(async () => {
        const { results } = await varve.search.find(query, request);
        found += results.filter((result) => exact.has(result.id)).length;
      }),
    );
  }
  embedder.plain = false;
  const [p95, baseline] = [percentile(times.vector, 0.95), percentile(times.scan, 0.95)];
  return [
    { name: "exact scan.p95", size, value: round(baseline), unit: "ms" },
    { name: "vector search.p95", size, value: round(p95), unit: "ms", ratio: round(p95 / baseline) },
    { name: "recall@20", size, value: round(found / (recallSearches * depth)), unit: "of the exact 20, 0.98 to reach" },
  ];
}

/** Where vectors are compared in memory, the first searches load them; a program does that once. */
async function loadVectors(varve: Varve, request: SearchRequest): Promise<void> {
  for (let round = 0; round < loadRounds; round += 1) {
    const { degraded } = await varve.search.find("load", request);
    if (!degraded.some((note) => note.includes("still loading"))) return;
  }
  throw new VarveError("INTERNAL", "The vectors of the bench were not loaded in time.");
}

function describeServed(who: string, size: number, { p50, p95 }: ServeReport): BenchResult[] {
  return [
    { name: `hybrid search, ${who}.p50`, size, value: round(p50), unit: "ms" },
    { name: `hybrid search, ${who}.p95`, size, value: round(p95), unit: "ms" },
  ];
}

/** The same limit as that of a gateway. */
const youngLimit = "--max-semi-space-size=16";

async function serve(task: ServeTask): Promise<ServeReport> {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const program = fileURLToPath(new URL(`./serve-worker.${extension}`, import.meta.url));
  const child = spawn(process.execPath, [youngLimit, program, JSON.stringify(task)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString("utf8");
  });
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new VarveError("INTERNAL", `The process that serves agents ended with ${code}.`);
  return JSON.parse(output) as ServeReport;
}
