import type { LoadedConfig } from "../../config/index.ts";
import { callWithin, VarveError, type Wait } from "../../domain/index.ts";
import { mostTokens } from "./built-in-summary.ts";
import { promptVersion, summaryPrompt } from "./prompts.ts";
import { prepareRequest, type SummariserOptions } from "./summarise-with-fallback.ts";
import { normalTarget, throwIfAborted } from "./summary-attempt.ts";
import type { Summarise, SummaryRequest } from "./summary-request.ts";
import { findSummaryFault } from "./supplied-summary.ts";

/** A request to a summariser of the program: the parts of the input, and the prompt that a model gets for them. */
export interface SummariserRequest {
  /** 0 for messages; above it, the text holds summaries of one depth less. */
  depth: number;
  /** The messages or summaries, each with its time. */
  text: string;
  inputTokens: number;
  targetTokens: number;
  /** The summary before this one: what it says is not repeated. */
  previousSummary?: string;
  /** The request of the settings and of the compaction's caller. */
  instructions?: string;
  /** The rules that a model gets. */
  system: string;
  /** The prompt that a model gets: the text and the previous summary, marked as data. */
  user: string;
  /** Aborted when the time is over, or the compaction was cancelled. */
  signal: AbortSignal;
}

/** Writes a summary in place of a model. An empty answer or a failure leaves it to the model or the built-in summariser. */
export type Summariser = (request: SummariserRequest) => string | Promise<string>;

export type Summarisers = Readonly<Record<string, Summariser>>;

export interface RegisteredOptions
  extends Pick<SummariserOptions, "timeZone" | "leafTargetTokens" | "condensedTargetTokens"> {
  /** `context.summariser` */
  id: string;
  registered: Summarisers;
  timeoutMs: number;
  wait: Wait;
}

/** Asks a registered summariser first. Its failures are among the faults of the summary that is written instead. */
export function withRegisteredSummariser(fallback: Summarise, options: RegisteredOptions): Summarise {
  const { id, registered } = options;
  const write = Object.hasOwn(registered, id) ? registered[id] : undefined;
  return async (input) => {
    throwIfAborted(input.signal);
    const answer = write
      ? await askRegistered(write, input, options)
      : { fault: `The summariser ${id} is not registered in this process.` };
    const calls = write ? 1 : 0;
    if (answer.fault === undefined) {
      const model = `summariser/${id}`;
      return { content: answer.content, tokens: 0, level: "normal", model, promptVersion, faults: [], calls };
    }
    const written = await fallback(input);
    return { ...written, faults: [answer.fault, ...written.faults], calls: written.calls + calls };
  };
}

/** The summary of a registered summariser, or why it cannot be stored. It fails only when the compaction is cancelled. */
async function askRegistered(
  write: Summariser,
  input: SummaryRequest,
  { id, timeoutMs, wait, timeZone, ...targets }: RegisteredOptions,
): Promise<{ content: string; fault?: undefined } | { fault: string }> {
  const { depth, previousSummary, instructions, signal } = input;
  const prepared = prepareRequest(input, depth, timeZone);
  const { text, inputTokens } = prepared;
  const targetTokens = normalTarget(inputTokens, mostTokens(depth, targets));
  const { system, user } = summaryPrompt(prepared, { level: "normal", targetTokens });
  const request = { depth, text, inputTokens, targetTokens, previousSummary, instructions, system, user };
  try {
    const answer: unknown = await callWithin((callSignal) => write({ ...request, signal: callSignal }), {
      timeoutMs,
      wait,
      signal,
    });
    const content = typeof answer === "string" ? answer.trim() : "";
    const fault = findSummaryFault(content, inputTokens);
    return fault === undefined ? { content } : { fault: `The summary of the summariser ${id} was refused: ${fault}.` };
  } catch (error) {
    throwIfAborted(signal);
    return { fault: `The summariser ${id} failed: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/**
 * Refuses an id that no summariser has. A setting of the file or the environment is meant for all processes, of which
 * only some register summarisers; the others report it with each summary.
 */
export function checkSummariserIds({ config, sources }: LoadedConfig, registered: Summarisers): void {
  const known = Object.keys(registered);
  const check = (id: string | undefined, setting: string, isOption: boolean): void => {
    if (id === undefined || Object.hasOwn(registered, id)) return;
    if (known.length === 0 && !isOption) return;
    throw new VarveError("BAD_CONFIG", `${setting} names the summariser ${JSON.stringify(id)}, which does not exist.`, {
      remedy: `Known summarisers: ${known.length === 0 ? "none" : known.join(", ")}. Pass it to openVarve as \`summarisers\`, or correct the setting.`,
      details: { known },
    });
  };
  const isOption = (setting: string) => sources.get(setting)?.kind === "option";
  check(config.context.summariser, "context.summariser", isOption("context.summariser"));
  for (const [index, { set }] of config.context.overrides.entries()) {
    check(set.summariser, `context.overrides[${index}].set.summariser`, isOption("context.overrides"));
  }
}
