/** How a summary was produced: by a model, by a model asked to be brief, or by the built-in extractive summariser. */
export type EscalationLevel = "normal" | "aggressive" | "extractive";

/** A node of the summary DAG. A leaf summarises messages, a condensed node summarises nodes of the next lower depth. */
export interface SummaryNode {
  /** `sum_` and 16 hex digits. */
  id: string;
  kind: "leaf" | "condensed";
  depth: number;
  content: string;
  tokens: number;
  /** The times of its earliest and latest message. */
  earliestAt: number;
  latestAt: number;
  /** The summaries below it, and their tokens. */
  descendantCount: number;
  descendantTokens: number;
  /** The tokens of the messages it summarises. */
  sourceMessageTokens: number;
  sourceMessageCount: number;
  fileIds: string[];
  /** The model that wrote it; absent for the built-in summariser. */
  model?: string;
  promptVersion: number;
  level: EscalationLevel;
  createdAt: number;
}
