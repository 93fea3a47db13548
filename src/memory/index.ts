export { type Accesses, accessesOf } from "./access.ts";
export { type AdmissionName, admissionPresets } from "./admission.ts";
export { decayCurve, type Worth, worthAt } from "./decay.ts";
export type { Applied, DecisionKind } from "./decisions.ts";
export { isWorthReading } from "./extract/rules.ts";
export { type Extraction, type ExtractOptions, extractBatch } from "./extract/run.ts";
export { hasUnseen, seenUpTo } from "./extract/unseen.ts";
export { checkPath } from "./files/paths.ts";
export { type FileVersion, fileHistory } from "./files/rows.ts";
export { type FileCommand, runFileCommand } from "./files/run.ts";
export type { MemoryHost } from "./host.ts";
export { decideReview, forgetMemory, type MemoryPatch, type NewMemory, storeMemory, updateMemory } from "./keep.ts";
export { type Category, categoryNames, type Memory } from "./memory.ts";
export { purgeMemory } from "./purge.ts";
export {
  type Evidence,
  evidenceOf,
  getMemory,
  historyOf,
  listMemories,
  type MemoryFilter,
  type MemoryPage,
  type MemoryStats,
  statsOf,
} from "./read.ts";
export { rebuildMemoryText } from "./rebuild.ts";
export { type Block, blockOf, noteId, type RecalledNote } from "./recall/block.ts";
export { type FindRequest, type FoundMemories, findMemories, type Hit } from "./recall/find.ts";
export {
  type Recorded,
  recallsQuery,
  recordedOf,
  recordedSince,
  recordRecall,
  samePrompt,
  turnsAgo,
} from "./recall/recorded.ts";
export { recallQuery, wantsRecall } from "./recall/when.ts";
export { reflect } from "./reflect.ts";
export { listReviews, type Review } from "./review.ts";
export { type Reader, writeScope } from "./scopes.ts";
export { type CatchUpMemories, type MemoryCatchUp, MemoryShelf } from "./shelf.ts";
export { sourcesFor } from "./sources-for.ts";
export { keepUp, type Upkeep } from "./upkeep.ts";
export type { MemoryVectors } from "./vectors.ts";
