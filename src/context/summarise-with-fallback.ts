import type { EscalationLevel } from "../domain/index.ts";
import type { Generate } from "../models/index.ts";
import { estimateTokens } from "../tokens/index.ts";
import type { ExtractiveTurn } from "./extractive/candidates.ts";
import { extractiveSummary, extractiveTargetTokens } from "./extractive.ts";
import { throwIfAborted } from "./generate.ts";
import { nameLargeTurns, safetyMargin, splitTurns } from "./split-turns.ts";
import { attemptSummary, type SummaryAttempt } from "./summary-attempt.ts";
import { normalTarget } from "./targets.ts";
import { turnsText } from "./turns-text.ts";

export interface SummariseInput {
  /** Messages for depth 0; above it, the summaries of one depth less, with `time` and `until`. */
  turns: readonly ExtractiveTurn[];
  depth: number;
  previousSummary?: string;
  customInstructions?: string;
  latestUserRequest?: string;
  /** The tokens the summary stands for, as its marker says. */
  sourceTokens?: number;
  timeZone?: string;
}

export interface SummariseOptions {
  /** Without it the built-in summariser does all. */
  generate?: Generate;
  /** Errors that must reach the caller, such as a refused key. */
  isFatal?: (error: unknown) => boolean;
  signal?: AbortSignal;
  leafTargetTokens?: number;
  condensedTargetTokens?: number;
  extractiveTargetTokens?: number;
  overageFactor?: number;
  /** What the summariser's window holds; larger inputs are split and merged. */
  windowTokens?: number;
  /** The most times a model is asked for one summary, parts included. */
  maxCalls?: number;
}

export interface Summarised {
  content: string;
  tokens: number;
  level: EscalationLevel;
  model?: string;
  /** What was wrong with the tries before, and what had to be left out. */
  faults: string[];
  calls: number;
}

/** What one run may still use, shared by all its parts. */
interface Run {
  options: SummariseOptions;
  calls: number;
  faults: string[];
}

const partsAtOnce = 3;
const roundsMax = 4;
const callsMax = 60;
/** What the rules of a prompt take, and what an answer may be longer than its target. */
const promptTokens = 900;

/**
 * Summarises, and always makes progress: a model, the same model with its faults named, the same told to be brief, and in
 * the end the built-in summariser. What comes back is shorter than the input, or the input itself where it is so small
 * that nothing shorter would say what it is.
 */
export async function summariseWithFallback(
  input: SummariseInput,
  options: SummariseOptions = {},
): Promise<Summarised> {
  throwIfAborted(options.signal);
  const run: Run = { options, calls: 0, faults: [] };
  const written = await write(input, input.depth, run, 0);
  const done = written ?? extract(input, run);
  return { ...done, tokens: estimateTokens(done.content), faults: run.faults, calls: run.calls };
}

type Written = Pick<Summarised, "content" | "level" | "model">;

/** By a model; undefined when it could not. */
async function write(
  input: SummariseInput,
  promptDepth: number,
  run: Run,
  round: number,
): Promise<Written | undefined> {
  const { generate, windowTokens } = run.options;
  if (generate === undefined) return undefined;
  if (windowTokens === undefined || fits(input, windowTokens, run)) return climb(input, promptDepth, run, generate);
  if (round >= roundsMax) {
    run.faults.push(`The input did not fit the summariser's window after ${roundsMax} rounds of splitting.`);
    return undefined;
  }
  const named = nameLargeTurns(input.turns, windowTokens);
  const large = named.filter((turn, index) => turn !== input.turns[index]).length;
  if (large > 0) run.faults.push(`${large} messages above half of the summariser's window were named, not summarised.`);
  const shorter = { ...input, turns: named };
  if (fits(shorter, windowTokens, run)) return climb(shorter, promptDepth, run, generate);
  const parts = splitTurns(named, windowTokens);
  // One part that does not fit cannot be made to: the window is too small for the prompt itself.
  if (parts.length < 2) return undefined;
  const merged = await summariseParts(input, parts, promptDepth, run);
  if (merged === undefined) return undefined;
  // Nothing was gained, so another round would gain nothing either.
  if (textTokens(merged, input) >= textTokens(named, input)) return undefined;
  return write({ ...input, turns: merged }, Math.max(1, promptDepth), run, round + 1);
}

