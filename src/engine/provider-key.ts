import type { LoadedConfig } from "../config/index.ts";
import { createCredentialHeaders, resolveAccess } from "../models/index.ts";

/** Shows a provider the credential that Varve itself has for it. */
export interface OwnCredential {
  /** The headers that show it. An error says where to put one. */
  headers(signal?: AbortSignal): Promise<Record<string, string>>;
  /** The headers with another one, after the last was refused; undefined where there is no other. */
  renewed(signal?: AbortSignal): Promise<Record<string, string> | undefined>;
}

/** What a profile, the environment, the settings or the file of credentials hold for a provider. */
export function ownCredential({ config, home }: LoadedConfig, provider: "anthropic" | "openai"): OwnCredential {
  const { providers, auth } = config.models;
  const access = resolveAccess(provider, { providers, auth, env: process.env, home });
  const { apiKey = "", tokens } = access;
  let shown = apiKey;
  return {
    async headers(signal) {
      if (tokens !== undefined) shown = await tokens.token(signal);
      return createCredentialHeaders(access, shown);
    },
    async renewed(signal) {
      const next = await tokens?.renew(shown, signal);
      if (next === undefined) return undefined;
      shown = next;
      return createCredentialHeaders(access, shown);
    },
  };
}
