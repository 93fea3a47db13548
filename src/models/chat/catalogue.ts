import type { Config } from "../../config/index.ts";
import { type ProviderSources, resolveAccess } from "../providers.ts";

/**
 * Context windows in tokens by the beginning of the model name, from the providers' public lists as of late 2025. Other
 * models need a setting. Longer prefixes come first.
 */
const windows: readonly (readonly [RegExp, number])[] = [
  [/^anthropic\/claude/, 200_000],
  [/^openai\/gpt-4\.1/, 1_047_576],
  [/^openai\/(?:gpt-4o|chatgpt-4o|gpt-4-turbo)/, 128_000],
  [/^openai\/gpt-4-32k/, 32_768],
  [/^openai\/gpt-4/, 8_192],
  [/^openai\/gpt-3\.5/, 16_385],
  // 400,000 in total, of which 272,000 may be input.
  [/^openai\/gpt-5/, 272_000],
  [/^openai\/o[134]/, 200_000],
  [/^google\/gemini-1\.5-pro/, 2_097_152],
  [/^google\/gemini/, 1_048_576],
];

/** The context window of a known model. */
export function findKnownWindow(model: string): number | undefined {
  return windows.find(([pattern]) => pattern.test(model))?.[1];
}

/** The window of a model: from `models.windows`, else the catalogue. */
export function findModelWindow(
  { windows: set }: Pick<Config["models"], "windows">,
  model: string,
): number | undefined {
  return (Object.hasOwn(set, model) ? set[model] : undefined) ?? findKnownWindow(model);
}

/** The default model of each provider, for users with a key but without settings. */
const defaultModels: readonly (readonly [provider: string, model: string])[] = [
  ["anthropic", "anthropic/claude-sonnet-4-5"],
  ["openai", "openai/gpt-5-mini"],
  ["google", "google/gemini-2.5-flash"],
];

/**
 * The models that reply, in order of preference. Without settings: the default model of the first provider with a key,
 * or none.
 */
export function listChatModels(settings: Config["models"], sources: ProviderSources): string[] {
  const named = [...(settings.chat === undefined ? [] : [settings.chat]), ...settings.chatFallbacks];
  if (named.length > 0) return [...new Set(named)];
  const usual = defaultModels.find(([provider]) => hasCredential(provider, sources));
  return usual ? [usual[1]] : [];
}

function hasCredential(provider: string, sources: ProviderSources): boolean {
  try {
    const { apiKey, tokens } = resolveAccess(provider, sources);
    return apiKey !== undefined || tokens !== undefined;
  } catch {
    // No key, or an invalid setting; calling that provider by name reports it.
    return false;
  }
}
