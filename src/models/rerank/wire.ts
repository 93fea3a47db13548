import { z } from "zod";
import { VarveError } from "../../domain/index.ts";
import type { RerankScore } from "./port.ts";

export const rerankProviders = ["jina", "siliconflow", "voyage", "pinecone", "dashscope", "tei"] as const;
export type RerankProvider = (typeof rerankProviders)[number];

/** How one provider is spoken to. */
interface Wire {
  baseUrl: string;
  path: string;
  /** Absent where a server has only one. */
  model?: string;
  needsKey: boolean;
  headers(apiKey: string | undefined): Record<string, string>;
  body(model: string, query: string, texts: readonly string[]): unknown;
}

const bearer = (apiKey: string | undefined): Record<string, string> =>
  apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
const usual = (model: string, query: string, documents: readonly string[]) => ({
  model,
  query,
  documents,
  top_n: documents.length,
  return_documents: false,
});

export const wires: Readonly<Record<RerankProvider, Wire>> = {
  jina: {
    baseUrl: "https://api.jina.ai/v1",
    path: "/rerank",
    model: "jina-reranker-v3",
    needsKey: true,
    headers: bearer,
    body: usual,
  },
  siliconflow: {
    baseUrl: "https://api.siliconflow.com/v1",
    path: "/rerank",
    model: "BAAI/bge-reranker-v2-m3",
    needsKey: true,
    headers: bearer,
    body: usual,
  },
  voyage: {
    baseUrl: "https://api.voyageai.com/v1",
    path: "/rerank",
    model: "rerank-2.5",
    needsKey: true,
    headers: bearer,
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
      ...usual(model, query, []),
      documents: texts.map((text) => ({ text })),
      top_n: texts.length,
    }),
  },
  dashscope: {
    baseUrl: "https://dashscope.aliyuncs.com/api/v1",
    path: "/services/rerank/text-rerank/text-rerank",
    model: "gte-rerank-v2",
    needsKey: true,
    headers: bearer,
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
    headers: bearer,
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

/** The scores in an answer of any of them, each place once and from 0 to 1. */
export function scoresIn(answer: unknown, count: number): RerankScore[] {
  const parsed = answers.safeParse(answer);
  if (!parsed.success) throw new VarveError("MODEL_FAILED", "The answer is not one of a reranker.");
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
