/**
 * What models take, in tokens, by the beginning of their names: from the providers' public lists of models as of late
 * 2025. A model that is not here is found in the settings. Longer beginnings come first.
 */
const windows: readonly (readonly [RegExp, number])[] = [
  [/^anthropic\/claude/, 200_000],
  [/^openai\/gpt-4\.1/, 1_047_576],
  [/^openai\/(?:gpt-4o|chatgpt-4o|gpt-4-turbo)/, 128_000],
  [/^openai\/gpt-4-32k/, 32_768],
  [/^openai\/gpt-4/, 8_192],
  [/^openai\/gpt-3\.5/, 16_385],
  // 400,000 together with the answer, of which 272,000 may be asked.
  [/^openai\/gpt-5/, 272_000],
  [/^openai\/o[134]/, 200_000],
  [/^google\/gemini-1\.5-pro/, 2_097_152],
  [/^google\/gemini/, 1_048_576],
];

/** The window of a model that is known here. */
export function knownWindow(model: string): number | undefined {
  return windows.find(([pattern]) => pattern.test(model))?.[1];
}

/** What a person with a key and no settings talks to, one model a provider. */
export const defaultModels: readonly (readonly [provider: string, model: string])[] = [
  ["anthropic", "anthropic/claude-sonnet-4-5"],
  ["openai", "openai/gpt-5-mini"],
  ["google", "google/gemini-2.5-flash"],
];
