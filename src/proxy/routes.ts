import { anthropicFormat } from "./anthropic/format.ts";
import { chatFormat } from "./openai-chat/format.ts";
import { responsesFormat } from "./openai-responses/format.ts";
import type { Format } from "./wire.ts";

export type Provider = "anthropic" | "openai";

/** The target of a request. */
export interface Route {
  url: URL;
  /** Undefined for requests that are forwarded unchanged. */
  format?: Format;
  /** Whether the request only counts tokens. */
  isCount: boolean;
}

const endpoints: Readonly<Record<Provider, Readonly<Record<string, { format: Format; isCount?: true }>>>> = {
  anthropic: {
    "/messages": { format: anthropicFormat },
    "/messages/count_tokens": { format: anthropicFormat, isCount: true },
  },
  openai: {
    "/chat/completions": { format: chatFormat },
    "/responses": { format: responsesFormat },
  },
};

/** `path` is the part after `/proxy/<provider>`, with its query. Some clients include `/v1` in their base URL. */
export function resolveRoute(provider: Provider, method: string, path: string, baseUrl: string): Route {
  const [bare = "", query] = splitAt(path, "?");
  const base = baseUrl.replace(/\/+$/, "");
  const endpointPath = bare.replace(/^\/v1(?=\/|$)/, "");
  const hasVersion = /\/v\d+[a-z0-9]*$/.test(base);
  const url = new URL(`${base}${hasVersion ? endpointPath : bare}${query === undefined ? "" : `?${query}`}`);
  const endpoint = method === "POST" ? endpoints[provider][endpointPath.replace(/\/+$/, "")] : undefined;
  return { url, ...(endpoint ? { format: endpoint.format } : {}), isCount: endpoint?.isCount === true };
}

function splitAt(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/** Returns the format in which a provider's clients expect errors. */
export function errorFormat(provider: Provider): Format {
  return provider === "anthropic" ? anthropicFormat : chatFormat;
}
