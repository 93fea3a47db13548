/** The public names of the package, listed once. Programs and the surfaces import them from here. */

export {
  owner,
  type Principal,
  type Requester,
} from "./authorization/index.ts";
export { type Config, type ConfigInput, loadConfig } from "./config/index.ts";
export type {
  Answer,
  AssembleRequest,
  CommittedTurn,
  CompactionDecision,
  CompactionPlan,
  CompactRequest,
  CompactResult,
  ContextOverview,
  ContextService,
  ContextView,
  DescribeRequest,
  Description,
  ExpandRequest,
  Expansion,
  Grant,
  GrantRequest,
  GrantService,
  GrepMatch,
  GrepRequest,
  GrepResult,
  HistoryReader,
  Layer,
  LayerRequest,
  Layers,
  QuestionRequest,
  SearchScope,
  Summariser,
  SummariserRequest,
  SummaryPrefix,
  TinyCore,
  TraceItem,
  TreeNode,
  TurnFacts,
} from "./context/index.ts";
export { extractiveSummary } from "./context/index.ts";
export type { EngineEvent, HookCall } from "./domain/index.ts";
export {
  type Clock,
  type Entry,
  type EntryDraft,
  type EntryType,
  type ErrorCode,
  type JsonObject,
  type JsonValue,
  type Message,
  type Part,
  parseSessionKey,
  printSessionKey,
  type Random,
  type Role,
  type SessionKey,
  VarveError,
  type WireFormat,
  wireFormats,
} from "./domain/index.ts";
export { openVarve, restoreBackup } from "./engine.ts";
export type { HookHandlers, HookName, HookOptions, HookService } from "./hooks.ts";
export type { ImportRequest } from "./imports/index.ts";
export {
  type HostPage,
  type HostRecord,
  type HostTranscript,
  type ImportProgress,
  type ImportReport,
  normaliseOpenclawKey,
  sourceNames,
} from "./imports/index.ts";
export type { JobInfo, JobService } from "./jobs/index.ts";
export type {
  BackupFile,
  Change,
  ChangeFeed,
  DatabaseCheck,
  ForgetPersonOptions,
  ForgetPersonReport,
  RetentionReport,
  Status,
} from "./maintenance/index.ts";
export {
  type Category,
  categoryNames,
  type Forgotten,
  type Memory,
  type MemoryHit,
  type MemoryService,
  type MemoryStats,
  type OpenedMemory,
  type Review,
  trusts,
} from "./memory/index.ts";
export type { Embedded, EmbeddedQuery, Embedder, EmbedText, Models } from "./models/index.ts";
export { isContextOverflow, openProviderCredential } from "./models/index.ts";
export {
  type Confidence,
  type EmbeddingReport,
  type EmbeddingTier,
  type EmbedPendingOptions,
  type EmbedPendingResult,
  type LearnedWeights,
  type Profile,
  type PruneResult,
  profiles,
  type ResultKind,
  resultKinds,
  type SearchAnswer,
  type SearchRequest,
  type SearchResult,
  type SearchService,
  type SyncResult,
  type TuneResult,
} from "./search/index.ts";
export type {
  AccessToken,
  AccessTokenService,
  AuditEvent,
  AuditLog,
  AuditQuery,
  AuditRecord,
  ChainReport,
  IssuedToken,
  NewAccessToken,
} from "./security/index.ts";
export type {
  Address,
  EndingSession,
  Forked,
  ListedSession,
  Owner,
  OwnerService,
  Received,
  Resolved,
  ResolveOptions,
  Session,
  SessionPage,
  SessionPatch,
  SessionService,
  TranscriptInfo,
  UnknownPerson,
} from "./session/index.ts";
export { sessionSorts } from "./session/index.ts";
export type { AppendedEntry, AppendResult, StoreCall, StoreTap } from "./store/index.ts";
export { isPostgres, listDistribution, listRoleGrants, startSpareThreads } from "./store/index.ts";
export { estimateMessageTokens, estimateTokens } from "./text/index.ts";
export type { BoundTool, ToolAnnotations, ToolOptions, ToolResult } from "./tools/index.ts";
export {
  type CleanedMessages,
  type CleanOptions,
  cleanForProvider,
  createSilentReplyGate,
  type ExportFormat,
  exportFormats,
  getEntryText,
  type HygieneChange,
  type HygieneProvider,
  type HygieneRule,
  isSilentReply,
  type Page,
  type ReadOptions,
  type SilentReplyGate,
  type TranscriptService,
} from "./transcript/index.ts";
export type {
  Accepted,
  Attachment,
  EndedTurn,
  Inbound,
  MessageState,
  TurnEvent,
  TurnResult,
  TurnService,
  TurnStatus,
} from "./turn/index.ts";
export type { OpenOptions, Varve } from "./varve.ts";
export { version } from "./version.ts";
