export { createCredentialHeaders } from "./auth/credential.ts";
export { checkProfile } from "./auth/profiles.ts";
export { type ChainOptions, createChain, toLedgerName } from "./chain.ts";
export { isKeyRefused } from "./chain-error.ts";
export { findKnownWindow, listChatModels } from "./chat/catalogue.ts";
export type { ChatAnswer, ChatModel, ChatRequest, ChatTool } from "./chat/port.ts";
export { openChatModel } from "./chat/sdk-chat.ts";
export { type ConfiguredOptions, listModelNames, openConfiguredModel, openModel } from "./configured.ts";
export {
  type ConfiguredEmbedderOptions,
  openConfiguredEmbedder,
} from "./embed/configured-embedder.ts";
export { InstantEmbedder, isInstantSpaceName } from "./embed/instant/instant-embedder.ts";
export { LocalEmbedder, type LocalEmbedderOptions } from "./embed/local-embedder.ts";
export {
  type Embedded,
  type EmbeddedQuery,
  type Embedder,
  type EmbedText,
  formatSpaceName,
  type QueryWord,
  type VectorSpace,
} from "./embed/port.ts";
export { createEmbedder, type EmbedderOptions, PreviousEmbedders } from "./embed/previous-embedders.ts";
export { normalise, toBytes } from "./embed/token-states.ts";
export { classifyFailure, type Failure, type FailureKind } from "./failure.ts";
export type { Generate, GeneratedText, GeneratePurpose, GenerateRequest, NamedModel, TokenUsage } from "./generate.ts";
export { createChainLimits, createModels, type Models } from "./model-service.ts";
export {
  type ChainLimits,
  createInMemoryLedger,
  defaultChainLimits,
  initialModelState,
  isPaused,
  type ModelLedger,
  type ModelState,
  recordAnswer,
  recordFailure,
} from "./model-state.ts";
export { isContextOverflow, parseOverflowLimit } from "./overflow.ts";
export { type ClaudeAnswer, readClaudeAnswer } from "./program/claude-answer.ts";
export { type ProgramRun, runProcess, runProgram } from "./program/process.ts";
export { openProviderCredential, type ProviderCredential } from "./provider-credential.ts";
export { type ProviderSources, resolveAccess } from "./providers.ts";
export { openConfiguredReranker, type RerankerOptions } from "./rerank/http-reranker.ts";
export type { Reranker, RerankScore } from "./rerank/port.ts";
export { createStoredLedger, stateFromRow } from "./stored-ledger.ts";
export { createUsageRecorder, type ModelOutcome, type UsageRecorder } from "./usage-recorder.ts";
export type { Sleep } from "./wait.ts";
