export { type Summarised, type SummariseInput, type SummariseOptions, summarise } from "./escalate.ts";
export type { ExtractiveTurn } from "./extractive/candidates.ts";
export {
  type ExtractiveInput,
  extractiveSummary,
  extractiveTargetTokens,
  extractiveTokensMin,
} from "./extractive.ts";
export type { Generate, GenerateRequest } from "./generate.ts";
export { type ContextItem, firstMessageIndex, type MessageItem, type SummaryItem, tokensOf } from "./items.ts";
export {
  type CondensedRun,
  freshTail,
  leafDue,
  planCondensedPass,
  planLeafPass,
  type Run,
  thresholdReached,
} from "./plan.ts";
export { type CompactionPolicy, defaultPolicy, manualPolicy } from "./policy.ts";
export { type PromptInput, promptVersion, type SummaryPrompt, summaryPrompt } from "./prompts.ts";
export { checkSummary, type GuardInput, type GuardResult } from "./quality-guard.ts";
export { type SummaryIdentity, summaryId } from "./summary-id.ts";
export { expandPrefix, filesPrefix, noFiles, truncatedMarker } from "./summary-lines.ts";
export { summaryXml } from "./summary-xml.ts";
export { systemPromptAddition } from "./system-prompt.ts";
