import { narrowScopes, type Visibility } from "../../authorization/index.ts";
import {
  diversify,
  type FindMemories,
  filterByFinalMinScore,
  moveNoiseLast,
  type RankedCandidate,
  rerankCandidates,
  roundScore,
  type SearchResult,
  traceScores,
} from "../../search/index.ts";
import type { MemoryTable } from "../../store/index.ts";
import { detectLanguage } from "../../text/index.ts";
import { computeSearchFactor, computeWorth } from "../decay.ts";
import type { Memory } from "../memory.ts";
import type { MemoryContext } from "../memory-context.ts";
import { selectMemories } from "../read.ts";
import { loadMemories, memoryFromRow } from "../rows.ts";
import { computeVectorCosine, createWordVector, type WordVector } from "../similarity.ts";
import { type FindRequest, type RetrievedMemories, retrieveMemories } from "./retrieve-memories.ts";
import { createWordScorer } from "./word-scorer.ts";

export type { FindRequest } from "./retrieve-memories.ts";

export interface MemoryHit {
  memory: Memory;
  score: number;
  /** The match with the query by words or meaning, before the stages that change the score. */
  relevance: number;
  /** The factor of decay and tier. */
  factor: number;
  /** The event or plan it describes is over. */
  expired: boolean;
  /** It is not valid at the requested time. */
  outdated: boolean;
  /** It waits for a confirmation: found because it was asked for. */
  tentative: boolean;
  /** Other believed memories that it may be in conflict with; they follow it. Absent when there are none. */
  conflicts?: string[];
  /** Why its rank differs from its score. */
  notes?: string[];
  /** Its score after every stage, with `explain`. */
  stages?: Record<string, number>;
}

export interface FoundMemories {
  hits: MemoryHit[];
  /** `words` without an embedding model, or when it failed. */
  mode: "words" | "words and vectors";
  note?: string;
  /** Results that were left out, and why. */
  cut: string[];
  /** With `explain`: how long each step took, and how many candidates it left. */
  steps?: { name: string; ms: number; candidates: number }[];
}

interface MemoryCandidate extends RankedCandidate {
  row: MemoryTable;
  relevance: number;
  factor: number;
  expired: boolean;
  outdated: boolean;
}

/** The cosine of words from which two memories say nearly the same. */
const nearDuplicateFrom = 0.85;
const conflictsMax = 3;

/**
 * The memories that match a query, best first: candidates by words and vectors, fusion, then the same stages as a
 * search. Ranking happens here, so that both engines rank alike. It never writes.
 */
export async function findMemories(
  context: Pick<MemoryContext, "store" | "embeddings" | "settings">,
  visibility: Visibility,
  request: FindRequest,
): Promise<FoundMemories> {
  const scopes = narrowScopes(visibility, request.scopes);
  if (scopes?.length === 0) return { hits: [], mode: "words", cut: [] };
  const { store, embeddings, settings } = context;
  const { recall } = settings;
  const { limit } = request;
  const steps: NonNullable<FoundMemories["steps"]> = [];
  let began = performance.now();
  let list: MemoryCandidate[] = [];
  const trace = (name: string) => {
    traceScores(list, name);
    const now = performance.now();
    steps.push({ name, ms: roundScore(now - began), candidates: list.length });
    began = now;
  };

  const retrieved = await retrieveMemories(context, scopes, request);
  const at = request.asOf ?? store.clock.now();
  list = fuseCandidates(retrieved, request, at, settings);
  trace("fusion");
  const cut: string[] = [];
  const notes = retrieved.note === undefined ? [] : [retrieved.note];
  if (embeddings.reranker && !request.noNetwork && !request.wordsOnly && list.length > 0) {
    const options = { limit, weight: recall.rerankWeight, hasLate: false, signal: request.signal };
    const reranked = await rerankCandidates(embeddings.reranker, request.query, list, options);
    if (reranked.degraded !== undefined) notes.push(reranked.degraded);
    if (reranked.cut !== undefined) cut.push(reranked.cut);
    trace("rerank");
  }
  for (const one of list) one.score *= 1 - recall.importanceWeight * (1 - one.row.importance);
  trace("importance");
  for (const one of list) {
    one.score *= one.factor * (one.expired ? recall.expiredFactor : 1) * (one.outdated ? recall.outdatedFactor : 1);
  }
  trace("decay");
  const { remaining, removed } = filterByFinalMinScore(list, recall.hardFloor);
  if (removed > 0) cut.push(`${removed} candidates below the minimum score after all stages`);
  list = moveNoiseLast(remaining.sort(compareMemories));
  trace("noise");
  list = diversify(list, { front: 2 * limit, same: nearDuplicateFrom, lambda: recall.diversityLambda }, likeness());
  trace("diversity");
  if (list.length > limit) cut.push(`${list.length - limit} more memories beyond the limit of ${limit}`);
  const hits = await toHits(context, list.slice(0, limit), request, scopes);
  return {
    hits,
    mode: retrieved.mode,
    ...(notes.length === 0 ? {} : { note: notes.join("; ") }),
    cut,
    ...(request.explain ? { steps } : {}),
  };
}

/** Best first; of equal ones the newest. */
function compareMemories(a: MemoryCandidate, b: MemoryCandidate): number {
  return b.score - a.score || b.row.valid_from - a.row.valid_from || (a.row.id < b.row.id ? 1 : -1);
}

