import type { Config, Environment } from "../../config/index.ts";
import { type Clock, systemClock, VarveError } from "../../domain/index.ts";
import { CachedToken } from "./cached-token.ts";
import { runTokenCommand } from "./command-token.ts";
import { requestOauthToken } from "./oauth-token.ts";
import type { TokenSource } from "./port.ts";

export type AuthSettings = Config["models"]["auth"];
type Profile = AuthSettings[string];

export interface ProfileSources {
  auth: AuthSettings;
  env: Environment;
  home: string;
  /** The profile chosen by the caller; applies only to the provider it belongs to. */
  profile?: string;
  clock?: Clock;
}

/** How a credential is sent: in the provider's own key header, or as `Authorization: Bearer`. */
export type Scheme = "key" | "bearer";

/** The credential of a profile: a known key, or a source of tokens. */
export interface ProfileCredential {
  scheme: Scheme;
  apiKey?: string;
  tokens?: TokenSource;
}

/** Cached with the settings they come from, because every call resolves its access again. */
const tokenSources = new WeakMap<AuthSettings, Map<string, TokenSource>>();

/** The credential of the profile used for a provider; `undefined` when there is none. */
export function resolveProfileCredential(
  provider: string,
  named: string | undefined,
  from: ProfileSources,
): ProfileCredential | undefined {
  const name = selectProfile(provider, named, from);
  const profile = name === undefined ? undefined : findProfile(from.auth, name);
  if (name === undefined || profile === undefined) return undefined;
  const scheme = profile.scheme ?? (profile.oauth === undefined ? "key" : "bearer");
  if (profile.apiKey !== undefined) {
    return { scheme, apiKey: resolveVariable(profile.apiKey, `models.auth.${name}.apiKey`, from.env) };
  }
  return { scheme, tokens: getTokenSource(name, profile, from) };
}

/** Finds a profile by name, or throws with the available names. */
export function checkProfile(auth: AuthSettings, name: string): Profile {
  const profile = findProfile(auth, name);
  if (profile !== undefined) return profile;
  const names = Object.keys(auth);
  throw new VarveError("BAD_CONFIG", `There is no auth profile ${name}.`, {
    remedy: names.length === 0 ? `Define it as models.auth.${name}.` : `Use one of ${names.join(", ")}.`,
  });
}

/** Resolves a setting of the form `env:NAME` to the value of the variable. */
export function resolveVariable(setting: string, key: string, env: Environment): string {
  if (!setting.startsWith("env:")) return setting;
  const variable = setting.slice("env:".length);
  const value = env[variable]?.trim();
  if (value) return value;
  throw new VarveError("BAD_CONFIG", `${key} refers to the variable ${variable}, which is not set.`, {
    remedy: `Set ${variable}, or change ${key}.`,
  });
}

/** A profile belongs to one provider; using it for another is an error, so that no other provider receives its key. */
function selectProfile(
  provider: string,
  named: string | undefined,
  { auth, profile }: ProfileSources,
): string | undefined {
  if (profile !== undefined && checkProfile(auth, profile).provider === provider) return profile;
  if (named === undefined) return Object.keys(auth).find((name) => auth[name]?.provider === provider);
  const { provider: owner } = checkProfile(auth, named);
  if (owner === provider) return named;
  throw new VarveError("BAD_CONFIG", `The auth profile ${named} belongs to ${owner}, not to ${provider}.`, {
    remedy: `Change models.providers.${provider}.auth, or models.auth.${named}.provider.`,
  });
}

function findProfile(auth: AuthSettings, name: string): Profile | undefined {
  return Object.hasOwn(auth, name) ? auth[name] : undefined;
}

function getTokenSource(name: string, profile: Profile, from: ProfileSources): TokenSource {
  const all = tokenSources.get(from.auth) ?? new Map<string, TokenSource>();
  tokenSources.set(from.auth, all);
  const known = all.get(`${from.home}\n${name}`) ?? createTokenSource(name, profile, from);
  all.set(`${from.home}\n${name}`, known);
  return known;
}

function createTokenSource(
  name: string,
  profile: Profile,
  { env, home, clock = systemClock }: ProfileSources,
): TokenSource {
  const { command, oauth, refreshMs, timeoutMs } = profile;
  if (command !== undefined) {
    return new CachedToken(() => runTokenCommand({ name, command, refreshMs, timeoutMs, env, clock }), clock);
  }
  if (oauth === undefined) throw new VarveError("INTERNAL", `The auth profile ${name} has no credential.`);
  const at = `models.auth.${name}.oauth`;
  return new CachedToken((refused) => {
    const { clientSecret, refreshToken, ...rest } = oauth;
    const secret = clientSecret === undefined ? undefined : resolveVariable(clientSecret, `${at}.clientSecret`, env);
    const request = { ...rest, refreshToken: resolveVariable(refreshToken, `${at}.refreshToken`, env) };
    return requestOauthToken({ ...request, clientSecret: secret, name, timeoutMs, home, clock }, refused);
  }, clock);
}
