import type { Config, Environment } from "../config/index.ts";
import { VarveError } from "../domain/index.ts";
import type { TokenSource } from "./auth/port.ts";
import { type ProfileSources, resolveProfileCredential, resolveVariable, type Scheme } from "./auth/profiles.ts";
import { readCredentialsFile } from "./credentials-file.ts";

export type ProviderKind = "anthropic" | "openai" | "google" | "ollama" | "openai-compatible";
type ProviderSettings = Config["models"]["providers"];

/** Where settings and keys of providers come from. */
export interface ProviderSources extends ProfileSources {
  providers: ProviderSettings;
}

/** Everything needed to call a provider. */
export interface Access {
  provider: string;
  kind: ProviderKind;
  /** A known key. */
  apiKey?: string;
  /** The source of tokens, when there is no fixed key. */
  tokens?: TokenSource;
  scheme: Scheme;
  /** Default: the provider's own URL. */
  baseUrl?: string;
}

interface KindFacts {
  keyVariables: readonly string[];
  urlVariables: readonly string[];
  needsKey: boolean;
  /** The default URL. Not left to the SDK packages, because they would read environment variables themselves. */
  baseUrl?: string;
  /** The required end of the URL, which variables of other tools usually omit. */
  path?: string;
}

const kinds: Readonly<Record<ProviderKind, KindFacts>> = {
  anthropic: {
    keyVariables: ["ANTHROPIC_API_KEY"],
    urlVariables: ["ANTHROPIC_BASE_URL"],
    needsKey: true,
    baseUrl: "https://api.anthropic.com/v1",
    path: "/v1",
  },
  openai: {
    keyVariables: ["OPENAI_API_KEY"],
    urlVariables: ["OPENAI_BASE_URL"],
    needsKey: true,
    baseUrl: "https://api.openai.com/v1",
  },
  google: {
    keyVariables: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"],
    urlVariables: [],
    needsKey: true,
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
  },
  ollama: {
    keyVariables: ["OLLAMA_API_KEY"],
    urlVariables: ["OLLAMA_HOST"],
    needsKey: false,
    baseUrl: "http://127.0.0.1:11434/v1",
    path: "/v1",
  },
  "openai-compatible": { keyVariables: [], urlVariables: [], needsKey: false },
};

const providerKinds = Object.keys(kinds) as readonly ProviderKind[];

/**
 * Resolves how to call a provider. The credential comes from a profile, else the provider's variable, else its
 * settings, else the credentials file. A failing profile is an error and never falls back to another key.
 */
export function resolveAccess(provider: string, sources: ProviderSources): Access {
  const set = Object.hasOwn(sources.providers, provider) ? sources.providers[provider] : undefined;
  const kind = resolveKind(provider, set);
  const facts = kinds[kind];
  // A provider with another name is another company: it must not receive the key of the one it is compatible with.
  const isItself = kind === provider;
  const own = isItself && facts.keyVariables.length > 0 ? facts.keyVariables : [toKeyVariable(provider)];
  const credential = resolveProfileCredential(provider, set?.auth, sources) ?? {
    scheme: "key",
    apiKey: resolveKey(provider, set, own, sources),
  };
  if (credential.apiKey === undefined && credential.tokens === undefined && facts.needsKey) {
    throw missingKeyError(provider, own);
  }
  const fromEnv = isItself ? findVariable(facts.urlVariables, sources.env) : undefined;
  const baseUrl = set?.baseUrl ?? toUrl(fromEnv, facts.path) ?? facts.baseUrl;
  if (baseUrl === undefined) {
    throw new VarveError("BAD_CONFIG", `The URL of the provider ${provider} is not configured.`, {
      remedy: `Set models.providers.${provider}.baseUrl, for example to http://127.0.0.1:8080/v1.`,
    });
  }
  return { provider, kind, ...credential, baseUrl: baseUrl.replace(/(?<!\/)\/+$/, "") };
}

function resolveKey(
  provider: string,
  set: ProviderSettings[string] | undefined,
  variables: readonly string[],
  { env, home }: ProviderSources,
): string | undefined {
  const ofEntry = () =>
    set?.apiKey === undefined ? undefined : resolveVariable(set.apiKey, `models.providers.${provider}.apiKey`, env);
  // Own URL with own key: the key in the environment is for another server.
  const isElsewhere = set?.baseUrl !== undefined && set.apiKey !== undefined;
  return (
    (isElsewhere ? ofEntry() : undefined) ??
    findVariable(variables, env) ??
    ofEntry() ??
    // The file is read only when needed, so that a faulty file does not affect anyone else.
    readCredentialsFile(home).get(provider)
  );
}

function resolveKind(provider: string, set: ProviderSettings[string] | undefined): ProviderKind {
  if (set?.kind !== undefined) return set.kind;
  const kind = providerKinds.find((one) => one === provider);
  if (kind !== undefined) return kind;
  if (set?.baseUrl !== undefined) return "openai-compatible";
  throw new VarveError("BAD_CONFIG", `There is no provider ${provider}.`, {
    remedy: `Use one of ${providerKinds.join(", ")}, or set models.providers.${provider}.baseUrl to an OpenAI-compatible URL.`,
  });
}

function missingKeyError(provider: string, variables: readonly string[]): VarveError {
  return new VarveError("BAD_CONFIG", `There is no key for ${provider}.`, {
    remedy: `Set ${variables[0]} or models.providers.${provider}.apiKey, or add \`${provider}: KEY\` to credentials.yaml in the home folder (mode 600).`,
    details: { provider },
  });
}

function findVariable(variables: readonly string[], env: Environment): string | undefined {
  return variables.map((name) => env[name]?.trim()).find(Boolean);
}

/** The usual variable name: `GROQ_API_KEY` for groq. */
function toKeyVariable(provider: string): string {
  return `${provider.toUpperCase().replace(/[^A-Z0-9]/g, "_")}_API_KEY`;
}

/** `OLLAMA_HOST` is often only a host and port, and may be a listen address. */
function toUrl(address: string | undefined, path: string | undefined): string | undefined {
  if (address === undefined) return undefined;
  const url = /^https?:\/\//i.test(address) ? address : `http://${address}`;
  if (!URL.canParse(url)) {
    throw new VarveError("BAD_CONFIG", `${address} in the environment is not a URL.`, {
      remedy: "Write it as http://host:port.",
    });
  }
  const bare = url.replace(/(?<!\/)\/+$/, "").replace(/^(https?:\/\/)0\.0\.0\.0(?=[:/]|$)/i, "$1127.0.0.1");
  return path === undefined || bare.endsWith(path) ? bare : `${bare}${path}`;
}
