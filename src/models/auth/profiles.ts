import type { Config, Environment } from "../../config/index.ts";
import { type Clock, systemClock, VarveError } from "../../domain/index.ts";
import { CachedToken } from "./cached-token.ts";
import { tokenByCommand } from "./command-token.ts";
import { tokenByOauth } from "./oauth-token.ts";
import type { TokenSource } from "./port.ts";

export type AuthSettings = Config["models"]["auth"];
type Profile = AuthSettings[string];

export interface ProfileSources {
  auth: AuthSettings;
  env: Environment;
  home: string;
  /** The profile that somebody chose, for the provider it belongs to. */
  profile?: string;
  clock?: Clock;
}

/** How a credential is shown: in the provider's own header for keys, or as `Authorization: Bearer`. */
export type Scheme = "key" | "bearer";

/** What a profile gives: a key that is known, or where to ask for one. */
export interface ProfileCredential {
  scheme: Scheme;
  apiKey?: string;
  tokens?: TokenSource;
}

/** Tokens live as long as the settings they follow from: each way to a model asks for its access anew. */
const sources = new WeakMap<AuthSettings, Map<string, TokenSource>>();

/** The credential of the profile that serves a provider; undefined where none does. */
export function profileCredential(
  provider: string,
  named: string | undefined,
  from: ProfileSources,
): ProfileCredential | undefined {
  const name = nameOf(provider, named, from);
  const profile = name === undefined ? undefined : ownProfile(from.auth, name);
  if (name === undefined || profile === undefined) return undefined;
  const scheme = profile.scheme ?? (profile.oauth === undefined ? "key" : "bearer");
  if (profile.apiKey !== undefined) {
    return { scheme, apiKey: fromVariable(profile.apiKey, `models.auth.${name}.apiKey`, from.env) };
  }
  return { scheme, tokens: tokensOf(name, profile, from) };
}

/** A profile by its name, or what there is in its place. */
export function checkProfile(auth: AuthSettings, name: string): Profile {
  const profile = ownProfile(auth, name);
  if (profile !== undefined) return profile;
  const names = Object.keys(auth);
  throw new VarveError("BAD_CONFIG", `There is no auth profile ${name}.`, {
    remedy: names.length === 0 ? `Describe it as models.auth.${name}.` : `Use one of ${names.join(", ")}.`,
  });
}

/** A value of the settings, or that of the variable it names. */
export function fromVariable(setting: string, key: string, env: Environment): string {
  if (!setting.startsWith("env:")) return setting;
  const variable = setting.slice("env:".length);
  const value = env[variable]?.trim();
  if (value) return value;
  throw new VarveError("BAD_CONFIG", `${key} is to come from ${variable}, which is not set.`, {
    remedy: `Set ${variable}, or change ${key}.`,
  });
}

/** A profile is its provider's alone: whoever names it for another one is told, and no other sees its key. */
function nameOf(provider: string, named: string | undefined, { auth, profile }: ProfileSources): string | undefined {
  if (profile !== undefined && checkProfile(auth, profile).provider === provider) return profile;
  if (named === undefined) return Object.keys(auth).find((name) => auth[name]?.provider === provider);
  const { provider: owner } = checkProfile(auth, named);
  if (owner === provider) return named;
  throw new VarveError("BAD_CONFIG", `The auth profile ${named} is of ${owner}, not of ${provider}.`, {
    remedy: `Change models.providers.${provider}.auth, or models.auth.${named}.provider.`,
  });
}

function ownProfile(auth: AuthSettings, name: string): Profile | undefined {
  return Object.hasOwn(auth, name) ? auth[name] : undefined;
}

function tokensOf(name: string, profile: Profile, from: ProfileSources): TokenSource {
  const all = sources.get(from.auth) ?? new Map<string, TokenSource>();
  sources.set(from.auth, all);
  const known = all.get(`${from.home}\n${name}`) ?? openTokens(name, profile, from);
  all.set(`${from.home}\n${name}`, known);
  return known;
}

function openTokens(name: string, profile: Profile, { env, home, clock = systemClock }: ProfileSources): TokenSource {
  const { command, oauth, refreshMs, timeoutMs } = profile;
  if (command !== undefined) {
    return new CachedToken(() => tokenByCommand({ name, command, refreshMs, timeoutMs, env, clock }), clock);
  }
  if (oauth === undefined) throw new VarveError("INTERNAL", `The auth profile ${name} holds no credential.`);
  const at = `models.auth.${name}.oauth`;
  return new CachedToken((refused) => {
    const { clientSecret, refreshToken, ...rest } = oauth;
    const secret = clientSecret === undefined ? undefined : fromVariable(clientSecret, `${at}.clientSecret`, env);
    const request = { ...rest, refreshToken: fromVariable(refreshToken, `${at}.refreshToken`, env) };
    return tokenByOauth({ ...request, clientSecret: secret, name, timeoutMs, home, clock }, refused);
  }, clock);
}
