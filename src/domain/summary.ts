/** How a summary was written: by a model, by a model told to be brief, or by the built-in summariser. */
export type EscalationLevel = "normal" | "aggressive" | "extractive";

/** A node of the summary DAG. A leaf stands for messages, a condensed one for summaries of one depth less. */
export interface SummaryNode {
  /** `sum_` and 16 hex digits. */
  id: string;
  kind: "leaf" | "condensed";
  depth: number;
  content: string;
  tokens: number;
  /** When the earliest and the latest of its messages were said. */
  earliestAt: number;
  latestAt: number;
  /** How many summaries are below it, and the tokens they hold. */
  descendantCount: number;
  descendantTokens: number;
  /** The tokens of the messages it stands for. */
  sourceMessageTokens: number;
  sourceMessageCount: number;
  fileIds: string[];
  /** The model that wrote it; absent for the built-in summariser. */
  model?: string;
  promptVersion: number;
  level: EscalationLevel;
  createdAt: number;
}
