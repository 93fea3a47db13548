import type { Config } from "../config/index.ts";
import { VarveError } from "../domain/index.ts";
import { findKnownWindow } from "../models/index.ts";

/** A model's context window, and where the number comes from. */
export interface Window {
  tokens: number;
  because: string;
  warning?: string;
}

const defaultTokens = 80_000;
const comfortTokens = 32_000;
const leastTokens = 16_000;

/** The window of a model: from `models.windows`, the catalogue, `turn.contextTokens`, or the default. */
export function resolveWindow({ models, turn }: Config, model: string | undefined): Window {
  const { tokens, because } = choose();
  if (tokens >= comfortTokens) return { tokens, because };
  if (tokens >= leastTokens) {
    const warning = `A window of ${tokens} tokens is small; conversations are compacted often below ${comfortTokens}.`;
    return { tokens, because, warning };
  }
  throw new VarveError("REFUSED", `A window of ${tokens} tokens (${because}) is too small for a conversation.`, {
    remedy: `Use a model that takes at least ${leastTokens} tokens, or correct models.windows or turn.contextTokens.`,
  });

  function choose(): Window {
    const set = model === undefined ? undefined : models.windows[model];
    if (set !== undefined) return { tokens: set, because: `models.windows says so for ${model}` };
    const known = model === undefined ? undefined : findKnownWindow(model);
    if (known !== undefined) return { tokens: known, because: `the catalogue says so for ${model}` };
    if (turn.contextTokens !== undefined) return { tokens: turn.contextTokens, because: "turn.contextTokens says so" };
    return { tokens: defaultTokens, because: "nothing says otherwise" };
  }
}
