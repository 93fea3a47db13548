import type { EscalationLevel, Role } from "../domain/index.ts";
import type { Generate } from "../models/index.ts";
import { promptVersion } from "./prompts.ts";
import { summariseWithFallback } from "./summarise-with-fallback.ts";

/** A message or a summary, as a summariser reads it. */
export interface SummaryTurn {
  time: number;
  /** Set for a summary: when the last of what it stands for was said. */
  until?: number;
  speaker: string;
  role: Role;
  text: string;
  toolNames?: string[];
}

export interface SummariseRequest {
  depth: number;
  turns: SummaryTurn[];
  /** What the reader has before this one; it is not said again. */
  previousSummary?: string;
  latestUserRequest?: string;
  /** The tokens of the messages it will stand for. */
  sourceTokens: number;
  instructions?: string;
  signal?: AbortSignal;
}

export interface WrittenSummary {
  content: string;
  level: EscalationLevel;
  model?: string;
  promptVersion: number;
  /** What was wrong with the tries before it. */
  faults: string[];
  /** How often a model was called. */
  calls: number;
}

export type Summarise = (request: SummariseRequest) => Promise<WrittenSummary>;

export interface SummariserSettings {
  timeZone?: string;
  /** A model; the built-in summariser does it all when there is none. */
  generate?: Generate;
  /** What stops the work instead of being answered by a plainer summary. */
  isFatal?: (error: unknown) => boolean;
  leafTargetTokens?: number;
  condensedTargetTokens?: number;
  overageFactor?: number;
  /** What the model's window holds; larger inputs are split and merged. */
  windowTokens?: number;
}

export function createSummariser({ timeZone, ...options }: SummariserSettings): Summarise {
  return async ({ instructions, signal, ...request }) => {
    const written = await summariseWithFallback(
      { ...request, customInstructions: instructions, timeZone },
      { ...options, signal },
    );
    const { content, level, model, faults, calls } = written;
    return { content, level, promptVersion, faults, calls, ...(model === undefined ? {} : { model }) };
  };
}
