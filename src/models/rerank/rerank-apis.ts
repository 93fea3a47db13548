import { z } from "zod";
import { VarveError } from "../../domain/index.ts";
import type { RerankScore } from "./port.ts";

export const rerankProviders = ["jina", "siliconflow", "voyage", "pinecone", "dashscope", "tei"] as const;
export type RerankProvider = (typeof rerankProviders)[number];

/** The API of one provider. */
interface RerankApi {
  baseUrl: string;
  path: string;
  /** Absent for servers with a single model. */
  model?: string;
  needsKey: boolean;
  headers(apiKey: string | undefined): Record<string, string>;
  body(model: string, query: string, texts: readonly string[]): unknown;
}

const createBearerHeader = (apiKey: string | undefined): Record<string, string> =>
  apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
const createCommonBody = (model: string, query: string, documents: readonly string[]) => ({
  model,
  query,
  documents,
  top_n: documents.length,
  return_documents: false,
});

export const rerankApis: Readonly<Record<RerankProvider, RerankApi>> = {
  jina: {
    baseUrl: "https://api.jina.ai/v1",
    path: "/rerank",
    model: "jina-reranker-v3",
    needsKey: true,
    headers: createBearerHeader,
    body: createCommonBody,
  },
  siliconflow: {
    baseUrl: "https://api.siliconflow.com/v1",
    path: "/rerank",
    model: "BAAI/bge-reranker-v2-m3",
    needsKey: true,
    headers: createBearerHeader,
    body: createCommonBody,
  },
  voyage: {
    baseUrl: "https://api.voyageai.com/v1",
    path: "/rerank",
    model: "rerank-2.5",
    needsKey: true,
    headers: createBearerHeader,
    body: (model, query, documents) => ({ model, query, documents, top_k: documents.length, return_documents: false }),
  },
  pinecone: {
    baseUrl: "https://api.pinecone.io",
    path: "/rerank",
    model: "bge-reranker-v2-m3",
    needsKey: true,
    headers: (apiKey) => ({
      ...(apiKey === undefined ? {} : { "api-key": apiKey }),
      "x-pinecone-api-version": "2025-04",
    }),
    body: (model, query, texts) => ({
      ...createCommonBody(model, query, []),
      documents: texts.map((text) => ({ text })),
      top_n: texts.length,
    }),
  },
  dashscope: {
    baseUrl: "https://dashscope.aliyuncs.com/api/v1",
    path: "/services/rerank/text-rerank/text-rerank",
    model: "gte-rerank-v2",
    needsKey: true,
    headers: createBearerHeader,
    body: (model, query, documents) => ({
      model,
      input: { query, documents },
      parameters: { return_documents: false, top_n: documents.length },
    }),
  },
  tei: {
    baseUrl: "http://127.0.0.1:8080",
    path: "/rerank",
    needsKey: false,
    headers: createBearerHeader,
    body: (_, query, texts) => ({ query, texts, truncate: true }),
  },
};

const rows = z.array(
  z.object({ index: z.int().min(0), relevance_score: z.number().optional(), score: z.number().optional() }),
);
const answers = z.union([
  rows,
  z.object({ results: rows }),
  z.object({ data: rows }),
  z.object({ output: z.object({ results: rows }) }),
]);

/** Reads the scores from a response of any provider: each index once, clamped to 0…1. */
export function parseScores(answer: unknown, count: number): RerankScore[] {
  const parsed = answers.safeParse(answer);
  if (!parsed.success) throw new VarveError("MODEL_FAILED", "The response is not in the format of a reranker.");
  const { data } = parsed;
  const list = Array.isArray(data)
    ? data
    : "results" in data
      ? data.results
      : "data" in data
        ? data.data
        : data.output.results;
  const scores = new Map<number, number>();
  for (const { index, relevance_score, score } of list) {
    const value = relevance_score ?? score;
    if (index >= count || value === undefined || scores.has(index)) continue;
    scores.set(index, Math.min(1, Math.max(0, value)));
  }
  return [...scores].map(([index, score]) => ({ index, score }));
}
