export {
  type AppendOptions,
  appendEntries,
  batchEntriesMax,
  createSecretStatements,
  type LargeContentPolicy,
  listMessages,
  retryInlineOnCollision,
  type TranscriptRef,
  toMessageDraft,
} from "./append.ts";
export {
  type BranchInfo,
  listBranches,
  listCheckpoints,
  moveHead,
  restoreCheckpoint,
  saveCheckpoint,
  setHead,
} from "./branch.ts";
export { listPlaceholders } from "./capture-secrets.ts";
export { checkLog, type Finding, fixCounters } from "./check-log.ts";
export { type ContentForm, decodeBody, type EncodeOptions, encodeEntry, indexWordsForRows } from "./codec.ts";
export { getEntryText, getPartsText } from "./entry-text.ts";
export { exportConversation } from "./export/export-conversation.ts";
export { type ExportFormat, exportFormats } from "./export/export-formats.ts";
export type { HygieneChange, HygieneProvider, HygieneRule } from "./hygiene/changes.ts";
export { type CleanedMessages, type CleanOptions, cleanForProvider } from "./hygiene/clean.ts";
export {
  createSilentReplyGate,
  isSilentReply,
  type SilentReplyGate,
  stripSilentLines,
} from "./hygiene/silent-reply.ts";
export { describeText } from "./large-content/explore/describe-text.ts";
export {
  type FileMetadata,
  findEntryFiles,
  findFile,
  formatFileReference,
  readFileContents,
  readFileMetadata,
  type StoredFile,
  saveModelSummary,
} from "./large-content/files.ts";
export { listCandidates, type ScanOptions } from "./message-candidates.ts";
export { type LoadedMessage, MessageLoader } from "./message-loader.ts";
export {
  findParentSegment,
  headQuery,
  isInherited,
  isUnbranched,
  listAncestors,
  listForkSpans,
  readActivePath,
  readHead,
  readPathFrom,
  type Segment,
} from "./path.ts";
export {
  findAnswer,
  findQuestion,
  interruption,
  isAgreement,
  isConfirmation,
  isMaterial,
  isTelling,
  oneLine,
  readTyped,
  shortenWords,
  stripInjected,
} from "./prose.ts";
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
export { type RedactedEntries, redactEntries } from "./redact-entries.ts";
export { type ScannedMessage, scanMessages } from "./scan-messages.ts";
export { captureInText, createSecretService, type KeptSecret, type SecretService } from "./secret-service.ts";
export { readTip, tipQuery, transcriptsQuery } from "./tip.ts";
export { makeTitle } from "./title.ts";
export {
  type ConversationStates,
  createTranscriptService,
  type ReadOptions,
  type TranscriptService,
  type TranscriptServiceOptions,
  type TranscriptSession,
  type TranscriptWriter,
} from "./transcript-service.ts";
