import { VarveError, type Wait } from "../../domain/index.ts";
import type { Generate } from "../../models/index.ts";
import type { ContextSettings } from "../context-settings.ts";
import { type Summarisers, withRegisteredSummariser } from "../summary/registered-summariser.ts";
import { createSummariser } from "../summary/summarise-with-fallback.ts";
import type { Summarise } from "../summary/summary-request.ts";
import type { SummaryThread } from "../summary/summary-thread.ts";

/** The writers of summaries that a process has. */
export interface SummaryWriters {
  /** A model; the built-in summariser does it without one. */
  generate?: Generate;
  /** The context window of that model, when it is known. */
  windowTokens?: number;
  /** The summarisers of the program, by id. */
  summarisers: Summarisers;
  wait: Wait;
}

/** Errors after which no simpler summary is written: they are about the model, not about the text. */
const fatalCodes = new Set(["MODEL_KEY_REFUSED", "MODEL_PAUSED", "MODEL_TIMEOUT"]);

/** The summariser that the settings name, then the model, then the built-in summariser. */
export function chooseSummariser(
  settings: ContextSettings,
  writers: SummaryWriters,
  thread: SummaryThread,
  timeZone: string,
): Summarise {
  const { generate, windowTokens, summarisers: registered, wait } = writers;
  const { summariser: id, summaryTimeoutMs: timeoutMs } = settings;
  const fallback = createSummariser({
    timeZone,
    builtIn: thread.startSweep(),
    generate,
    isFatal: (error) => error instanceof VarveError && fatalCodes.has(error.code),
    ...getTargets(settings),
    overageFactor: settings.summaryMaxOverageFactor,
    windowTokens: settings.summaryWindowTokens ?? windowTokens,
  });
  if (id === undefined) return fallback;
  return withRegisteredSummariser(fallback, { id, registered, timeoutMs, wait, timeZone, ...getTargets(settings) });
}

/** The built-in summariser alone. */
export function createBuiltIn(settings: ContextSettings, thread: SummaryThread, timeZone: string): Summarise {
  return createSummariser({ timeZone, builtIn: thread.startSweep(), ...getTargets(settings) });
}

export function getTargets({ leafTargetTokens, condensedTargetTokens }: ContextSettings) {
  return { leafTargetTokens, condensedTargetTokens };
}
