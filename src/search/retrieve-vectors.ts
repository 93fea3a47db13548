import type { EmbeddedQuery, InstantEmbedder } from "../models/index.ts";
import type { ConversationSpan } from "../store/index.ts";
import type { CachedDoc } from "./documents.ts";
import { listMissing, readProgress, type SeqRange } from "./embedding/progress.ts";
import { choosePath, selectMessagesIn } from "./embedding/select-messages.ts";
import { type QueryVector, weighQuery } from "./query-weights.ts";
import { ranking } from "./ranking.ts";
import type { InstantIndex, SearchContext } from "./search-context.ts";
import type { ParsedQuery } from "./text/parse-query.ts";
import type { FindOptions, ResultKind } from "./types.ts";
import type { MessageQuery } from "./vectors/message-vectors.ts";

/** The query as a vector of each tier that is searched. */
export interface VectorQueries {
  modelQuery?: QueryVector;
  instantQuery?: QueryVector;
}

export interface VectorHits extends VectorQueries {
  /** Best first. */
  seqs: number[];
  embedded?: EmbeddedQuery;
  instantEmbedded?: EmbeddedQuery;
  degraded: string[];
}

type VectorOptions = Pick<
  FindOptions,
  "agent" | "since" | "before" | "tier" | "isEmbedded" | "vectorWaitMs" | "signal"
> & {
  spans: readonly ConversationSpan[] | undefined;
  limit: number;
};

interface TierHits {
  hits: { seq: number; cosine: number }[];
  query?: QueryVector;
  embedded?: EmbeddedQuery;
  note?: string;
}

/**
 * Retrieves messages by meaning: by the vectors of the model, and by instant vectors what the model has not embedded. The
 * cosines of the second are calibrated to those of the first before both are ordered together.
 */
export async function retrieveByVectors(
  context: SearchContext,
  parsed: ParsedQuery,
  weights: readonly number[],
  options: VectorOptions,
  kinds: readonly ResultKind[],
): Promise<VectorHits> {
  if (!context.embedder) {
    return { seqs: [], degraded: ["no embedding model is installed: only words were searched"] };
  }
  if (parsed.text === "") return { seqs: [], degraded: [] };
  const { agent, spans, since, before, limit, vectorWaitMs: waitMs } = options;
  const scope: MessageQuery = { agent, spans, since, before, limit, waitMs };
  const messages = kinds.includes("message");
  const weigh = (embedded: EmbeddedQuery) => weighQuery(embedded, parsed.terms, weights);
  const { instant } = context;
  const [model, missing] =
    options.tier === "instant"
      ? [{ hits: [] }, undefined]
      : await Promise.all([
          searchModel(context, parsed.text, weigh, scope, messages, options.signal),
          instant && messages ? (options.isEmbedded ? [] : findMissing(context, agent)) : undefined,
        ]);
  const ranges = model.query ? missing : undefined;
  const fast = instant && (await searchInstant(instant, parsed.text, weigh, { ...scope, ranges }, messages));
  const hits = [
    ...model.hits,
    ...(fast?.hits ?? []).map((hit) => ({ seq: hit.seq, cosine: calibrateInstant(hit.cosine) })),
  ];
  const fallback = instant ? "instant vectors were searched" : "only words were searched";
  return {
    seqs: [...new Set(hits.sort((a, b) => b.cosine - a.cosine).map((hit) => hit.seq))].slice(0, limit),
    modelQuery: model.query,
    embedded: model.embedded,
    instantQuery: fast?.query,
    instantEmbedded: fast?.embedded,
    degraded: [
      ...(model.note === undefined ? [] : [model.query || options.tier ? model.note : `${model.note}: ${fallback}`]),
      ...(fast?.note === undefined ? [] : [fast.note]),
    ],
  };
}

async function searchModel(
  { embedder, vectorCache }: SearchContext,
  text: string,
  weigh: (embedded: EmbeddedQuery) => QueryVector,
  scope: MessageQuery,
  messages: boolean,
  signal: AbortSignal | undefined,
): Promise<TierHits> {
  if (!embedder || !vectorCache) return { hits: [] };
  try {
    const { agent, spans } = scope;
    const hasVectors = (await vectorCache.hasMessages(agent, spans)) || (await vectorCache.hasDocuments(agent));
    if (messages && !hasVectors) return { hits: [], note: "no messages are embedded yet" };
    const embedded = await embedder.embedQuery(text, signal);
    const query = weigh(embedded);
    const { hits, note } = messages ? await vectorCache.nearest(query.vector, scope) : { hits: [] };
    return { hits, query, embedded, note };
  } catch (error) {
    if (signal?.aborted) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    return { hits: [], note: `the embedding model failed (${reason})` };
  }
}

/** Searches the messages in the ranges that the model has not embedded; all of them without ranges. */
async function searchInstant(
  { embedder, vectors }: InstantIndex,
  text: string,
  weigh: (embedded: EmbeddedQuery) => QueryVector,
  scope: MessageQuery,
  messages: boolean,
): Promise<TierHits> {
  const embedded = await embedder.embedQuery(text);
  const query = weigh(embedded);
  if (!messages || scope.ranges?.length === 0) return { hits: [], query, embedded };
  const { hits, note } = await vectors.nearest(query.vector, scope);
  return { hits, query, embedded, note };
}

/** The ranges of messages that the model has not embedded. */
async function findMissing({ store, vectorCache }: SearchContext, agent: string): Promise<SeqRange[]> {
  const progress = await readProgress(store, agent, await vectorCache?.id());
  const path = await choosePath(store, agent, progress.entrySeq);
  if (path === "none") return [...progress.gaps];
  const range = { after: progress.entrySeq, upTo: Number.MAX_SAFE_INTEGER };
  const newer = await selectMessagesIn(store, agent, range, path).select("seq").limit(1).executeTakeFirst();
  return newer ? listMissing(progress) : [...progress.gaps];
}

/** A cosine of instant vectors as the cosine that the model would likely give. */
export function calibrateInstant(cosine: number): number {
  const { slope, offset } = ranking.instant;
  return slope * cosine + offset;
}

/** Documents are embedded for this long before control returns to the event loop. */
const sliceMs = 5;

/** Gives documents that the model has not embedded an instant vector, once. */
export async function addInstantVectors(docs: readonly CachedDoc[], embedder: InstantEmbedder): Promise<void> {
  let began = performance.now();
  for (const one of docs) {
    if (one.vector || one.instant) continue;
    one.instant = embedder.embedNow({ text: one.doc.text }).vector;
    if (performance.now() - began < sliceMs) continue;
    await new Promise((resolve) => setImmediate(resolve));
    began = performance.now();
  }
}
