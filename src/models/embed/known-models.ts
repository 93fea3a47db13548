/** How many numbers the vectors of well-known models have: a space has to be known before its first vector. */
const dimensions: Readonly<Record<string, number>> = {
  "text-embedding-3-small": 1536,
  "text-embedding-3-large": 3072,
  "text-embedding-ada-002": 1536,
  "gemini-embedding-001": 3072,
  "text-embedding-004": 768,
  "voyage-3.5": 1024,
  "voyage-3.5-lite": 1024,
  "voyage-3-large": 1024,
  "voyage-code-3": 1024,
  "mistral-embed": 1024,
  "codestral-embed": 1536,
  "embed-v4.0": 1536,
  "embed-english-v3.0": 1024,
  "embed-multilingual-v3.0": 1024,
  "nomic-embed-text": 768,
  "mxbai-embed-large": 1024,
  "all-minilm": 384,
  "bge-m3": 1024,
  "jina-embeddings-v3": 1024,
};

/** Providers that speak as OpenAI does (or nearly), where they are. */
export const embeddingAddresses: Readonly<Record<string, string>> = {
  voyage: "https://api.voyageai.com/v1",
  mistral: "https://api.mistral.ai/v1",
  cohere: "https://api.cohere.ai/compatibility/v1",
};

/** The name of a model without who published it and without its tag: `BAAI/bge-m3` and `bge-m3:latest` are one. */
export function bareName(model: string): string {
  return model
    .slice(model.lastIndexOf("/") + 1)
    .replace(/:.*$/, "")
    .toLowerCase();
}

export function getDimensions(model: string): number | undefined {
  const name = bareName(model);
  return Object.hasOwn(dimensions, name) ? dimensions[name] : undefined;
}
