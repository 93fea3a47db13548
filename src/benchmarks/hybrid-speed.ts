import { getEntryText, openVarve, type SearchRequest, type Session, type Varve } from "../index.ts";
import { createQueries } from "./conversation.ts";
import { type BenchResult, percentile, round, timed } from "./result.ts";
import { SyntheticEmbedder } from "./synthetic-embedder.ts";

const searches = 150;
/** The first searches load the vectors; a program does that once. */
const warmUp = 10;
const depth = 20;
const recallSearches = 40;

/** Hybrid search over the messages of the ingest benchmark, without the cost of embedding. */
export async function benchHybrid(
  home: string,
  size: number,
  onProgress: (done: number) => void,
): Promise<BenchResult[]> {
  const embedder = new SyntheticEmbedder();
  const varve = await openVarve({ home, background: false, models: { embedder } });
  try {
    await varve.search.index({ onProgress: ({ embedded }) => onProgress(embedded) });
    const times: number[] = [];
    for (const [index, query] of createQueries(searches + warmUp).entries()) {
      const ms = await timed(() => varve.search.find(query, { limit: 10 }));
      if (index >= warmUp) times.push(ms);
    }
    const session = await varve.sessions.get("agent:main:bench");
    const recall = await vectorRecall(varve, session, embedder);
    return [
      { name: "hybrid.p50", size, value: round(percentile(times, 0.5)), unit: "ms" },
      { name: "hybrid.p95", size, value: round(percentile(times, 0.95)), unit: "ms, 40 to reach" },
      { name: "hybrid.recall", size, value: round(recall), unit: `of the exact ${depth}, 0.98 to reach` },
    ];
  } finally {
    await varve.close();
  }
}

/** A search of messages whose order is that of their cosines. */
export const byCosineAlone: SearchRequest = {
  kinds: ["message"],
  retrievers: ["vector"],
  profile: "classic",
  skipStages: ["minScore", "rerank", "recency", "length", "decay", "hardMinScore", "noise", "diversity"],
};

/** The recall of the vector retriever against an exact scan, by cosine alone. */
async function vectorRecall(varve: Varve, session: Session, embedder: SyntheticEmbedder): Promise<number> {
  const request: SearchRequest = { ...byCosineAlone, limit: depth };
  embedder.plain = true;
  const queries = createQueries(recallSearches);
  const exact = await nearestExactly(varve, session, embedder, queries);
  let found = 0;
  for (const [index, query] of queries.entries()) {
    const { results } = await varve.search.find(query, request);
    found += results.filter((result) => exact[index]?.has(result.id)).length;
  }
  embedder.plain = false;
  return found / (recallSearches * depth);
}

async function nearestExactly(
  varve: Varve,
  session: Session,
  embedder: SyntheticEmbedder,
  queries: readonly string[],
): Promise<ReadonlySet<string>[]> {
  const best = queries.map((query) => ({
    vector: embedder.vectorOf(query),
    hits: [] as { id: string; cosine: number }[],
  }));
  for await (const page of varve.transcripts.walk(session)) {
    for (const entry of page) {
      if (entry.type !== "message") continue;
      const vector = embedder.vectorOf(getEntryText(entry));
      for (const one of best) {
        const cosine = dot(one.vector, vector);
        if (one.hits.length === depth && cosine <= (one.hits.at(-1)?.cosine ?? 0)) continue;
        one.hits.push({ id: entry.id, cosine });
        one.hits.sort((a, b) => b.cosine - a.cosine);
        one.hits.length = Math.min(depth, one.hits.length);
      }
    }
  }
  return best.map(({ hits }) => new Set(hits.map((hit) => hit.id)));
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index += 1) sum += (a[index] as number) * (b[index] as number);
  return sum;
}
