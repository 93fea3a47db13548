import type { Generate } from "../../models/index.ts";
import { estimateTokens } from "../../text/index.ts";
import { readRequestLog } from "./built-in.ts";
import { type BuiltInTargets, type BuiltInWriter, mostTokens, writeBuiltInSummary } from "./built-in-summary.ts";
import { promptVersion } from "./prompts.ts";
import { attemptSummary, normalTarget, type SummaryAttempt, throwIfAborted } from "./summary-attempt.ts";
import type { PreparedRequest, Summarise, SummaryRequest, SummaryTurn, WrittenSummary } from "./summary-request.ts";
import { turnsText } from "./turns-text.ts";

export interface SummariserOptions extends BuiltInTargets {
  /** Writes without a model; in the calling thread when absent. */
  builtIn?: BuiltInWriter;
  /** A model; without it the built-in summariser does everything. */
  generate?: Generate;
  /** Errors that must reach the caller instead of causing a fallback, such as a refused key. */
  isFatal?: (error: unknown) => boolean;
  overageFactor?: number;
  /** The context window of the summary model; larger inputs are split and merged. */
  windowTokens?: number;
  /** The most calls to a model for one summary, parts included. */
  maxCalls?: number;
}

export function createSummariser(options: SummariserOptions): Summarise {
  return (request) => summariseWithFallback(request, options);
}

/** The state of one run, shared by all its parts. */
interface Run {
  options: SummariserOptions;
  calls: number;
  faults: string[];
}

const partsAtOnce = 3;
const roundsMax = 4;
const callsMax = 60;
/** The tokens of a prompt's rules, and the allowance for an answer above its target. */
const promptTokens = 900;

/**
 * Summarises and always makes progress: a model, the same model told its faults, the same model told to be brief, and
 * finally the built-in summariser. The result is shorter than the input, or the input itself when that is too small to
 * be shortened.
 */
export async function summariseWithFallback(
  input: SummaryRequest,
  options: SummariserOptions = {},
): Promise<WrittenSummary> {
  throwIfAborted(input.signal);
  const run: Run = { options, calls: 0, faults: [] };
  const written = await write(input, input.depth, run, 0);
  const done = written ?? (await extract(input, run));
  const { faults, calls } = run;
  return { ...done, tokens: estimateTokens(done.content), promptVersion, faults, calls };
}

type Written = Pick<WrittenSummary, "content" | "level" | "model">;

/** Written by the model; undefined when it failed. */
async function write(
  input: SummaryRequest,
  promptDepth: number,
  run: Run,
  round: number,
): Promise<Written | undefined> {
  const { generate, windowTokens } = run.options;
  if (generate === undefined) return undefined;
  if (windowTokens === undefined) return tryLevels(input, promptDepth, run, generate);
  const whole = fitPrevious(input, windowTokens, run);
  if (fits(whole, windowTokens, run)) return tryLevels(whole, promptDepth, run, generate);
  if (round >= roundsMax) {
    run.faults.push(`The input did not fit the summariser's window after ${roundsMax} rounds of splitting.`);
    return undefined;
  }
  const named = nameLargeTurns(input.turns, windowTokens);
  const large = named.filter((turn, index) => turn !== input.turns[index]).length;
  if (large > 0) run.faults.push(`${large} messages above half of the summariser's window were named, not summarised.`);
  const shorter = fitPrevious({ ...input, turns: named }, windowTokens, run);
  if (fits(shorter, windowTokens, run)) return tryLevels(shorter, promptDepth, run, generate);
  const parts = splitTurns(named, windowTokens);
  // The window is too small for the prompt itself.
  if (parts.length < 2) return undefined;
  const merged = await summariseParts(input, parts, promptDepth, run);
  if (merged === undefined) return undefined;
  // No progress: another round would make none either.
  if (textTokens(merged, run) >= textTokens(named, run)) return undefined;
  return write({ ...input, turns: merged }, Math.max(1, promptDepth), run, round + 1);
}

async function summariseParts(
  input: SummaryRequest,
  parts: readonly SummaryTurn[][],
  promptDepth: number,
  run: Run,
): Promise<SummaryTurn[] | undefined> {
  const { generate, windowTokens } = run.options;
  if (generate === undefined || windowTokens === undefined) return undefined;
  const merged: SummaryTurn[] = [];
  for (let first = 0; first < parts.length; first += partsAtOnce) {
    const group = parts.slice(first, first + partsAtOnce);
    const summaries = await settleAll(
      group.map(async (turns): Promise<SummaryTurn> => {
        const own: SummaryRequest = { ...input, turns, latestUserRequest: undefined, sourceTokens: undefined };
        const part = fitPrevious(own, windowTokens, run);
        const { content } = (await tryLevels(part, promptDepth, run, generate)) ?? (await extract(part, run));
        const [start, end] = [turns[0], turns.at(-1)];
        return { time: start?.time ?? 0, until: end?.until ?? end?.time ?? 0, text: content };
      }),
    );
    merged.push(...summaries);
  }
  return merged;
}

