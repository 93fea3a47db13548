import type { Config, Environment } from "../../config/index.ts";
import { type Clock, redactSecrets, systemClock, VarveError } from "../../domain/index.ts";
import { sendWithCredential } from "../auth/credential.ts";
import { boundedFetch } from "../bounded-fetch.ts";
import { type Access, resolveAccess } from "../providers.ts";
import type { Reranker, RerankScore } from "./port.ts";
import { parseScores, type RerankProvider, rerankApis, rerankProviders } from "./rerank-apis.ts";

export interface RerankerOptions {
  /** The folder with `credentials.yaml`. */
  home: string;
  env?: Environment;
  clock?: Clock;
}

/** After a failure it is not called for this long, so that not every search waits for a server that is down. */
const pauseMs = 30_000;

/** The reranker that `search.reranker` names, as provider or provider/model; `undefined` for none. */
export function openConfiguredReranker(
  settings: Pick<Config, "models" | "search">,
  { home, env = process.env, clock = systemClock }: RerankerOptions,
): Reranker | undefined {
  const { reranker: named, rerankerTimeoutMs } = settings.search;
  if (named === "none") return undefined;
  const slash = named.indexOf("/");
  const provider = rerankProviders.find((one) => one === (slash < 0 ? named : named.slice(0, slash)));
  if (provider === undefined) {
    throw new VarveError("BAD_CONFIG", `${named} is not a reranker.`, {
      remedy: `Set search.reranker to one of ${rerankProviders.join(", ")}, optionally followed by /model.`,
    });
  }
  const { model: usual = "" } = rerankApis[provider];
  const model = slash < 0 ? usual : named.slice(slash + 1);
  const providers = {
    ...settings.models.providers,
    [provider]: { baseUrl: rerankApis[provider].baseUrl, ...settings.models.providers[provider] },
  };
  const call = (query: string, texts: readonly string[], signal: AbortSignal) =>
    requestScores(
      provider,
      model,
      resolveAccess(provider, { providers, auth: settings.models.auth, env, home }),
      query,
      texts,
      signal,
    );
  return createPausingReranker(model === "" ? provider : `${provider}/${model}`, rerankerTimeoutMs, clock, call);
}

function createPausingReranker(
  name: string,
  timeoutMs: number,
  clock: Clock,
  call: (query: string, texts: readonly string[], signal: AbortSignal) => Promise<RerankScore[]>,
): Reranker {
  let paused: { until: number; error: unknown } | undefined;
  return {
    name,
    async rerank(query, texts, signal) {
      if (texts.length === 0) return [];
      if (paused && clock.now() < paused.until) throw paused.error;
      const timeout = AbortSignal.timeout(timeoutMs);
      try {
        const scores = await call(query, texts, signal ? AbortSignal.any([signal, timeout]) : timeout);
        paused = undefined;
        return scores;
      } catch (cause) {
        signal?.throwIfAborted();
        const error = timeout.aborted
          ? new VarveError("MODEL_TIMEOUT", `${name} gave no answer within ${timeoutMs} ms.`, { cause })
          : cause;
        paused = { until: clock.now() + pauseMs, error };
        throw error;
      }
    },
  };
}

async function requestScores(
  provider: RerankProvider,
  model: string,
  access: Access,
  query: string,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<RerankScore[]> {
  const wire = rerankApis[provider];
  const { baseUrl } = access;
  if (access.apiKey === undefined && access.tokens === undefined && wire.needsKey) {
    throw new VarveError("BAD_CONFIG", `There is no key for ${provider}.`, {
      remedy: `Set ${provider.toUpperCase()}_API_KEY or models.providers.${provider}.apiKey.`,
    });
  }
  const body = JSON.stringify(wire.body(model, query, texts));
  const response = await sendWithCredential(access, signal, (apiKey) =>
    boundedFetch(`${baseUrl ?? wire.baseUrl}${wire.path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...wire.headers(apiKey) },
      body,
      signal,
    }),
  );
  const text = await response.text();
  if (!response.ok) {
    const excerpt = redactSecrets(text.slice(0, 200).replaceAll(/\s+/g, " "));
    const code = response.status === 401 || response.status === 403 ? "MODEL_KEY_REFUSED" : "MODEL_FAILED";
    throw new VarveError(code, `${provider} answered HTTP ${response.status}: ${excerpt}`);
  }
  return parseScores(parseJson(text, provider), texts.length);
}

function parseJson(text: string, provider: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new VarveError("MODEL_FAILED", `${provider} returned a response that is not JSON.`, { cause });
  }
}
