import type { LoadedConfig } from "../config/index.ts";
import { createCredentialHeaders } from "./auth/credential.ts";
import { resolveAccess } from "./providers.ts";

/** The credential that Varve itself has for a provider. */
export interface ProviderCredential {
  /** The request headers that carry it. Throws an error that says where to put one when there is none. */
  headers(signal?: AbortSignal): Promise<Record<string, string>>;
  /** The headers with a renewed credential, after a refusal; undefined when it cannot be renewed. */
  renewed(signal?: AbortSignal): Promise<Record<string, string> | undefined>;
}

/** Looks in the auth profile, the environment, the settings and the credentials file, in this order. */
export function openProviderCredential(
  { config, home }: LoadedConfig,
  provider: "anthropic" | "openai",
): ProviderCredential {
  const { providers, auth } = config.models;
  const access = resolveAccess(provider, { providers, auth, env: process.env, home });
  const { apiKey = "", tokens } = access;
  let current = apiKey;
  return {
    async headers(signal) {
      if (tokens !== undefined) current = await tokens.token(signal);
      return createCredentialHeaders(access, current);
    },
    async renewed(signal) {
      const next = await tokens?.renew(current, signal);
      if (next === undefined) return undefined;
      current = next;
      return createCredentialHeaders(access, current);
    },
  };
}
