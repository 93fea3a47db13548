export { type AssembleOptions, assemble, type ContextView, type Note } from "./assemble.ts";
export { checkDag } from "./check-dag.ts";
export { type CompactHost, type CompactOptions, type CompactResult, compact, summaryTokens } from "./compact.ts";
export { activeBytes, type CompactionTrigger, findCompactionTrigger } from "./compaction-trigger.ts";
export { type ConversationSnapshot, takeConversationSnapshot } from "./conversation-snapshot.ts";
export type { StoredSummary } from "./dag.ts";
export {
  findLeaves,
  findSummary,
  listCoveredEntries,
  type SummaryDescription,
  summaryTree,
  type TreeNode,
} from "./describe.ts";
export { type DescribeOptions, type Description, describeCitation, type FileLines } from "./describe-citation.ts";
export { type ExpandOptions, type Expansion, expandSummaries } from "./expand.ts";
export { type Frontier, loadFrontier } from "./frontier.ts";
export {
  checkGrant,
  endGrant,
  type Grant,
  giveGrant,
  holdExpansion,
  releaseExpansion,
  spendGrant,
  sweepGrants,
} from "./grants.ts";
export { grep } from "./grep/grep.ts";
export type { GrepMatch, GrepMode, GrepOptions, GrepResult, GrepScope, GrepSort } from "./grep/grep-types.ts";
export { type Fitted, fitMidTurn } from "./mid-turn.ts";
export { leafDue, thresholdReached } from "./plan.ts";
export { type CompactionPolicy, defaultPolicy, manualPolicy } from "./policy.ts";
export { type FindPassages, type Passage, passageLine, passagesFor, recallBlock } from "./recall.ts";
export { createSummariser, type Summarise, type SummariseRequest, type WrittenSummary } from "./summarise.ts";
export { loadSummaryPrefix, type SummaryPrefix } from "./summary-prefix.ts";
export type { TraceItem } from "./trace.ts";
export { readViewSnapshot, type ViewSnapshot, viewSnapshotQueries } from "./view-snapshot.ts";
export { messagesSince, rawTokens } from "./window.ts";
