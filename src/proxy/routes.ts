import { anthropicFormat } from "./anthropic/format.ts";
import { chatFormat } from "./openai-chat/format.ts";
import { responsesFormat } from "./openai-responses/format.ts";
import type { Format } from "./wire.ts";

export type Provider = "anthropic" | "openai";

/** Where a request goes on to, and what it is. */
export interface Route {
  url: URL;
  /** Undefined for what is forwarded as it is. */
  format?: Format;
  /** Whether the tokens of a request are to be counted, and nothing else. */
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

/** `path` is what stands behind `/proxy/<provider>`, with its query. Clients put `/v1` into their base address, or not. */
export function routeOf(provider: Provider, method: string, path: string, baseUrl: string): Route {
  const [bare = "", query] = cutAt(path, "?");
  const base = baseUrl.replace(/\/+$/, "");
  const within = bare.replace(/^\/v1(?=\/|$)/, "");
  const hasVersion = /\/v\d+[a-z0-9]*$/.test(base);
  const url = new URL(`${base}${hasVersion ? within : bare}${query === undefined ? "" : `?${query}`}`);
  const endpoint = method === "POST" ? endpoints[provider][within.replace(/\/+$/, "")] : undefined;
  return { url, ...(endpoint ? { format: endpoint.format } : {}), isCount: endpoint?.isCount === true };
}

function cutAt(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/** The format in whose shape a provider's clients expect an error. */
export function errorFormat(provider: Provider): Format {
  return provider === "anthropic" ? anthropicFormat : chatFormat;
}
