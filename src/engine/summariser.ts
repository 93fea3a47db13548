import { createSummariser, type Summarise } from "../context/index.ts";
import { VarveError } from "../domain/index.ts";
import type { ContextSettings } from "./context-settings.ts";
import type { EngineHost } from "./host.ts";

/** Errors after which no plainer summary is written in the model's place: they are about the model, not the text. */
const fatalCodes = new Set(["MODEL_KEY_REFUSED", "MODEL_PAUSED", "MODEL_TIMEOUT"]);

/** The summariser of a sweep: the model that the program or the settings name, with what is built in behind it. */
export function summariserFor(host: EngineHost, settings: ContextSettings, which: "any" | "built in"): Summarise {
  return createSummariser({
    timeZone: host.loaded.config.timezone,
    generate: which === "any" ? host.models.summary : undefined,
    isFatal: (error) => error instanceof VarveError && fatalCodes.has(error.code),
    leafTargetTokens: settings.leafTargetTokens,
    condensedTargetTokens: settings.condensedTargetTokens,
    overageFactor: settings.summaryMaxOverageFactor,
    windowTokens: settings.summaryWindowTokens,
  });
}
