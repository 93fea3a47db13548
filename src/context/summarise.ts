import type { EscalationLevel, Role } from "../domain/index.ts";
import { estimateTokens } from "../tokens/index.ts";
import { extractiveSummary, extractiveTargetTokens } from "./extractive.ts";
import { promptVersion } from "./prompts.ts";

/** A message or a summary, as a summariser reads it. */
export interface SummaryTurn {
  time: number;
  /** Set for a summary: when the last of what it stands for was said. */
  until?: number;
  speaker: string;
  role: Role;
  text: string;
  tokens: number;
  toolNames?: string[];
}

export interface SummariseRequest {
  kind: "leaf" | "condensed";
  depth: number;
  turns: SummaryTurn[];
  /** What the reader has before this one; it is not said again. */
  previousSummary?: string;
  latestUserRequest?: string;
  instructions?: string;
  signal?: AbortSignal;
}

export interface WrittenSummary {
  content: string;
  level: EscalationLevel;
  model?: string;
  promptVersion: number;
  /** What the quality guard found wrong with it. */
  faults: string[];
  /** How often a model was called. */
  calls: number;
}

export type Summarise = (request: SummariseRequest) => Promise<WrittenSummary>;

const leastTokens = 96;
/** A summary holds at most this share of what it stands for, so that every pass gains. */
const inputShare = 0.25;

/** The summariser that needs no model. */
export function builtInSummariser(settings: { timeZone?: string } = {}): Summarise {
  return async ({ depth, turns, previousSummary }) => {
    const inputTokens = turns.reduce((sum, turn) => sum + estimateTokens(turn.text), 0);
    const targetTokens = Math.max(leastTokens, Math.min(extractiveTargetTokens, Math.floor(inputTokens * inputShare)));
    const content = extractiveSummary({ turns, previousSummary, depth, targetTokens, timeZone: settings.timeZone });
    return { content, level: "extractive", promptVersion, faults: [], calls: 0 };
  };
}
