import { chooseWords, selectMemorySpace } from "../../search/index.ts";
import type { MemoryTable, Store } from "../../store/index.ts";
import type { Category } from "../memory.ts";
import type { MemoryContext } from "../memory-context.ts";
import { selectMemories } from "../read.ts";
import { extractIndexTerms } from "../similarity.ts";
import { loadBackground, scaleCosine } from "./background.ts";
import { expandQuery } from "./expand-query.ts";

export interface FindRequest {
  query: string;
  limit: number;
  scopes?: readonly string[];
  category?: Category;
  asOf?: number;
  includeHistory?: boolean;
  /** Search by words only; no embedding model is loaded. */
  wordsOnly?: boolean;
  /** Use no reranker over the network: for callers that cannot wait. */
  noNetwork?: boolean;
  /** Whether every hit lists its score after each stage. */
  explain?: boolean;
  signal?: AbortSignal;
}

/** The candidates of each retriever: a minimum, and a multiple of the limit. */
const candidatesLeast = 80;
const candidatesEach = 2;
/** Words in more memories than this are common: only the newest memories that contain them are ranked. */
const rowsMax = 2_000;
const rankedMax = 2_000;
const countMax = 20_000;
const widerTimes = 4;
/** The weight of a synonym when the words of a query are chosen. */
const expansionWeight = 0.5;

/** The rows that the retrievers found. */
export interface RetrievedMemories {
  rows: MemoryTable[];
  /** Found by words. */
  lexical: ReadonlySet<string>;
  /** The relevance by meaning, by id; 0.3 is where unrelated texts end. The nearest may be unrelated as well. */
  meaning: ReadonlyMap<string, number>;
  mode: "words" | "words and vectors";
  note?: string;
}

/** Retrieves candidates by words and by vectors at the same time. */
export async function retrieveMemories(
  context: Pick<MemoryContext, "store" | "embeddings" | "settings">,
  scopes: readonly string[] | undefined,
  request: FindRequest,
): Promise<RetrievedMemories> {
  const { store } = context;
  const now = store.clock.now();
  const [byVectors, matched] = await Promise.all([
    retrieveByVectors(context, scopes, request),
    retrieveByWords(store, scopes, request, {
      at: request.asOf ?? now,
      expand: context.settings.recall.synonymWeight > 0,
    }),
  ]);
  const ids = matched.filter((id) => !byVectors.rows.has(id));
  const read = ids.length === 0 ? [] : await readRows(store, scopes, request, now, ids);
  return {
    rows: [...byVectors.rows.values(), ...read],
    lexical: new Set(matched),
    meaning: byVectors.scores,
    mode: byVectors.mode,
    ...(byVectors.note === undefined ? {} : { note: byVectors.note }),
  };
}

function countCandidates({ limit }: FindRequest): number {
  return Math.max(candidatesLeast, candidatesEach * limit);
}

/** Retrieves by words, the rarest first; common words only combined, or among the newest memories. */
async function retrieveByWords(
  store: Store,
  scopes: readonly string[] | undefined,
  request: FindRequest,
  { at, expand }: { at: number; expand: boolean },
): Promise<string[]> {
  const { query, category, includeHistory } = request;
  const most = countCandidates(request);
  const words = extractIndexTerms(query);
  if (words.length === 0) return [];
  const others = expand ? extractIndexTerms([...expandQuery(query).values()].flat().join(" ")) : [];
  const all = [...new Set([...words, ...others])];
  const { counts, of } = await store.countMemoryWords(all, countMax);
  // Words that no memory contains are dropped.
  const counted = all
    .map((word, index) => ({
      phrase: word,
      weight: index < words.length ? 1 : expansionWeight,
      count: counts[index] ?? 0,
    }))
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

function readRows(
  store: Store,
  scopes: readonly string[] | undefined,
  request: FindRequest,
  now: number,
  ids: readonly string[],
): Promise<MemoryTable[]> {
  return selectMemories(store.db, scopes, request, now).selectAll().where("id", "in", ids).execute();
}

interface VectorMatches {
  scores: Map<string, number>;
  rows: Map<string, MemoryTable>;
  mode: RetrievedMemories["mode"];
  note?: string;
}

/** Retrieves by vectors. A failure becomes a note instead of an error: the search continues with words. */
async function retrieveByVectors(
  { store, embeddings, settings }: Pick<MemoryContext, "store" | "embeddings" | "settings">,
  scopes: readonly string[] | undefined,
  request: FindRequest,
): Promise<VectorMatches> {
  const none = { scores: new Map<string, number>(), rows: new Map<string, MemoryTable>(), mode: "words" as const };
  if (request.wordsOnly) return none;
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
    const rows = new Map<string, MemoryTable>();
    let related = 0;
    for (const row of read) {
      const relevance = scaleCosine(cosines.get(row.id) ?? 0, background.find(row.abstract));
      scores.set(row.id, relevance);
      rows.set(row.id, row);
      if (relevance >= settings.recall.meaningFloor) related += 1;
    }
    const isAll = all.length < wanted || related < read.length || round === widerTimes;
    if (isAll || related >= request.limit) return { scores, rows, mode: "words and vectors", ...noted };
  }
}
