import { sdkAccess } from "../auth/credential.ts";
import { loadPackage } from "../packages.ts";
import type { Access } from "../providers.ts";

/** What texts are embedded for; some models tell questions from what answers them. */
export type EmbedUse = "document" | "query";

export interface EmbedCall {
  texts: string[];
  use: EmbedUse;
  /** Asked for only where it is not the model's own number. */
  dimensions?: number;
  signal: AbortSignal;
}

/** One call to a provider through the AI SDK. Attempts and waits are the caller's. */
export async function embedBySdk(access: Access, model: string, call: EmbedCall): Promise<number[][]> {
  const { embedMany } = await loadPackage("ai", () => import("ai"));
  const { texts, use, dimensions, signal } = call;
  const taskType = use === "query" ? "RETRIEVAL_QUERY" : "RETRIEVAL_DOCUMENT";
  const { embeddings } = await embedMany({
    model: await embeddingModel(access, model, use),
    values: texts,
    maxRetries: 0,
    abortSignal: signal,
    ...(dimensions === undefined ? {} : { dimensions }),
    ...(access.kind === "google" ? { providerOptions: { google: { taskType } } } : {}),
  });
  return embeddings;
}

async function embeddingModel(access: Access, model: string, use: EmbedUse) {
  const { provider, kind, baseUrl } = access;
  const settings = sdkAccess(access);
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
  const send = provider === "voyage" ? voyageFetch(use, settings.fetch) : settings.fetch;
  return createOpenAICompatible({ ...settings, fetch: send, name: provider, baseURL: baseUrl ?? "" }).embeddingModel(
    model,
  );
}

/** Voyage takes other names for two fields, wants to know what a text is for, and counts tokens its own way. */
function voyageFetch(use: EmbedUse, send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const { encoding_format: _, dimensions, ...body } = JSON.parse(String(init?.body ?? "{}"));
    const asked = { ...body, input_type: use, ...(dimensions === undefined ? {} : { output_dimension: dimensions }) };
    const response = await send(input, { ...init, body: JSON.stringify(asked) });
    if (!response.ok) return response;
    const { data } = (await response.json()) as { data?: unknown };
    return Response.json({ data }, { status: response.status });
  };
}