/** Words and meaning are two signals: the stronger counts, and it counts more when the other agrees. */
function fuseCandidates(
  { rows, lexical, meaning }: RetrievedMemories,
  { query }: FindRequest,
  at: number,
  { recall, decay }: MemoryContext["settings"],
): MemoryCandidate[] {
  const scoreWords = createWordScorer(query, recall);
  // The text index knows the forms of English words; other languages are matched by their beginnings and parts.
  const matchesForms = detectLanguage(query).code !== "en";
  return rows.flatMap((row): MemoryCandidate[] => {
    const near = meaning.get(row.id);
    const isRelated = (near ?? 0) >= recall.meaningFloor;
    // The nearest vector always exists, so being nearest is not enough.
    if (!isRelated && !matchesForms && !lexical.has(row.id)) return [];
    const words = scoreWords(row);
    if (!isRelated && words === 0) return [];
    const memory = memoryFromRow(row);
    const relevance = Math.min(1, Math.max(words, near ?? 0) + recall.agreementWeight * Math.min(words, near ?? 0));
    const candidate: MemoryCandidate = {
      row,
      doc: { key: row.id, kind: "memory", speaker: "", text: row.abstract },
      sources: [...(lexical.has(row.id) ? (["lexical"] as const) : []), ...(near ? (["vector"] as const) : [])],
      bm25: words,
      cosine: near,
      score: relevance,
      relevance,
      factor: computeSearchFactor(memory.tier, computeWorth(memory, at, decay).composite, decay),
      expired: memory.expiresAt !== undefined && memory.expiresAt <= at,
      outdated: memory.validFrom > at || (memory.invalidatedAt !== undefined && memory.invalidatedAt <= at),
      ranksLast: false,
      stages: {},
      notes: [],
    };
    return [candidate];
  });
}

/** Compares the words of memories; the words of each are extracted once. */
function likeness(): (a: MemoryCandidate, b: MemoryCandidate) => number {
  const prepared = new Map<MemoryCandidate, WordVector>();
  const prepare = (one: MemoryCandidate): WordVector => {
    const known = prepared.get(one) ?? createWordVector(one.row.abstract);
    prepared.set(one, known);
    return known;
  };
  return (a, b) => computeVectorCosine(prepare(a), prepare(b));
}

async function toHits(
  { store }: Pick<MemoryContext, "store">,
  list: readonly MemoryCandidate[],
  request: FindRequest,
  scopes: readonly string[] | undefined,
): Promise<MemoryHit[]> {
  const memories = await loadMemories(
    store.db,
    list.map((one) => one.row),
  );
  const hits = memories.flatMap((memory, index): MemoryHit[] => {
    const one = list[index];
    if (!one) return [];
    return [
      {
        memory,
        score: one.score,
        relevance: one.relevance,
        factor: one.factor,
        expired: one.expired,
        outdated: one.outdated,
        tentative: memory.tentativeUntil !== undefined,
        ...(one.notes.length > 0 ? { notes: one.notes } : {}),
        ...(request.explain ? { stages: one.stages } : {}),
      },
    ];
  });
  const opposing = await readConflicting({ store }, hits, request, scopes);
  return joinConflicts(hits, opposing);
}

/** The believed memories that hits may be in conflict with. */
async function readConflicting(
  { store }: Pick<MemoryContext, "store">,
  hits: readonly MemoryHit[],
  request: FindRequest,
  scopes: readonly string[] | undefined,
): Promise<Memory[]> {
  const ids = new Set(hits.flatMap(({ memory }) => memory.relations.flatMap(getConflict)));
  if (ids.size === 0) return [];
  const rows = await selectMemories(store.db, scopes, { asOf: request.asOf }, store.clock.now())
    .selectAll()
    .where("id", "in", [...ids])
    .execute();
  return loadMemories(store.db, rows);
}

function getConflict({ kind, memory }: Memory["relations"][number]): string[] {
  return kind === "conflicts" ? [memory] : [];
}

/** Puts a memory that a hit may be in conflict with directly after the hit, so that they are read together. */
function joinConflicts(hits: readonly MemoryHit[], opposing: readonly Memory[]): MemoryHit[] {
  const believed = new Map(opposing.map((memory) => [memory.id, memory]));
  const own = new Map(hits.map((hit) => [hit.memory.id, hit]));
  const joined = new Map<string, MemoryHit>();
  for (const hit of hits) {
    if (joined.has(hit.memory.id)) continue;
    const conflicts = hit.memory.relations.flatMap(getConflict).filter((id) => believed.has(id));
    if (conflicts.length === 0) {
      joined.set(hit.memory.id, hit);
      continue;
    }
    joined.set(hit.memory.id, { ...hit, conflicts });
    for (const id of conflicts.slice(0, conflictsMax)) {
      const memory = believed.get(id);
      if (!memory || joined.has(id)) continue;
      const known = own.get(id);
      const others = memory.relations.flatMap(getConflict).filter((other) => own.has(other) || believed.has(other));
      joined.set(id, {
        ...(known ?? { ...hit, memory, tentative: memory.tentativeUntil !== undefined }),
        conflicts: others,
        notes: [...(known?.notes ?? []), `perhaps in conflict with ${hit.memory.id}`],
      });
    }
  }
  return [...joined.values()];
}

/** The memories that match a query, in the form of search results. */
export async function searchMemories(
  context: MemoryContext,
  visibility: Visibility,
  request: Parameters<FindMemories>[1],
): Promise<SearchResult[]> {
  const { query, limit, scopes, minScore = 0, since, before, explain, signal } = request;
  const { hits } = await findMemories(context, visibility, {
    query,
    limit,
    explain,
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

function toResult({ memory, relevance, expired, outdated, tentative, notes = [], stages }: MemoryHit): SearchResult {
  const all = [
    ...(expired ? ["expired"] : []),
    ...(outdated ? ["outdated"] : []),
    ...(tentative ? ["tentative"] : []),
    ...notes,
  ];
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
    ...(all.length > 0 ? { notes: all } : {}),
    ...(stages ? { stages } : {}),
  };
}
