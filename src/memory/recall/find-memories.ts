import { narrowScopes, type Visibility } from "../../authorization/index.ts";
import type { FindMemories, SearchResult } from "../../search/index.ts";
import { chooseWords, selectMemorySpace } from "../../search/index.ts";
import type { Store } from "../../store/index.ts";
import { computeSearchFactor, computeWorth, type DecaySettings } from "../decay.ts";
import type { Category, Memory } from "../memory.ts";
import type { MemoryContext } from "../memory-context.ts";
import { selectMemories } from "../read.ts";
import { loadMemories, memoryFromRow } from "../rows.ts";
import { extractIndexTerms } from "../similarity.ts";
import { loadBackground, scaleCosine } from "./background.ts";
import { createWordScorer } from "./word-scorer.ts";

export interface FindRequest {
  query: string;
  limit: number;
  scopes?: readonly string[];
  category?: Category;
  asOf?: number;
  includeHistory?: boolean;
  signal?: AbortSignal;
}

export interface MemoryHit {
  memory: Memory;
  score: number;
  /** The match with the query by words or meaning, before the decay factor. */
  relevance: number;
  factor: number;
  /** The event or plan it describes is over. */
  expired: boolean;
  /** It is not valid at the requested time. */
  outdated: boolean;
}

export interface FoundMemories {
  hits: MemoryHit[];
  /** `words` without an embedding model, or when it failed. */
  mode: "words" | "words and vectors";
  note?: string;
}

/** The candidates of each retriever: a minimum, and a multiple of the limit. */
const candidatesLeast = 80;
const candidatesEach = 2;
/** Words in more memories than this are common: only the newest memories that contain them are ranked. */
const rowsMax = 2_000;
const rankedMax = 2_000;
const countMax = 20_000;
/** The minimum relevance of a match by meaning alone: a little below where unrelated texts end. */
const meaningFloor = 0.25;
const widerTimes = 4;
const expiredFactor = 0.6;
const outdatedFactor = 0.5;

