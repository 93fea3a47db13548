export { checkDag } from "./check-dag.ts";
export { type CommittedTurn, createTitleUpdate } from "./commit-turn.ts";
export type { CompactionDecision, CompactionPlan } from "./compaction/before-compact.ts";
export type { CompactRequest, TurnFacts } from "./compaction/compactor.ts";
export { type CompactionPolicy, defaultPolicy } from "./compaction/policy.ts";
export type { CompactResult } from "./compaction/sweep.ts";
export {
  type AssembleRequest,
  type ContextOverview,
  type ContextService,
  createContextService,
  type TurnContext,
} from "./context-service.ts";
export type { StoredSummary } from "./dag.ts";
export { type ConversationRef, type SummarySource, writeSummary } from "./dag.ts";
export { discardSummaries } from "./discard-summaries.ts";
export { createParentViewReader } from "./fork-view.ts";
export type { Answer, QuestionRequest } from "./history/answer-question.ts";
export type { Description, FileLines } from "./history/describe-citation.ts";
export type { SummaryDescription, TreeNode } from "./history/describe-summary.ts";
export type { ExpandOptions, Expansion } from "./history/expand.ts";
export { createGrantService, type GrantRequest, type GrantService } from "./history/grant-service.ts";
export type { Grant } from "./history/grants.ts";
export type { GrepMatch, GrepMode, GrepResult, GrepScope, GrepSort } from "./history/grep/grep-types.ts";
export type { Handover } from "./history/handover.ts";
export type { DescribeRequest, ExpandRequest, GrepRequest, HistoryReader } from "./history/history-reader.ts";
export type { SearchScope } from "./history/search-scope.ts";
export type { TraceItem } from "./items.ts";
export type { Layer, Layers } from "./layers/layer.ts";
export type { LayerRequest } from "./layers/layers.ts";
export type { TinyCore } from "./layers/tiny-cores.ts";
export { extractiveSummary } from "./summary/extractive.ts";
export type { Summariser, SummariserRequest, Summarisers } from "./summary/registered-summariser.ts";
export { type Fitted, fitMidTurn } from "./view/mid-turn.ts";
export type { SummaryPrefix } from "./view/summary-prefix.ts";
export type { ConversationSnapshot } from "./view/view-snapshot.ts";
export type { ContextView } from "./view/view-types.ts";
export { getEntryMessage } from "./window.ts";
