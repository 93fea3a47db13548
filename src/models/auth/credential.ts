import { boundedFetch } from "../bounded-fetch.ts";
import type { Access, ProviderKind } from "../providers.ts";

type Credentials = Pick<Access, "apiKey" | "tokens">;

/** Sends a request with the credential of a provider; if it is rejected and can be renewed, sends it once more. */
export async function sendWithCredential(
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

/** The headers that carry a credential for a provider. */
export function createCredentialHeaders(
  { kind, scheme }: Pick<Access, "kind" | "scheme">,
  credential: string,
): Record<string, string> {
  const own = scheme === "key" ? keyHeaders[kind] : undefined;
  return own === undefined ? { authorization: `Bearer ${credential}` } : { [own]: credential };
}

const keyHeaders: Partial<Record<ProviderKind, string>> = { anthropic: "x-api-key", google: "x-goog-api-key" };
/** Headers set by an SDK package with its placeholder key. */
const credentialHeaderNames = ["authorization", "x-api-key", "x-goog-api-key"];

/** Options for the AI SDK packages: a known key, or a `fetch` that inserts the current one. */
export function toSdkOptions(access: Access): { apiKey?: string; baseURL?: string; fetch: typeof fetch } {
  const { apiKey, tokens, scheme, baseUrl } = access;
  if (tokens === undefined && scheme === "key") return { apiKey, baseURL: baseUrl, fetch: boundedFetch };
  const authorised: typeof fetch = (input, init) =>
    sendWithCredential(access, init?.signal ?? undefined, (credential) => {
      const headers = new Headers(init?.headers);
      for (const name of credentialHeaderNames) headers.delete(name);
      const shown = credential === undefined ? {} : createCredentialHeaders(access, credential);
      for (const [name, value] of Object.entries(shown)) headers.set(name, value);
      return boundedFetch(input, { ...init, headers });
    });
  return { apiKey: "placeholder", baseURL: baseUrl, fetch: authorised };
}
