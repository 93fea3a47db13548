export {
  type AppendOptions,
  appendEntries,
  batchEntriesMax,
  type LargeContentPolicy,
  listMessages,
  messageDraft,
  type TranscriptRef,
} from "./append.ts";
export {
  type BranchInfo,
  listBranches,
  listCheckpoints,
  moveHead,
  restoreCheckpoint,
  saveCheckpoint,
} from "./branch.ts";
export { checkLog, type Finding, fixCounters } from "./check-log.ts";
export { decodeBody } from "./codec.ts";
export { type ContentForm, indexWordsForRows } from "./decode.ts";
export { type ExportFormat, exportConversation, exportFormats } from "./export/write.ts";
export {
  type Cleaned,
  type CleanOptions,
  cleanForProvider,
  type HygieneChange,
  type HygieneProvider,
  type HygieneRule,
  isSilentReply,
  type SilentReplyGate,
  silentReplyGate,
} from "./hygiene/index.ts";
export type {
  ImportHost,
  ImportOptions,
  ImportProgress,
  ImportReport,
  OpenedSession,
} from "./import/import-types.ts";
export { type LegacySession, legacyStoreName, parseLegacyStore } from "./import/legacy.ts";
export { type ImportedSession, type SourceName, sourceNames } from "./import/reader.ts";
export { importPaths } from "./import/run.ts";
export {
  findEntryFiles,
  findFile,
  noteFile,
  readFileContents,
  readFileHeads,
  type StoredFile,
} from "./large-content/files.ts";
export { type FileHead, fileReference } from "./large-content/reference.ts";
export {
  activePath,
  isInherited,
  listAncestors,
  listForkSpans,
  parentSegment,
  pathFrom,
  placeQuery,
  readHead,
  type Segment,
} from "./path.ts";
export {
  findEntry,
  type Page,
  readAfter,
  readEntries,
  readTail,
  type TailOptions,
  walkBranch,
  walkConversation,
} from "./read.ts";
export { type ScannedMessage, scanMessages } from "./scan.ts";
export { getEntryText, getPartsText } from "./text.ts";
export { readTip, tipQuery, transcriptsQuery } from "./tip.ts";
export {
  createTranscriptService,
  type ReadOptions,
  type TranscriptService,
  type TranscriptServiceOptions,
  type TranscriptSession,
  type TranscriptWriter,
} from "./transcript-service.ts";