/** Waits for all of them before it fails, so that no part is still running when the caller continues. */
async function settleAll<T>(promises: Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/** Asks the model for a normal summary, for a corrected one, then for a brief one. */
async function tryLevels(
  input: SummaryRequest,
  promptDepth: number,
  run: Run,
  generate: Generate,
): Promise<Written | undefined> {
  const { options } = run;
  const subject = prepareRequest(input, promptDepth, options.timeZone);
  const attempt = async (level: "normal" | "aggressive", faults?: readonly string[]): Promise<SummaryAttempt> => {
    if (run.calls >= (options.maxCalls ?? callsMax)) {
      return { faults: ["The model was asked as often as is allowed."], canRetry: false };
    }
    run.calls += 1;
    const mostTokensAtDepth = mostTokens(input.depth, options);
    const made = await attemptSummary(subject, { ...options, generate, level, faults, mostTokens: mostTokensAtDepth });
    // Two attempts may fail for the same reason.
    run.faults.push(...made.faults.filter((fault) => !run.faults.includes(fault)));
    return made;
  };
  const first = await attempt("normal");
  if (first.written !== undefined) return first.written;
  const second = first.canRetry ? await attempt("normal", first.faults) : undefined;
  if (second?.written !== undefined) return second.written;
  const third = await attempt("aggressive");
  return third.written;
}

/** A request with its text and the work log that was read from it. */
export function prepareRequest(input: SummaryRequest, promptDepth: number, timeZone?: string): PreparedRequest {
  const text = turnsText(input.turns, timeZone);
  const workLog = readRequestLog(input, timeZone);
  return { ...input, promptDepth, text, inputTokens: estimateTokens(text), workLog, isWork: workLog !== undefined };
}

/** The built-in summariser: the normal one without a model, and the last fallback with one. */
async function extract(input: SummaryRequest, run: Run): Promise<Written> {
  const { builtIn = writeBuiltInSummary } = run.options;
  const { content, fault } = await builtIn(input, run.options);
  if (fault !== undefined) run.faults.push(fault);
  return { content, level: "extractive" };
}

function textTokens(turns: readonly SummaryTurn[], run: Run): number {
  return estimateTokens(turnsText(turns, run.options.timeZone));
}

function fits(input: SummaryRequest, windowTokens: number, run: Run): boolean {
  const tokens = textTokens(input.turns, run);
  const answer = normalTarget(tokens, mostTokens(input.depth, run.options));
  const overhead = promptTokens + estimateTokens(input.previousSummary ?? "") + answer;
  return safetyMargin * tokens + overhead <= windowTokens;
}

/** The summary before this one is context only: it is left out where the window holds the input, but not both. */
function fitPrevious(input: SummaryRequest, windowTokens: number, run: Run): SummaryRequest {
  if (input.previousSummary === undefined || fits(input, windowTokens, run)) return input;
  const alone = { ...input, previousSummary: undefined };
  if (!fits(alone, windowTokens, run)) return input;
  const fault = "The previous summary did not fit the summariser's window and was left out.";
  if (!run.faults.includes(fault)) run.faults.push(fault);
  return alone;
}

const baseRatio = 0.4;
const leastRatio = 0.15;
/** Token estimates may be too low; they are multiplied by this. */
const safetyMargin = 1.2;

/** The share of the window that one part of the input may fill: less when messages are large. */
export function chunkRatio(turnTokens: readonly number[], windowTokens: number): number {
  const total = turnTokens.reduce((sum, tokens) => sum + tokens, 0);
  const average = (safetyMargin * total) / Math.max(1, turnTokens.length) / windowTokens;
  if (average <= 0.1) return baseRatio;
  return Math.max(leastRatio, baseRatio - Math.min(2 * average, baseRatio - leastRatio));
}

/** Splits turns into parts of about equal tokens, each at most a share of the window, at the boundaries of turns. */
export function splitTurns(turns: readonly SummaryTurn[], windowTokens: number): SummaryTurn[][] {
  const sizes = turns.map((turn) => estimateTokens(turn.text));
  const total = sizes.reduce((sum, tokens) => sum + tokens, 0);
  const most = Math.max(1, Math.floor((chunkRatio(sizes, windowTokens) * windowTokens) / safetyMargin));
  const share = total / Math.max(1, Math.ceil(total / most));
  const parts: SummaryTurn[][] = [];
  let part: SummaryTurn[] = [];
  let tokens = 0;
  for (const [index, turn] of turns.entries()) {
    const size = sizes[index] ?? 0;
    if (part.length > 0 && tokens + size > share) {
      parts.push(part);
      part = [];
      tokens = 0;
    }
    part.push(turn);
    tokens += size;
  }
  if (part.length > 0) parts.push(part);
  return parts;
}

/** A turn that fills half of the window is replaced by a note about its size; its source stays in the log. */
function nameLargeTurns(turns: readonly SummaryTurn[], windowTokens: number): SummaryTurn[] {
  return turns.map((turn) => {
    const tokens = estimateTokens(turn.text);
    if (safetyMargin * tokens <= windowTokens / 2) return turn;
    return { ...turn, text: `[A message of about ${tokens} tokens, too large to be summarised here]` };
  });
}
