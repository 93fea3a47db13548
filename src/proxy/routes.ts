import { VarveError } from "../domain/index.ts";
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
  /** Whether it only uses models; other endpoints read or change what belongs to the account. */
  usesModels: boolean;
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

/** The requests without a conversation that only use models. */
const modelRequests: Readonly<Record<Provider, readonly RegExp[]>> = {
  anthropic: [/^GET \/models(?:\/[\w.:-]+)?$/, /^POST \/complete$/],
  openai: [
    /^GET \/models(?:\/[\w.:-]+)?$/,
    /^POST \/(?:completions|embeddings|moderations|responses\/input_tokens)$/,
    /^POST \/(?:images\/generations|audio\/(?:speech|transcriptions|translations))$/,
  ],
};

/**
 * `path` is the part after `/proxy/<provider>`, with its query. Some clients include `/v1` in their base URL. Throws for
 * a path that would leave the configured address.
 */
export function resolveRoute(provider: Provider, method: string, path: string, baseUrl: string): Route {
  const [given = "", query] = splitAt(path, "?");
  // Clients whose base URL ends with a slash send two.
  const bare = given.startsWith("//") ? `/${given.slice(countLeadingSlashes(given))}` : given;
  checkPath(bare);
  const base = trimSlashes(baseUrl);
  const endpointPath = bare.replace(/^\/v1(?=\/|$)/, "");
  const hasVersion = /\/v\d[a-z0-9]*$/.test(base);
  const url = new URL(`${base}${hasVersion ? endpointPath : bare}${query === undefined ? "" : `?${query}`}`);
  checkTarget(url, new URL(baseUrl), base);
  const name = trimSlashes(endpointPath);
  const endpoint = method === "POST" ? endpoints[provider][name] : undefined;
  const usesModels = endpoint !== undefined || modelRequests[provider].some((one) => one.test(`${method} ${name}`));
  return { url, ...(endpoint ? { format: endpoint.format } : {}), isCount: endpoint?.isCount === true, usesModels };
}

/** How often a path may be encoded. */
const encodingsMax = 3;

/** Refuses what a server may read as another path after it decoded it: dot segments, backslashes, control characters. */
function checkPath(path: string): void {
  if (path !== "" && !path.startsWith("/")) throw createPathError(path);
  let decoded = path;
  for (let round = 0; round <= encodingsMax; round += 1) {
    const hasDots = decoded.split("/").some((part) => part === "." || part === "..");
    if (hasDots || /[\\\p{Cc}]/u.test(decoded)) throw createPathError(path);
    const next = decodePath(decoded);
    if (next === decoded) return;
    decoded = next;
  }
  throw createPathError(path);
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch (error) {
    if (error instanceof URIError) throw createPathError(path);
    throw error;
  }
}

/** The credential goes only to the configured origin, and below its path. */
function checkTarget(url: URL, configured: URL, base: string): void {
  const below = new URL(base).pathname;
  const isBelow = below === "/" || url.pathname === below || url.pathname.startsWith(`${below}/`);
  const isSame = url.origin === configured.origin && url.username === configured.username;
  if (!isSame || url.password !== configured.password || !isBelow) throw createPathError(url.pathname);
}

function createPathError(path: string): VarveError {
  return new VarveError("BAD_REQUEST", `The path ${JSON.stringify(path.slice(0, 200))} is not forwarded.`, {
    remedy: "Send a path of the provider's API, without dot segments and backslashes.",
  });
}

function countLeadingSlashes(text: string): number {
  let count = 0;
  while (text[count] === "/") count += 1;
  return count;
}

function trimSlashes(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === "/") end -= 1;
  return text.slice(0, end);
}

function splitAt(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/** Returns the format in which a provider's clients expect errors. */
export function errorFormat(provider: Provider): Format {
  return provider === "anthropic" ? anthropicFormat : chatFormat;
}
