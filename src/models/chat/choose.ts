import type { Config } from "../../config/index.ts";
import { type ProviderSources, resolveAccess } from "../providers.ts";
import { defaultModels } from "./catalogue.ts";

/**
 * The models that reply, the first one first. Where the settings name none, the usual model of the first provider that
 * there is a key for; none at all when there is no key.
 */
export function chatModelNames(settings: Config["models"], sources: ProviderSources): string[] {
  const named = [...(settings.chat === undefined ? [] : [settings.chat]), ...settings.chatFallbacks];
  if (named.length > 0) return [...new Set(named)];
  const usual = defaultModels.find(([provider]) => hasKey(provider, sources));
  return usual ? [usual[1]] : [];
}

function hasKey(provider: string, sources: ProviderSources): boolean {
  try {
    const { apiKey, tokens } = resolveAccess(provider, sources);
    return apiKey !== undefined || tokens !== undefined;
  } catch {
    // No key, or settings that name one in vain: whoever asks for that provider by name hears of it.
    return false;
  }
}