async function summariseParts(
  input: SummariseInput,
  parts: readonly ExtractiveTurn[][],
  promptDepth: number,
  run: Run,
): Promise<ExtractiveTurn[] | undefined> {
  const { generate } = run.options;
  if (generate === undefined) return undefined;
  const merged: ExtractiveTurn[] = [];
  for (let first = 0; first < parts.length; first += partsAtOnce) {
    const group = parts.slice(first, first + partsAtOnce);
    const summaries = await settleAll(
      group.map(async (turns): Promise<ExtractiveTurn> => {
        const part: SummariseInput = { ...input, turns, latestUserRequest: undefined, sourceTokens: undefined };
        const { content } = (await climb(part, promptDepth, run, generate)) ?? extract(part, run);
        const [start, end] = [turns[0], turns.at(-1)];
        return { time: start?.time ?? 0, until: end?.until ?? end?.time ?? 0, text: content };
      }),
    );
    merged.push(...summaries);
  }
  return merged;
}

/** Waits for all before it fails, so that no part is still at work when the caller hears of it. */
async function settleAll<T>(promises: Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/** The levels a model can reach, one after the other. */
async function climb(
  input: SummariseInput,
  promptDepth: number,
  run: Run,
  generate: Generate,
): Promise<Written | undefined> {
  const { options } = run;
  const text = turnsText(input.turns, input.timeZone);
  const subject = { ...input, promptDepth, text, inputTokens: estimateTokens(text) };
  const attempt = async (level: "normal" | "aggressive", faults?: readonly string[]): Promise<SummaryAttempt> => {
    if (run.calls >= (options.maxCalls ?? callsMax)) {
      return { faults: ["The model was asked as often as is allowed."], canRetry: false };
    }
    run.calls += 1;
    const mostTokensAtDepth = mostTokens(input.depth, options);
    const made = await attemptSummary(subject, { ...options, generate, level, faults, mostTokens: mostTokensAtDepth });
    run.faults.push(...made.faults);
    return made;
  };
  const first = await attempt("normal");
  if (first.written !== undefined) return first.written;
  const second = first.canRetry ? await attempt("normal", first.faults) : undefined;
  if (second?.written !== undefined) return second.written;
  const third = await attempt("aggressive");
  return third.written;
}

/** The last level: no model, and so no way to fail. */
function extract(input: SummariseInput, run: Run): Written {
  const text = turnsText(input.turns, input.timeZone);
  const content = extractiveSummary({
    turns: input.turns,
    depth: input.depth,
    previousSummary: input.previousSummary,
    targetTokens: Math.min(
      run.options.extractiveTargetTokens ?? extractiveTargetTokens,
      Math.ceil(estimateTokens(text) / 2),
    ),
    sourceTokens: input.sourceTokens,
    timeZone: input.timeZone,
  });
  if (estimateTokens(content) < estimateTokens(text)) return { content, level: "extractive" };
  run.faults.push("The input is too small to be summarised; it was kept as it is.");
  return { content: text, level: "extractive" };
}

function mostTokens(depth: number, options: SummariseOptions): number {
  return depth === 0 ? (options.leafTargetTokens ?? 2_400) : (options.condensedTargetTokens ?? 2_000);
}

function textTokens(turns: readonly ExtractiveTurn[], input: SummariseInput): number {
  return estimateTokens(turnsText(turns, input.timeZone));
}

function fits(input: SummariseInput, windowTokens: number, run: Run): boolean {
  const tokens = textTokens(input.turns, input);
  const answer = normalTarget(tokens, mostTokens(input.depth, run.options));
  const beside = promptTokens + estimateTokens(input.previousSummary ?? "") + answer;
  return safetyMargin * tokens + beside <= windowTokens;
}
