import type { EscalationLevel, Message, Role } from "../../domain/index.ts";

import type { WorkLog } from "./work-log/work-log.ts";

/** A message or a summary, as the summarisers read it. */
export interface SummaryTurn {
  time: number;
  /** Set for a summary: the time of its latest message. */
  until?: number;
  role?: Role;
  /** The message itself and its sequence number: the built-in summariser reads tool calls and results from it. */
  message?: Message;
  seq?: number;
  speaker?: string;
  text: string;
  toolNames?: readonly string[];
  paths?: readonly { path: string; operation?: string }[];
}

/** The input of a summary. The same request goes from the compaction down to the model's prompt. */
export interface SummaryRequest {
  /** 0 for messages; above it, the turns are summaries of one depth less, with `time` and `until`. */
  depth: number;
  turns: readonly SummaryTurn[];
  /** The summary before this one: what it says is not repeated. */
  previousSummary?: string;
  latestUserRequest?: string;
  /** The tokens of the messages that the summary stands for. */
  sourceTokens?: number;
  instructions?: string;
  /** The entries from the first to the last message that the summary covers, and the number of messages. */
  range?: SummaryRange;
  signal?: AbortSignal;
}

export interface SummaryRange {
  firstSeq: number;
  lastSeq: number;
  messageCount: number;
}

export interface WrittenSummary {
  content: string;
  tokens: number;
  level: EscalationLevel;
  model?: string;
  promptVersion: number;
  /** Faults of earlier attempts, and omitted content. */
  faults: string[];
  /** How often a model was called. */
  calls: number;
}

export type Summarise = (request: SummaryRequest) => Promise<WrittenSummary>;

/** A request with its text, ready for a model. */
export interface PreparedRequest extends SummaryRequest {
  text: string;
  inputTokens: number;
  /** Parts of one input are merged by the prompt for summaries, whatever the depth of the result. */
  promptDepth: number;
  /** Whether the input uses tools: then the summary has the sections of a work log. */
  isWork?: boolean;
  /** The work as the transcript itself shows it; a summary must not contradict it. */
  workLog?: WorkLog;
}
