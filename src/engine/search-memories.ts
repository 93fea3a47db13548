import { findMemories, type Hit } from "../memory/index.ts";
import type { Confidence, SearchAnswer, SearchResult } from "../search/index.ts";
import type { EngineHost } from "./host.ts";
import { memoryHost, readerOf } from "./memory-settings.ts";

export interface MemorySearch {
  query: string;
  agent: string;
  limit: number;
  /** Who asks may see no other scopes than these. */
  allowed?: readonly string[];
  /** Only these of them. */
  scopes?: readonly string[];
  minScore?: number;
  since?: number;
  before?: number;
  signal?: AbortSignal;
}

/** How well a memory has to fit to be called an answer. */
const strongRelevance = 0.6;

/** The memories that fit a question, in the form of every other result. */
export async function searchMemories(host: EngineHost, wanted: MemorySearch): Promise<SearchResult[]> {
  const { query, agent, limit, allowed, scopes, minScore = 0, since, before, signal } = wanted;
  const reader = readerOf(host.loaded.config, { agent, ...(allowed === undefined ? {} : { scopes: allowed }) });
  const { hits } = await findMemories({ ...memoryHost(host), now: host.clock.now() }, reader, {
    query,
    limit,
    signal,
    ...(scopes === undefined ? {} : { scopes: [...scopes] }),
  });
  return hits.filter(isWanted).map(resultOf);

  function isWanted({ memory, relevance }: Hit): boolean {
    const isInTime =
      memory.validFrom >= (since ?? memory.validFrom) && memory.validFrom < (before ?? Number.POSITIVE_INFINITY);
    return relevance >= minScore && isInTime;
  }
}

function resultOf({ memory, relevance, expired, outdated }: Hit): SearchResult {
  const notes = [...(expired ? ["its time is over"] : []), ...(outdated ? ["no longer believed"] : [])];
  return {
    kind: "memory",
    id: memory.id,
    citation: memory.id,
    score: relevance,
    snippet: memory.abstract,
    time: memory.validFrom,
    sessionKey: null,
    sources: [],
    ...(notes.length > 0 ? { notes } : {}),
  };
}

/** What was said and what is remembered, the best first. */
export function withMemories(answer: SearchAnswer, memories: readonly SearchResult[], limit: number): SearchAnswer {
  const [best] = memories;
  if (!best) return answer;
  const all = [...answer.results, ...memories].sort((a, b) => b.score - a.score);
  const left = all.length - limit;
  const confidence: Confidence = best.score >= strongRelevance ? "strong" : "weak";
  return {
    ...answer,
    results: all.slice(0, limit),
    cut: left > 0 && answer.cut.length === 0 ? [`${left} further results are over the limit of ${limit}`] : answer.cut,
    confidence: surer(answer.confidence, confidence),
    certainty: Math.max(answer.certainty, best.score),
  };
}

function surer(a: Confidence, b: Confidence): Confidence {
  const order: readonly Confidence[] = ["none", "weak", "strong"];
  return order.indexOf(a) >= order.indexOf(b) ? a : b;
}
