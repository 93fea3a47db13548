export { type ActiveSpace, selectActiveSpace } from "./active-space.ts";
export { formatChunkCitation } from "./corpus/chunk-cache.ts";
export { type CorpusFolder, includeDefault, isSkipped, notesFolder } from "./corpus/folders.ts";
export { type CorpusText, type ReadRequest, readCorpus } from "./corpus/read.ts";
export { type SyncOptions, type SyncResult, syncCorpus } from "./corpus/sync.ts";
export {
  countPendingChunks,
  countPendingMessages,
  type EmbedPendingOptions,
  type EmbedPendingResult,
  embedPending,
} from "./embed-pending.ts";
export { find } from "./find.ts";
export { type PruneResult, pruneSpaces } from "./prune.ts";
export { type RankRequest, rankMessages } from "./rank-messages.ts";
export { createSearchContext, type SearchContext } from "./search-context.ts";
export { listOtherSpaces } from "./space-coverage.ts";
export { chooseWords } from "./text/choose-words.ts";
export { embeddedText } from "./text/parse-query.ts";
export {
  type Confidence,
  type DecodedEntry,
  type FindOptions,
  type Mode,
  type Profile,
  profiles,
  type ResultKind,
  type Retriever,
  resultKinds,
  type SearchAnswer,
  type SearchDependencies,
  type SearchResult,
  type StageName,
  stageNames,
} from "./types.ts";
export { VectorBlock } from "./vectors/block.ts";
export { signed, unsigned } from "./vectors/math.ts";
export { findSpace, makeSpace } from "./vectors/spaces.ts";
