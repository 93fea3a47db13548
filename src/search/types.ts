import type { Clock } from "../domain/index.ts";
import type { Embedder, Reranker } from "../models/index.ts";
import type { Store } from "../store/index.ts";

/** A memory is found by its own room; the engine puts what both find together. */
export const resultKinds = ["message", "summary", "memory", "file", "chunk"] as const;
export type ResultKind = (typeof resultKinds)[number];

export const profiles = ["tuned", "classic"] as const;
export type Profile = (typeof profiles)[number];

/** The stages after fusion, in their order; each can be switched off and each is traced. */
export const stageNames = [
  "minScore",
  "rerank",
  "recency",
  "importance",
  "length",
  "decay",
  "hardMinScore",
  "noise",
  "diversity",
  "limit",
] as const;
export type StageName = (typeof stageNames)[number];

export interface FindOptions {
  agent: string;
  /** Only this conversation and what it was forked from. */
  conversation?: number;
  kinds?: ResultKind[];
  since?: number;
  before?: number;
  limit?: number;
  /** The least score of a result, in place of the profile's own. */
  minScore?: number;
  profile?: Profile;
  /** Which legs to ask; both when absent. */
  retrievers?: Retriever[];
  /** Stages to leave out. */
  skipStages?: StageName[];
  /** Whether every result says its score after each stage. */
  explain?: boolean;
  /** A person is still typing: the last word may be the beginning of one. */
  interactive?: boolean;
  /** Whether a reranker over the network is left out, and what has no vector yet stays so: for what may not wait. */
  noNetwork?: boolean;
  signal?: AbortSignal;
}

export type Retriever = "lexical" | "vector";
export type Mode = "hybrid" | "lexical" | "vector";
export type Confidence = "strong" | "weak" | "none";

/** What speaks for the best result, none of it relative to the other results. */
export interface Evidence {
  /** The share of the query's weight that the result and its neighbours hold in words. */
  coverage: number;
  cosine?: number;
  /** Late interaction, before it was stretched: the result alone, and with its neighbours. */
  late?: number;
}

export interface SearchResult {
  kind: ResultKind;
  id: string;
  /** How to name it to others: `msg#12`, `sum_…`, `file_…`, `memory/plan.md#L3-L9`. */
  citation: string;
  score: number;
  snippet: string;
  time: number;
  sessionKey: string | null;
  /** The legs that found it; `context` when a neighbour did. */
  sources: (Retriever | "context")[];
  /** Why it stands where it does although its score says otherwise. */
  notes?: string[];
  /** Its score after every stage, with `explain`. */
  stages?: Record<string, number>;
}

export interface SearchAnswer {
  query: string;
  mode: Mode;
  confidence: Confidence;
  /** How sure it is that the best result answers, from 0 to 1; `confidence` is this in words. */
  certainty: number;
  results: SearchResult[];
  /** What was left out, and why; empty when nothing was. */
  cut: string[];
  /** What did not work as it should, in words: a leg without a model, messages without vectors. */
  degraded: string[];
  /** What was understood: the span of time a question names. */
  understood: { time?: { from: number; to: number; text: string } };
  /** With `explain`: what the confidence was made from. */
  evidence?: Evidence;
  /** With `explain`: how long each step took, and how many candidates it left. */
  steps?: { name: string; ms: number; candidates: number }[];
}

/** What the log says in an entry, as the transcript room reads it. */
export interface DecodedEntry {
  text: string;
  /** The name of who speaks, where the message has one. */
  name?: string;
}

export interface SearchDependencies {
  store: Store;
  clock: Clock;
  /** Absent: search works on words alone and says so. */
  embedder?: Embedder;
  /** Absent: what comes with the package puts the best in order. */
  reranker?: Reranker;
  /** Opens the model of a space by its name, so that vectors of before serve until the new ones are there. */
  openSpace?(name: string): Embedder | undefined;
  decode(kind: string, payload: string): DecodedEntry;
}
