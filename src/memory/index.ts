export { type AccessCounter, createAccessCounter } from "./access.ts";
export { type AdmissionName, admissionPresets } from "./admission.ts";
export { computeWorth, decayCurve, type Worth } from "./decay.ts";
export type { Applied, DecisionKind } from "./decisions.ts";
export { isWorthReading } from "./extract/rules.ts";
export { type Extraction, type ExtractOptions, extractBatch } from "./extract/run.ts";
export { extractionCursorQuery, hasUnseen } from "./extract/unseen.ts";
export { checkPath } from "./files/paths.ts";
export { type FileVersion, fileHistory } from "./files/rows.ts";
export { type FileCommand, runFileCommand } from "./files/run.ts";
export type { MemoryHost } from "./host.ts";
export { type MemoryMaintenance, maintainMemories } from "./maintain-memories.ts";
export { type Category, categoryNames, type Memory } from "./memory.ts";
export { type CatchUpMemories, type MemoryCatchUp, MemoryVectorCache } from "./memory-vector-cache.ts";
export { purgeMemory } from "./purge.ts";
export {
  type Evidence,
  getMemory,
  listMemories,
  type MemoryFilter,
  type MemoryPage,
  type MemoryStats,
  readEvidence,
  readHistory,
  readStats,
} from "./read.ts";
export { rebuildMemoryText } from "./rebuild.ts";
export { type Block, noteId, type RecalledNote, renderRecallBlock } from "./recall/block.ts";
export { type FindRequest, type FoundMemories, findMemories, type Hit } from "./recall/find.ts";
export {
  findTurnStart,
  isSamePrompt,
  type RecordedRecall,
  readRecallsSince,
  recallFromRow,
  recallsQuery,
  recordRecall,
} from "./recall/recorded.ts";
export { recallQuery, wantsRecall } from "./recall/when.ts";
export { reflect } from "./reflect.ts";
export { listReviews, type Review } from "./review.ts";
export { type Reader, writeScope } from "./scopes.ts";
export { sourcesFor } from "./sources-for.ts";
export {
  decideReview,
  forgetMemory,
  type MemoryPatch,
  type NewMemory,
  storeMemory,
  updateMemory,
} from "./store-memory.ts";
export type { MemoryVectors } from "./vectors.ts";
