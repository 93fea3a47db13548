export { selectMemorySpace } from "./active-space.ts";
export { formatChunkCitation } from "./corpus/chunk-cache.ts";
export type { CorpusText } from "./corpus/read.ts";
export type { SyncOptions, SyncResult } from "./corpus/sync.ts";
export {
  type EmbeddingReport,
  type EmbedPendingOptions,
  type EmbedPendingResult,
  embedTexts,
} from "./embedding/embed-pending.ts";
export type { EmbeddingTier } from "./embedding/embedding-tier.ts";
export type { MessageHit, MessageSearch } from "./find-messages.ts";
export { type RankedCandidate, roundScore, traceScores } from "./fuse.ts";
export type { PruneResult } from "./prune.ts";
export type { SearchContext } from "./search-context.ts";
export {
  type CorpusReadRequest,
  createSearchService,
  type FindMemories,
  type SearchCoverage,
  type SearchIndex,
  type SearchRequest,
  type SearchService,
  type TuneRequest,
} from "./search-service.ts";
export { rerankCandidates } from "./stages/rerank.ts";
export { diversify, filterByFinalMinScore, moveNoiseLast } from "./stages/stages.ts";
export { chooseWords } from "./text/choose-words.ts";
export { selectEmbeddedText } from "./text/parse-query.ts";
export type { LearnedWeights } from "./tune/learned-weights.ts";
export type { TuneResult } from "./tune/tune.ts";
export {
  type Confidence,
  type FindOptions,
  type Mode,
  type Profile,
  profiles,
  type ResultKind,
  type Retriever,
  resultKinds,
  type SearchAnswer,
  type SearchResult,
  type StageName,
  stageNames,
} from "./types.ts";
