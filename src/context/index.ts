export { type AssembleOptions, assemble, type ContextView, type Note } from "./assemble.ts";
export { checkDag } from "./check-dag.ts";
export { type CompactHost, type CompactOptions, type CompactResult, compact, summaryTokens } from "./compact.ts";
export type { StoredSummary } from "./dag.ts";
export {
  entriesUnder,
  findSummary,
  leavesOf,
  type SummaryDescription,
  summaryTree,
  type TreeNode,
} from "./describe.ts";
export { activeBytes, compactionDue, type Due } from "./due.ts";
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
export { type Opening, openingOf, openingQueries } from "./opening.ts";
export { leafDue, thresholdReached } from "./plan.ts";
export { type CompactionPolicy, defaultPolicy, manualPolicy } from "./policy.ts";
export { type DescribeOptions, type Description, describe, type FileLines } from "./reading.ts";
export { type FindPassages, type Passage, passageLine, passagesFor, recallBlock } from "./recall.ts";
export { type Standing, standing } from "./standing.ts";
export { type Stood, stoodAt } from "./stood.ts";
export { type Summarise, type SummariseRequest, summariserOf, type WrittenSummary } from "./summarise.ts";
export type { TraceItem } from "./trace.ts";
export { messagesSince, rawTokens } from "./window.ts";
