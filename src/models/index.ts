export { credentialHeaders } from "./auth/credential.ts";
export { checkProfile } from "./auth/profiles.ts";
export { type ChainOptions, chain, ledgerName } from "./chain.ts";
export { isKeyRefused } from "./chain-error.ts";
export { knownWindow } from "./chat/catalogue.ts";
export { chatModelNames } from "./chat/choose.ts";
export type { ChatAnswer, ChatModel, ChatRequest, ChatTool } from "./chat/port.ts";
export { chatModel } from "./chat/sdk-chat.ts";
export { type ConfiguredOptions, configuredModel, modelNames, openModel } from "./configured.ts";
export { type ConfiguredEmbedderOptions, configuredEmbedder } from "./embed/configured-embedder.ts";
export { LocalEmbedder, type LocalEmbedderOptions } from "./embed/local-embedder.ts";
export {
  type Embedded,
  type EmbeddedQuery,
  type Embedder,
  type EmbedText,
  type QueryWord,
  spaceName,
  type VectorSpace,
} from "./embed/port.ts";
export { createEmbedder, type EmbedderOptions, PreviousEmbedders } from "./embed/previous-embedders.ts";
export { normalise, toBytes } from "./embed/token-states.ts";
export { classify, type Failure, type FailureKind } from "./failure.ts";
export type { Generate, Generated, GeneratePurpose, GenerateRequest, NamedModel, TokenUsage } from "./generate.ts";
export { freshState, inMemoryLedger, type ModelLedger, type ModelState } from "./ledger.ts";
export { type ChainLimits, defaultChainLimits } from "./limits.ts";
export { createChainLimits, createModels, type Models } from "./model-service.ts";
export { isContextOverflow, overflowLimit } from "./overflow.ts";
export { openProviderCredential, type ProviderCredential } from "./provider-credential.ts";
export { type ProviderSources, resolveAccess } from "./providers.ts";
export { configuredReranker, type RerankerOptions } from "./rerank/http-reranker.ts";
export type { Reranker, RerankScore } from "./rerank/port.ts";
export { isPaused, recordAnswer, recordFailure } from "./state.ts";
export { createStoredLedger, stateFromRow } from "./stored-ledger.ts";
export { createUsageRecorder, type ModelOutcome, type UsageRecorder } from "./usage-recorder.ts";
export type { Sleep } from "./wait.ts";
