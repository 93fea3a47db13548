import { narrowScopes, type Visibility } from "../../authorization/index.ts";
import { chooseWords, selectMemorySpace } from "../../search/index.ts";
import type { Store } from "../../store/index.ts";
import { computeWorth, searchFactor } from "../decay.ts";
import type { Category, Memory } from "../memory.ts";
import type { MemoryContext } from "../memory-context.ts";
import { filtered } from "../read.ts";
import { loadMemories, memoryFromRow } from "../rows.ts";
import { indexTerms } from "../similarity.ts";
import { fitnessFor } from "./fitness.ts";

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

/** What each leg brings, at least, and how many times what is wanted. */
const candidatesLeast = 80;
const candidatesEach = 2;
/** Words that more memories hold than this are common; beyond it, only the newest that hold them are ranked. */
const rowsMax = 2_000;
const rankedMax = 2_000;
const countMax = 20_000;
/**
 * Nearer than this in meaning is more than chance: of questions and the facts that answer them MiniLM puts five in six
 * above it, of unrelated pairs one in fifty.
 */
export const meaningFloor = 0.25;
const widerTimes = 4;
const expiredFactor = 0.6;
const outdatedFactor = 0.5;

/** The memories that fit a question, the best first. They are ranked here, so that both engines rank alike. */
export async function findMemories(
  context: Pick<MemoryContext, "store" | "embeddings">,
  visibility: Visibility,
  request: FindRequest,
): Promise<FoundMemories> {
  const seen = narrowScopes(visibility, request.scopes);
  if (seen?.length === 0) return { hits: [], mode: "words" };
  const { store } = context;
  const now = store.clock.now();
  const at = request.asOf ?? now;
  const [near, matched] = await Promise.all([byMeaning(context, seen, request), byWords(store, seen, request, at)]);
  const ids = matched.filter((id) => !near.rows.has(id));
  const read = ids.length === 0 ? [] : await readRows(store, seen, request, now, ids);
  const fits = fitnessFor(request.query);
  const scored = [...near.rows.values(), ...read]
    .map((row) => {
      const memory = memoryFromRow(row);
      return { row, ...scoreMemory(memory, at, Math.max(fits(memory), near.scores.get(row.id) ?? 0)) };
    })
    .sort((a, b) => b.score - a.score || b.row.valid_from - a.row.valid_from || (a.row.id < b.row.id ? 1 : -1))
    .slice(0, request.limit);
  const memories = await loadMemories(
    store.db,
    scored.map((one) => one.row),
  );
  const hits = memories.flatMap((memory, index) => {
    const one = scored[index];
    if (!one) return [];
    const { row: _, ...rest } = one;
    return [{ memory, ...rest }];
  });
  return { hits, mode: near.mode, ...(near.note === undefined ? {} : { note: near.note }) };
}

function scoreMemory(
  memory: Parameters<typeof computeWorth>[0] & Pick<Memory, "tier" | "expiresAt" | "validFrom" | "invalidatedAt">,
  at: number,
  relevance: number,
): Omit<Hit, "memory"> {
  const factor = searchFactor(memory.tier, computeWorth(memory, at).composite);
  const expired = memory.expiresAt !== undefined && memory.expiresAt <= at;
  const outdated = memory.validFrom > at || (memory.invalidatedAt !== undefined && memory.invalidatedAt <= at);
  const score = relevance * factor * (expired ? expiredFactor : 1) * (outdated ? outdatedFactor : 1);
  return { score, relevance, factor, expired, outdated };
}

function candidateCount({ limit }: FindRequest): number {
  return Math.max(candidatesLeast, candidatesEach * limit);
}

/** By their words, the rarest first; common ones only together, or among the newest. */
async function byWords(
  store: Store,
  seen: readonly string[] | undefined,
  request: FindRequest,
  at: number,
): Promise<string[]> {
  const { query, category, includeHistory } = request;
  const most = candidateCount(request);
  const words = indexTerms(query);
  if (words.length === 0) return [];
  const { counts, of } = await store.countMemoryWords(words, countMax);
  // A word that no memory holds finds none.
  const counted = words
    .map((word, index) => ({ phrase: word, weight: 1, count: counts[index] ?? 0 }))
    .filter((word) => word.count > 0);
  const base = { scopes: seen, category, limit: most, ...(includeHistory ? {} : { validAt: at }) };
  for (const choice of chooseWords(counted, of, most, rowsMax)) {
    const phrases = choice.words.map((word) => word.phrase);
    if (phrases.length === 0) continue;
    const together = choice.any ? {} : { together: [phrases] };
    const found = await store.matchMemories({ ...base, words: phrases, ...together, rankedMax });
    if (choice.any || found.length >= most / 2) return found.map((one) => one.id);
  }
  return [];
}

type Row = Awaited<ReturnType<typeof readRows>>[number];

function readRows(
  store: Store,
  seen: readonly string[] | undefined,
  request: FindRequest,
  now: number,
  ids: readonly string[],
) {
  return filtered(store.db, seen, request, now).selectAll().where("id", "in", ids).execute();
}

interface ByMeaning {
  scores: Map<string, number>;
  rows: Map<string, Row>;
  mode: FoundMemories["mode"];
  note?: string;
}

/** By vectors, where there are any. A search by words alone is better than none: a failure is said, not thrown. */
async function byMeaning(
  { store, embeddings }: Pick<MemoryContext, "store" | "embeddings">,
  seen: readonly string[] | undefined,
  request: FindRequest,
): Promise<ByMeaning> {
  const none = { scores: new Map<string, number>(), rows: new Map<string, Row>(), mode: "words" as const };
  if (!embeddings.embedder) return { ...none, note: "no embedding model is installed: searched by words alone" };
  const { context, note } = await selectMemorySpace(embeddings, seen);
  const { embedder, memoryVectors } = context;
  const noted = note === undefined ? {} : { note };
  if (!embedder || !memoryVectors) return none;
  let query: ArrayLike<number>;
  try {
    if (await memoryVectors.isEmpty()) return { ...none, mode: "words and vectors", ...noted };
    query = (await embedder.embedQuery(request.query, request.signal)).vector;
  } catch (error) {
    request.signal?.throwIfAborted();
    const because = error instanceof Error ? error.message : String(error);
    return { ...none, note: `no vectors (${because}): searched by words alone` };
  }
  // Versions that are believed no longer have vectors too, and may stand before those that are.
  for (let wanted = candidateCount(request), round = 1; ; wanted *= 4, round += 1) {
    const all = await memoryVectors.nearest(query, wanted, seen);
    const near = all.filter((hit) => hit.cosine >= meaningFloor);
    const scores = new Map(near.map((hit) => [hit.id, hit.cosine]));
    const read = scores.size === 0 ? [] : await readRows(store, seen, request, store.clock.now(), [...scores.keys()]);
    const rows = new Map(read.map((row) => [row.id, row]));
    const isAll = near.length < wanted || round === widerTimes;
    if (isAll || rows.size >= request.limit) return { scores, rows, mode: "words and vectors", ...noted };
  }
}
