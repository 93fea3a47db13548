import type { Store } from "../../store/index.ts";
import { searchFactor, worthAt } from "../decay.ts";
import { sentencesOf } from "../extract/spoken.ts";
import type { Category, Memory } from "../memory.ts";
import { filtered, readMemories } from "../read.ts";
import { narrowed, type Reader } from "../scopes.ts";
import { cosine, coverage, indexTerms, termsOf, wordCosine } from "../similarity.ts";
import type { MemoryVectors } from "../vectors.ts";
import { decodeVector } from "../write.ts";

export interface FindRequest {
  query: string;
  limit: number;
  scopes?: readonly string[];
  category?: Category;
  asOf?: number;
  includeHistory?: boolean;
  signal?: AbortSignal;
}

export interface Hit {
  memory: Memory;
  score: number;
  /** How well it fits the words or the meaning, before its worth is counted. */
  relevance: number;
  factor: number;
  /** The time it is about is over. */
  expired: boolean;
  /** It is believed no longer, or was not yet. */
  outdated: boolean;
}

export interface FoundMemories {
  hits: Hit[];
  /** `words` where nothing makes vectors, or they could not be made. */
  mode: "words" | "words and vectors";
  note?: string;
}

const candidatesMax = 200;
const longTerms = 12;
const pieceTerms = 2;
const piecesMax = 20;
const vectorsMax = 20_000;
const vectorFloor = 0.3;
const expiredFactor = 0.6;
const outdatedFactor = 0.5;

/** The memories that fit a question, the best first. They are ranked here, so that both engines rank alike. */
export async function findMemories(
  host: { store: Store; now: number; vectors?: MemoryVectors },
  reader: Reader,
  request: FindRequest,
): Promise<FoundMemories> {
  const seen = narrowed(reader, request.scopes);
  if (seen?.length === 0) return { hits: [], mode: "words" };
  const { query, category, asOf, includeHistory } = request;
  const at = asOf ?? host.now;
  const words = indexTerms(query);
  const validAt = includeHistory ? undefined : at;
  const matched = await host.store.matchMemories({ scopes: seen, words, validAt, category, limit: candidatesMax });
  const near = await byMeaning(host, seen, request);
  const ids = [...new Set([...matched.map((one) => one.id), ...near.scores.keys()])];
  const memories = await readMemories(host.store.db, seen === undefined ? reader : { ...reader, scopes: seen }, ids);
  const questions = piecesOf(query);
  const hits = memories
    .map((memory) => hitOf(memory, questions, near.scores.get(memory.id) ?? 0, at))
    .sort(
      (a, b) => b.score - a.score || b.memory.validFrom - a.memory.validFrom || (a.memory.id < b.memory.id ? 1 : -1),
    )
    .slice(0, request.limit);
  return { hits, mode: near.mode, ...(near.note === undefined ? {} : { note: near.note }) };
}

/** A long question is taken as a whole and by its sentences: what it ends with may be all that it asks. */
function piecesOf(query: string): string[] {
  if (termsOf(query).length <= longTerms) return [query];
  const sentences = sentencesOf({ text: query, open: [{ start: 0, end: query.length }] })
    .map(({ start, end }) => query.slice(start, end))
    .filter((piece) => termsOf(piece).length >= pieceTerms);
  return [query, ...sentences.slice(0, piecesMax / 2), ...sentences.slice(-piecesMax / 2)];
}

function hitOf(memory: Memory, questions: readonly string[], meaning: number, at: number): Hit {
  const text = `${memory.abstract}\n${memory.content}`;
  const byWords = questions.map((one) => 0.6 * coverage(one, text) + 0.4 * wordCosine(one, memory.abstract));
  const relevance = Math.max(...byWords, meaning);
  const factor = searchFactor(memory.tier, worthAt(memory, at).composite);
  const expired = memory.expiresAt !== undefined && memory.expiresAt <= at;
  const outdated = memory.validFrom > at || (memory.invalidatedAt !== undefined && memory.invalidatedAt <= at);
  const score = relevance * factor * (expired ? expiredFactor : 1) * (outdated ? outdatedFactor : 1);
  return { memory, score, relevance, factor, expired, outdated };
}

/** By vectors, where there are any. A search by words alone is better than none: a failure is said, not thrown. */
async function byMeaning(
  { store, now, vectors }: { store: Store; now: number; vectors?: MemoryVectors },
  seen: readonly string[] | undefined,
  request: FindRequest,
): Promise<{ scores: Map<string, number>; mode: FoundMemories["mode"]; note?: string }> {
  const scores = new Map<string, number>();
  if (!vectors) return { scores, mode: "words", note: "nothing makes vectors here: searched by words alone" };
  let asked: ArrayLike<number> | undefined;
  try {
    asked = (await vectors.embed([request.query], request.signal))?.[0];
  } catch (error) {
    request.signal?.throwIfAborted();
    const because = error instanceof Error ? error.message : String(error);
    return { scores, mode: "words", note: `no vectors (${because}): searched by words alone` };
  }
  if (!asked) return { scores, mode: "words", note: "no vectors were made: searched by words alone" };
  const rows = await filtered(store.db, seen, request, now)
    .innerJoin("memory_vectors", "memory_vectors.memory", "memories.id")
    .select(["memories.id", "memory_vectors.vector"])
    .where("memory_vectors.model", "=", vectors.model)
    .orderBy("memories.num", "desc")
    .limit(vectorsMax)
    .execute();
  const scored = rows.map((row): [string, number] => [row.id, cosine(decodeVector(row.vector), asked)]);
  const best = scored.filter(([, score]) => score >= vectorFloor).sort((a, b) => b[1] - a[1]);
  return { scores: new Map(best.slice(0, candidatesMax)), mode: "words and vectors" };
}
