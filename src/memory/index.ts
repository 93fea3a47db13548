export type { Worth } from "./decay.ts";
export type { AppliedDecision, DecisionKind } from "./decisions.ts";
export { eraseMemoryScopes, eraseMemoryVersions } from "./erase-memories.ts";
export type { Extraction } from "./extract/extract-batch.ts";
export { canExtract, createExtractionJob, type ExtractionPreview } from "./extract/extraction-jobs.ts";
export { isWorthReading, previewFacts } from "./extract/rules.ts";
export { extractionCursorQuery, hasUnreadMessages } from "./extract/unread.ts";
export type { FileVersion } from "./files/rows.ts";
export type { FileCommand } from "./files/run-file-command.ts";
export type { MemoryMaintenance } from "./maintain-memories.ts";
export { type Category, categoryNames, type Memory, type Tier, tiers, trusts } from "./memory.ts";
export type { MemoryContext } from "./memory-context.ts";
export {
  createMemoryService,
  type Forgotten,
  type MemoryIndex,
  type MemoryService,
  type OpenedMemory,
} from "./memory-service.ts";
export type { Mirrored } from "./mirror/mirror-memories.ts";
export { findMisplacedMemories, type MisplacedMemory, moveMemories } from "./move-memories.ts";
export { type Evidence, getMemory, type MemoryFilter, type MemoryPage, type MemoryStats } from "./read.ts";
export { type Block, formatNoteId, type RecalledNote, renderRecallBlock } from "./recall/block.ts";
export type { FindRequest, FoundMemories, MemoryHit } from "./recall/find-memories.ts";
export type { PromptRecall, PromptRecallRequest } from "./recall/prompt-recall.ts";
export {
  findTurnStart,
  isSamePrompt,
  type RecordedRecall,
  readRecallsSince,
  recallsQuery,
  recordRecall,
  toRecordedRecall,
} from "./recall/recorded.ts";
export { isStatement, wantsRecall } from "./recall/wants-recall.ts";
export type { Review } from "./review.ts";
export type { MemoryPatch, NewMemory } from "./store-memory.ts";
export { rebuildMemoryText, toMemoryRows } from "./write.ts";
