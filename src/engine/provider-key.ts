import type { LoadedConfig } from "../config/index.ts";
import { accessOf } from "../models/index.ts";

/** The key that the settings, the environment or the file of credentials hold for a provider; an error says where to put one. */
export function providerKey({ config, home }: LoadedConfig, provider: "anthropic" | "openai"): string | undefined {
  return accessOf(provider, { providers: config.models.providers, env: process.env, home }).apiKey;
}