/** The memories that match a query, best first. Ranking happens here, so that both engines rank alike. */
export async function findMemories(
  context: Pick<MemoryContext, "store" | "embeddings" | "settings">,
  visibility: Visibility,
  request: FindRequest,
): Promise<FoundMemories> {
  const scopes = narrowScopes(visibility, request.scopes);
  if (scopes?.length === 0) return { hits: [], mode: "words" };
  const { store } = context;
  const now = store.clock.now();
  const at = request.asOf ?? now;
  const [vectorMatches, matched] = await Promise.all([
    retrieveByVectors(context, scopes, request),
    retrieveByWords(store, scopes, request, at),
  ]);
  const ids = matched.filter((id) => !vectorMatches.rows.has(id));
  const read = ids.length === 0 ? [] : await readRows(store, scopes, request, now, ids);
  const fits = createWordScorer(request.query);
  const scored = [...vectorMatches.rows.values(), ...read]
    .map((row) => {
      const memory = memoryFromRow(row);
      return {
        row,
        ...scoreMemory(
          memory,
          at,
          joinRelevance(fits(memory), vectorMatches.scores.get(row.id) ?? 0),
          context.settings.decay,
        ),
      };
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
  return { hits, mode: vectorMatches.mode, ...(vectorMatches.note === undefined ? {} : { note: vectorMatches.note }) };
}

/** How much the weaker of two signals adds to the stronger one. */
const agreementWeight = 0.25;

/** Words and meaning are two signals: the stronger counts, and it counts more when the other agrees. */
function joinRelevance(words: number, meaning: number): number {
  return Math.min(1, Math.max(words, meaning) + agreementWeight * Math.min(words, meaning));
}

function scoreMemory(
  memory: Parameters<typeof computeWorth>[0] & Pick<Memory, "tier" | "expiresAt" | "validFrom" | "invalidatedAt">,
  at: number,
  relevance: number,
  settings: DecaySettings,
): Omit<MemoryHit, "memory"> {
  const factor = computeSearchFactor(memory.tier, computeWorth(memory, at, settings).composite, settings);
  const expired = memory.expiresAt !== undefined && memory.expiresAt <= at;
  const outdated = memory.validFrom > at || (memory.invalidatedAt !== undefined && memory.invalidatedAt <= at);
  const score = relevance * factor * (expired ? expiredFactor : 1) * (outdated ? outdatedFactor : 1);
  return { score, relevance, factor, expired, outdated };
}

function countCandidates({ limit }: FindRequest): number {
  return Math.max(candidatesLeast, candidatesEach * limit);
}

/** Retrieves by words, the rarest first; common words only combined, or among the newest memories. */
async function retrieveByWords(
  store: Store,
  scopes: readonly string[] | undefined,
  request: FindRequest,
  at: number,
): Promise<string[]> {
  const { query, category, includeHistory } = request;
  const most = countCandidates(request);
  const words = extractIndexTerms(query);
  if (words.length === 0) return [];
  const { counts, of } = await store.countMemoryWords(words, countMax);
  // Words that no memory contains are dropped.
  const counted = words
    .map((word, index) => ({ phrase: word, weight: 1, count: counts[index] ?? 0 }))
    .filter((word) => word.count > 0);
  const base = { scopes, category, limit: most, ...(includeHistory ? {} : { validAt: at }) };
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
  scopes: readonly string[] | undefined,
  request: FindRequest,
  now: number,
  ids: readonly string[],
) {
  return selectMemories(store.db, scopes, request, now).selectAll().where("id", "in", ids).execute();
}

interface VectorMatches {
  scores: Map<string, number>;
  rows: Map<string, Row>;
  mode: FoundMemories["mode"];
  note?: string;
}

/** Retrieves by vectors. A failure becomes a note instead of an error: the search continues with words. */
async function retrieveByVectors(
  { store, embeddings }: Pick<MemoryContext, "store" | "embeddings">,
  scopes: readonly string[] | undefined,
  request: FindRequest,
): Promise<VectorMatches> {
  const none = { scores: new Map<string, number>(), rows: new Map<string, Row>(), mode: "words" as const };
  if (!embeddings.embedder) return { ...none, note: "no embedding model is installed: only words were searched" };
  const { context, note } = await selectMemorySpace(embeddings, scopes);
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
    return { ...none, note: `the embedding model failed (${because}): only words were searched` };
  }
  const background = await loadBackground(memoryVectors, embedder.space.model, store.clock.now());
  // Invalid versions have vectors too and may displace current ones; then more neighbours are requested.
  for (let wanted = countCandidates(request), round = 1; ; wanted *= 4, round += 1) {
    const all = await memoryVectors.nearest(query, wanted, scopes);
    const cosines = new Map(all.map((hit) => [hit.id, hit.cosine]));
    const read =
      cosines.size === 0 ? [] : await readRows(store, scopes, request, store.clock.now(), [...cosines.keys()]);
    const scores = new Map<string, number>();
    const rows = new Map<string, Row>();
    for (const row of read) {
      const relevance = scaleCosine(cosines.get(row.id) ?? 0, background.find(row.abstract));
      scores.set(row.id, relevance);
      if (relevance >= meaningFloor) rows.set(row.id, row);
    }
    const isAll = all.length < wanted || rows.size < read.length || round === widerTimes;
    if (isAll || rows.size >= request.limit) return { scores, rows, mode: "words and vectors", ...noted };
  }
}

/** The memories that match a query, in the form of search results. */
export async function searchMemories(
  context: MemoryContext,
  visibility: Visibility,
  request: Parameters<FindMemories>[1],
): Promise<SearchResult[]> {
  const { query, limit, scopes, minScore = 0, since, before, signal } = request;
  const { hits } = await findMemories(context, visibility, {
    query,
    limit,
    signal,
    ...(scopes === undefined ? {} : { scopes: [...scopes] }),
  });
  return hits
    .filter(
      ({ memory, relevance }) =>
        relevance >= minScore &&
        memory.validFrom >= (since ?? memory.validFrom) &&
        memory.validFrom < (before ?? Number.POSITIVE_INFINITY),
    )
    .map(toResult);
}

function toResult({ memory, relevance, expired, outdated }: MemoryHit): SearchResult {
  const notes = [...(expired ? ["expired"] : []), ...(outdated ? ["outdated"] : [])];
  return {
    kind: "memory",
    id: memory.id,
    citation: memory.id,
    score: relevance,
    snippet: memory.abstract,
    text: memory.content,
    conversation: null,
    time: memory.validFrom,
    sessionKey: null,
    sources: [],
    ...(notes.length > 0 ? { notes } : {}),
  };
}
