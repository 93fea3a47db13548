import { boundedFetch } from "../bounded-fetch.ts";
import type { Access, ProviderKind } from "../providers.ts";

type Credentials = Pick<Access, "apiKey" | "tokens">;

/** Sends with the credential of a provider; once more with another where the first was refused and there is one. */
export async function withCredential(
  { apiKey, tokens }: Credentials,
  signal: AbortSignal | undefined,
  send: (credential: string | undefined) => Promise<Response>,
): Promise<Response> {
  if (tokens === undefined) return send(apiKey);
  const first = await tokens.token(signal);
  const response = await send(first);
  if (response.status !== 401) return response;
  const next = await tokens.renew(first, signal);
  if (next === undefined) return response;
  await response.body?.cancel();
  return send(next);
}

/** The headers that show a credential to a provider. */
export function credentialHeaders(
  { kind, scheme }: Pick<Access, "kind" | "scheme">,
  credential: string,
): Record<string, string> {
  const own = scheme === "key" ? keyHeaders[kind] : undefined;
  return own === undefined ? { authorization: `Bearer ${credential}` } : { [own]: credential };
}

const keyHeaders: Partial<Record<ProviderKind, string>> = { anthropic: "x-api-key", google: "x-goog-api-key" };
/** Whatever a package puts there stands for no key at all. */
const replaced = ["authorization", "x-api-key", "x-goog-api-key"];

/** What the packages of the AI SDK are told: a key that is known, or one that `fetch` puts in its place. */
export function sdkAccess(access: Access): { apiKey?: string; baseURL?: string; fetch: typeof fetch } {
  const { apiKey, tokens, scheme, baseUrl } = access;
  if (tokens === undefined && scheme === "key") return { apiKey, baseURL: baseUrl, fetch: boundedFetch };
  const authorised: typeof fetch = (input, init) =>
    withCredential(access, init?.signal ?? undefined, (credential) => {
      const headers = new Headers(init?.headers);
      for (const name of replaced) headers.delete(name);
      const shown = credential === undefined ? {} : credentialHeaders(access, credential);
      for (const [name, value] of Object.entries(shown)) headers.set(name, value);
      return boundedFetch(input, { ...init, headers });
    });
  return { apiKey: "of a profile", baseURL: baseUrl, fetch: authorised };
}
