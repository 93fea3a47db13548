import type { EmbeddingTier } from "./embedding/embedding-tier.ts";

/** Memories are found by the memory module; the search service merges both. */
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
  /** Only this conversation and those it was forked from. */
  conversation?: number;
  /** Only these conversations; all of the agent's when absent. */
  conversations?: readonly number[];
  kinds?: ResultKind[];
  /** A session begins at this entry: messages on both sides of it are not neighbours of each other. */
  boundarySeq?: number;
  since?: number;
  before?: number;
  limit?: number;
  /** The minimum score of a result; replaces the profile's default. */
  minScore?: number;
  profile?: Profile;
  /** Only this tier of vectors; `instant` loads no model. Both when absent. */
  tier?: EmbeddingTier;
  /** The model has embedded all messages of the agent: none of them is searched by its instant vector. */
  isEmbedded?: boolean;
  /** How long to add instant vectors and to read vectors into memory, together; `degraded` names what was left out. */
  vectorWaitMs?: number;
  /** Which retrievers to use; both when absent. */
  retrievers?: Retriever[];
  /** Stages to skip. */
  skipStages?: StageName[];
  /** Whether every result lists its score after each stage. */
  explain?: boolean;
  /** The query is still being typed: its last word matches as a prefix. */
  interactive?: boolean;
  /** Use no reranker over the network and embed nothing that is pending: for callers that cannot wait. */
  noNetwork?: boolean;
  signal?: AbortSignal;
}

export type Retriever = "lexical" | "vector";
export type Mode = "hybrid" | "lexical" | "vector";
export type Confidence = "strong" | "weak" | "none";

/** How well the best result matches, independent of the other results. */
export interface Evidence {
  /** The share of the query's term weights that the result and its neighbours contain. */
  coverage: number;
  cosine?: number;
  /** The vectors that the cosine is from. */
  tier?: EmbeddingTier;
  /** The late-interaction score with neighbours, before scaling. */
  late?: number;
  /** The share of the words that ask for an account ("why", "how was it") that the result contains; absent without any. */
  account?: number;
}

export interface SearchResult {
  kind: ResultKind;
  id: string;
  /** How to cite it: `msg#12`, `sum_…`, `file_…`, `memory/plan.md#L3-L9`. */
  citation: string;
  score: number;
  /** The part of the text that matches best. */
  snippet: string;
  /** The whole text. */
  text: string;
  /** The sequence number of a message. */
  seq?: number;
  /** The conversation of a message or summary. */
  conversation: number | null;
  time: number;
  sessionKey: string | null;
  /** The retrievers that found it; `context` when a neighbour did. */
  sources: (Retriever | "context")[];
  /** Which vectors it was compared by; absent when it has none, or only words were searched. */
  tier?: EmbeddingTier;
  /** Why its rank differs from its score. */
  notes?: string[];
  /** Its score after every stage, with `explain`. */
  stages?: Record<string, number>;
  /** The values that the weights `advanced.search.weights` multiply, with `explain`. */
  features?: Readonly<Record<string, number>>;
}

export interface SearchAnswer {
  query: string;
  mode: Mode;
  confidence: Confidence;
  /** How certain it is that the best result answers the query, 0 to 1; `confidence` is derived from it. */
  certainty: number;
  results: SearchResult[];
  /** The tiers of vectors that were searched: those of the model, and instant ones for what it has not embedded. */
  tiers: EmbeddingTier[];
  /** Results and texts that were left out, and why. */
  cut: string[];
  /** Reasons for incomplete results: a retriever without a model, messages without vectors. */
  degraded: string[];
  /** The span of time that the query names. */
  understood: { time?: { from: number; to: number; text: string } };
  /** With `explain`: the basis of `confidence`. */
  evidence?: Evidence;
  /** With `explain`: how long each step took, and how many candidates it left. */
  steps?: { name: string; ms: number; candidates: number }[];
}
