import type { Config, Environment } from "../config/index.ts";
import { VarveError } from "../domain/index.ts";
import type { TokenSource } from "./auth/port.ts";
import { fromVariable, type ProfileSources, profileCredential, type Scheme } from "./auth/profiles.ts";
import { readCredentialsFile } from "./credentials-file.ts";

export type ProviderKind = "anthropic" | "openai" | "google" | "ollama" | "openai-compatible";
type ProviderSettings = Config["models"]["providers"];

/** Where the settings and the keys of providers are found. */
export interface ProviderSources extends ProfileSources {
  providers: ProviderSettings;
}

/** Everything needed to reach a provider. */
export interface Access {
  provider: string;
  kind: ProviderKind;
  /** A key that is known. */
  apiKey?: string;
  /** Where a key is asked for that is not known. */
  tokens?: TokenSource;
  scheme: Scheme;
  /** The provider's own address when absent. */
  baseUrl?: string;
}

interface KindFacts {
  keyVariables: readonly string[];
  urlVariables: readonly string[];
  needsKey: boolean;
  /** The address when none is set. Not left to the packages: they would read the environment behind our back. */
  baseUrl?: string;
  /** What an address has to end with. Variables that other tools read are mostly without it. */
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

export const providerKinds = Object.keys(kinds) as readonly ProviderKind[];

/**
 * Finds how a provider is reached. Its credential comes from a profile, else from its own variable, else from its entry
 * in the settings, else from the file of credentials. A profile that fails is an error: nobody else pays in its place.
 */
export function resolveAccess(provider: string, sources: ProviderSources): Access {
  const set = Object.hasOwn(sources.providers, provider) ? sources.providers[provider] : undefined;
  const kind = kindOf(provider, set);
  const facts = kinds[kind];
  // A provider of another name is another company's: the key of the one it resembles is none of its business.
  const isItself = kind === provider;
  const own = isItself && facts.keyVariables.length > 0 ? facts.keyVariables : [variableOf(provider)];
  const credential = profileCredential(provider, set?.auth, sources) ?? {
    scheme: "key",
    apiKey: plainKey(provider, set, own, sources),
  };
  if (credential.apiKey === undefined && credential.tokens === undefined && facts.needsKey) {
    throw missingKey(provider, own);
  }
  const fromEnv = isItself ? firstOf(facts.urlVariables, sources.env) : undefined;
  const baseUrl = set?.baseUrl ?? withScheme(fromEnv, facts.path) ?? facts.baseUrl;
  if (baseUrl === undefined) {
    throw new VarveError("BAD_CONFIG", `It is not known where the provider ${provider} is.`, {
      remedy: `Set models.providers.${provider}.baseUrl to its address, such as http://127.0.0.1:8080/v1.`,
    });
  }
  return { provider, kind, ...credential, baseUrl: baseUrl.replace(/\/+$/, "") };
}

function plainKey(
  provider: string,
  set: ProviderSettings[string] | undefined,
  variables: readonly string[],
  { env, home }: ProviderSources,
): string | undefined {
  const ofEntry = () =>
    set?.apiKey === undefined ? undefined : fromVariable(set.apiKey, `models.providers.${provider}.apiKey`, env);
  // An address of its own with a key of its own: what the environment holds is meant for another place.
  const isElsewhere = set?.baseUrl !== undefined && set.apiKey !== undefined;
  return (
    (isElsewhere ? ofEntry() : undefined) ??
    firstOf(variables, env) ??
    ofEntry() ??
    // The file is not even opened when a key is known: what is wrong with it would stop nobody else.
    readCredentialsFile(home).get(provider)
  );
}

function kindOf(provider: string, set: ProviderSettings[string] | undefined): ProviderKind {
  if (set?.kind !== undefined) return set.kind;
  const kind = providerKinds.find((one) => one === provider);
  if (kind !== undefined) return kind;
  if (set?.baseUrl !== undefined) return "openai-compatible";
  throw new VarveError("BAD_CONFIG", `There is no provider ${provider}.`, {
    remedy: `Use one of ${providerKinds.join(", ")}, or set models.providers.${provider}.baseUrl to an address that speaks as OpenAI does.`,
  });
}

function missingKey(provider: string, variables: readonly string[]): VarveError {
  return new VarveError("BAD_CONFIG", `There is no key for ${provider}.`, {
    remedy: `Set ${variables[0]}, or models.providers.${provider}.apiKey, or write \`${provider}: KEY\` into credentials.yaml in the home folder (mode 600).`,
    details: { provider },
  });
}

function firstOf(variables: readonly string[], env: Environment): string | undefined {
  return variables.map((name) => env[name]?.trim()).find(Boolean);
}

/** `GROQ_API_KEY` for groq: what most tools read. */
function variableOf(provider: string): string {
  return `${provider.toUpperCase().replace(/[^A-Z0-9]/g, "_")}_API_KEY`;
}

/** `OLLAMA_HOST` is often no more than a host and a port, and may name the address a server listens on. */
function withScheme(address: string | undefined, path: string | undefined): string | undefined {
  if (address === undefined) return undefined;
  const url = /^https?:\/\//i.test(address) ? address : `http://${address}`;
  if (!URL.canParse(url)) {
    throw new VarveError("BAD_CONFIG", `${address} in the environment is no address.`, {
      remedy: "Write it as http://host:port.",
    });
  }
  const bare = url.replace(/\/+$/, "").replace(/^(https?:\/\/)0\.0\.0\.0(?=[:/]|$)/i, "$1127.0.0.1");
  return path === undefined || bare.endsWith(path) ? bare : `${bare}${path}`;
}
