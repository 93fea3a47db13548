import { toSdkOptions } from "../auth/credential.ts";
import type { Access } from "../providers.ts";
import { loadPackage } from "../sdk.ts";

/** The purpose of the embedding; some models distinguish queries from documents. */
export type EmbedUse = "document" | "query";

export interface EmbedCall {
  texts: string[];
  use: EmbedUse;
  /** Sent only when it differs from the model's default. */
  dimensions?: number;
  signal: AbortSignal;
}

/** One call to a provider through the AI SDK. The caller does retries. */
export async function embedWithSdk(access: Access, model: string, call: EmbedCall): Promise<number[][]> {
  const { embedMany } = await loadPackage("ai", () => import("ai"));
  const { texts, use, dimensions, signal } = call;
  const taskType = use === "query" ? "RETRIEVAL_QUERY" : "RETRIEVAL_DOCUMENT";
  const { embeddings } = await embedMany({
    model: await createEmbeddingModel(access, model, use),
    values: texts,
    maxRetries: 0,
    abortSignal: signal,
    ...(dimensions === undefined ? {} : { dimensions }),
    ...(access.kind === "google" ? { providerOptions: { google: { taskType } } } : {}),
  });
  return embeddings;
}

async function createEmbeddingModel(access: Access, model: string, use: EmbedUse) {
  const { provider, kind, baseUrl } = access;
  const settings = toSdkOptions(access);
  if (kind === "openai") {
    const { createOpenAI } = await loadPackage("@ai-sdk/openai", () => import("@ai-sdk/openai"));
    return createOpenAI(settings).embeddingModel(model);
  }
  if (kind === "google") {
    const { createGoogle } = await loadPackage("@ai-sdk/google", () => import("@ai-sdk/google"));
    return createGoogle(settings).embeddingModel(model);
  }
  const name = "@ai-sdk/openai-compatible";
  const { createOpenAICompatible } = await loadPackage(name, () => import("@ai-sdk/openai-compatible"));
  const send = provider === "voyage" ? createVoyageFetch(use, settings.fetch) : settings.fetch;
  return createOpenAICompatible({ ...settings, fetch: send, name: provider, baseURL: baseUrl ?? "" }).embeddingModel(
    model,
  );
}

/** Voyage has different names for two fields, needs the purpose of a text, and reports usage in another format. */
function createVoyageFetch(use: EmbedUse, send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const { encoding_format: _, dimensions, ...body } = JSON.parse(String(init?.body ?? "{}"));
    const request = { ...body, input_type: use, ...(dimensions === undefined ? {} : { output_dimension: dimensions }) };
    const response = await send(input, { ...init, body: JSON.stringify(request) });
    if (!response.ok) return response;
    const { data } = (await response.json()) as { data?: unknown };
    return Response.json({ data }, { status: response.status });
  };
}
