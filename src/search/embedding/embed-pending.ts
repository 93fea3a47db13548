import { type Embedded, type Embedder, type EmbedText, formatSpaceName } from "../../models/index.ts";
import { dropLease, type Lease, type Store, takeLease } from "../../store/index.ts";
import type { SearchContext } from "../search-context.ts";
import type { MessageVectors } from "../vectors/message-vectors.ts";
import { createSpace } from "../vectors/spaces.ts";
import type { EmbeddingTier } from "./embedding-tier.ts";
import { countPendingMessages, findPendingDocuments, findPendingMessages, type PendingPage } from "./pending-texts.ts";
import { writeMemoryVectors, writePage } from "./write-vectors.ts";

export interface EmbedPendingOptions {
  /** Whose messages; those of every agent, and all memories, when absent. */
  agent?: string;
  /** Only this tier; both when absent, the instant one first. */
  tier?: EmbeddingTier;
  signal?: AbortSignal;
  /** How many threads the model may use; one when absent, so that a program keeps the others. */
  threads?: number;
  /** Stop after this many milliseconds; the next call continues from there. */
  msMax?: number;
  onProgress?(progress: EmbeddingReport): void;
}

export interface EmbeddingReport {
  tier: EmbeddingTier;
  /** Texts of this tier that this call has embedded, and their length in characters. */
  embedded: number;
  characters: number;
  /** Messages that are left in this tier. */
  pending: number;
}

export interface EmbedPendingResult {
  status: "done" | "stopped" | "busy" | "no model";
  /** Texts that the sentence model embedded. */
  embedded: number;
  /** Texts that were embedded by their token vectors. */
  instant: number;
  /** Texts too long for the model: their end matches by words only. */
  cutTexts: number;
  because?: string;
}

/** The size of the first page, which grows while pages take little time: a fast embedder is not slowed by round trips. */
const pageRows = { instant: 256, model: 32 } as const;
/** The size of the first page where the time is limited: how long a text takes is not known yet. */
const timedPageRows = 128;
const pageRowsMax = { instant: 512, model: 256 } as const;
const quickPageMs = 250;
const leaseMs = 60_000;
/** The lease for embedding memories, which belong to no agent. */
const memoriesName = "embed:memories";

/**
 * Embeds all pending texts, first in the instant tier. Appending a message writes no vector, so that it stays fast. Each
 * page is written with its progress in one short transaction: after a crash the next call continues from the last page.
 */
export async function embedPending(
  context: SearchContext,
  owner: string,
  options: EmbedPendingOptions = {},
): Promise<EmbedPendingResult> {
  const result: EmbedPendingResult = { status: "done", embedded: 0, instant: 0, cutTexts: 0 };
  if (!context.embedder) return { ...result, status: "no model", because: "no embedding model is installed" };
  context.embedder.useThreads?.(options.threads ?? 1);
  const until = options.msMax === undefined ? Number.POSITIVE_INFINITY : performance.now() + options.msMax;
  for (const queue of await listQueues(context, options)) {
    const ended = await drainQueue(context.store, owner, queue, { ...options, until }, result);
    if (ended === "stopped") return { ...result, status: "stopped" };
    if (ended === "busy") {
      result.status = "busy";
      result.because = "another process is embedding";
    }
  }
  return result;
}

/** Embeds the memories that have no vector yet, at most `max` of them. */
export async function embedPendingMemories(
  context: SearchContext,
  owner: string,
  { max, signal }: { max: number; signal?: AbortSignal },
): Promise<EmbedPendingResult> {
  const result: EmbedPendingResult = { status: "done", embedded: 0, instant: 0, cutTexts: 0 };
  const { embedder, vectorCache } = context;
  if (!embedder || !vectorCache) return { ...result, status: "no model" };
  const queue = createMemoryQueue(context, embedder, await findOrCreateSpace(context.store, vectorCache, embedder));
  const limits = { signal, max, until: Number.POSITIVE_INFINITY };
  result.status = await drainQueue(context.store, owner, queue, limits, result);
  return result;
}

/** Embeds texts for comparison only; nothing is written but the space itself. */
export async function embedTexts(
  { store, embedder, vectorCache }: SearchContext,
  texts: readonly string[],
  signal?: AbortSignal,
): Promise<{ space: number; vectors: (Float32Array | undefined)[] }> {
  if (!embedder || !vectorCache) return { space: await createSpace(store, ""), vectors: [] };
  const made = await embedder.embed(
    texts.map((text) => ({ text })),
    signal,
  );
  return {
    space: await findOrCreateSpace(store, vectorCache, embedder),
    vectors: made.map((one) => one.vector),
  };
}

/** One kind of pending texts, embedded by one process at a time. */
interface EmbeddingQueue {
  /** The name of its lease. */
  name: string;
  tier: EmbeddingTier;
  embedder: Embedder;
  /** The next texts to embed, and how to write their vectors. */
  nextPage(
    rows: number,
  ): Promise<{ texts: EmbedText[]; write(vectors: readonly Embedded[]): Promise<void> } | undefined>;
  countPending(): Promise<number>;
}

async function listQueues(context: SearchContext, options: EmbedPendingOptions): Promise<EmbeddingQueue[]> {
  const { store, embedder, vectorCache, instant } = context;
  const agents = options.agent === undefined ? await listAgents(context) : [options.agent];
  const queues: EmbeddingQueue[] = [];
  if (instant && options.tier !== "model") {
    const space = await findOrCreateSpace(store, instant.vectors, instant.embedder);
    for (const agent of agents) queues.push(createInstantQueue(context, instant.embedder, space, agent));
  }
  if (!embedder || !vectorCache || options.tier === "instant") return queues;
  const space = await findOrCreateSpace(store, vectorCache, embedder);
  for (const agent of agents) queues.push(createAgentQueue(context, embedder, space, agent));
  if (options.agent === undefined) queues.push(createMemoryQueue(context, embedder, space));
  return queues;
}

async function drainQueue(
  store: Store,
  owner: string,
  queue: EmbeddingQueue,
  { signal, until, max = Number.POSITIVE_INFINITY, onProgress }: EmbedPendingOptions & { until: number; max?: number },
  result: EmbedPendingResult,
): Promise<"done" | "stopped" | "busy"> {
  const { tier } = queue;
  // Without pending texts no lease is needed.
  if (!(await queue.nextPage(1))) return "done";
  let lease = await takeLease(store, queue.name, owner, store.clock.now(), leaseMs);
  if (!lease) return "busy";
  const total = onProgress ? await queue.countPending() : 0;
  let embedded = 0;
  let characters = 0;
  let rows: number = Number.isFinite(until) ? Math.min(timedPageRows, pageRows[tier]) : pageRows[tier];
  try {
    while (embedded < max) {
      const began = performance.now();
      if (signal?.aborted || began >= until) return "stopped";
      const page = await queue.nextPage(rows);
      if (!page) break;
      const vectors = page.texts.length === 0 ? [] : await queue.embedder.embed(page.texts, signal);
      await page.write(vectors);
      embedded += page.texts.length;
      characters += page.texts.reduce((sum, { text }) => sum + text.length, 0);
      if (tier === "instant") result.instant += page.texts.length;
      else {
        result.embedded += page.texts.length;
        result.cutTexts += vectors.filter((made) => made.cut).length;
      }
      onProgress?.({ tier, embedded, characters, pending: Math.max(0, total - embedded) });
      rows = chooseRows(tier, rows, performance.now() - began, until - performance.now());
      lease = await renewLease(store, lease);
      if (!lease) return "busy";
    }
    return "done";
  } catch (error) {
    // An abort loses at most the current page.
    if (signal?.aborted) return "stopped";
    throw error;
  } finally {
    if (lease) await dropLease(store, lease);
  }
}

/** The size of the next page: larger while pages are quick, and no larger than what the time that is left allows. */
function chooseRows(tier: EmbeddingTier, rows: number, tookMs: number, leftMs: number): number {
  const wanted = tookMs < quickPageMs ? Math.min(pageRowsMax[tier], 2 * rows) : rows;
  return Math.max(1, Math.min(wanted, Math.floor((rows * leftMs) / Math.max(1, tookMs))));
}

function createInstantQueue(context: SearchContext, embedder: Embedder, space: number, agent: string): EmbeddingQueue {
  const request = { agent, space, condensed: false };
  return {
    name: `embed:${space}:${agent}`,
    tier: "instant",
    embedder,
    nextPage: async (rows) => toQueuePage(context, request, await findPendingMessages(context, { ...request, rows })),
    countPending: () => countPendingMessages(context.store, agent, space, Number.POSITIVE_INFINITY),
  };
}

/** The messages of an agent, then its summaries, files and corpus chunks. */
function createAgentQueue(context: SearchContext, embedder: Embedder, space: number, agent: string): EmbeddingQueue {
  const request = { agent, space, condensed: true };
  return {
    name: `embed:${space}:${agent}`,
    tier: "model",
    embedder,
    async nextPage(rows) {
      const sized = { ...request, rows };
      const page = (await findPendingMessages(context, sized)) ?? (await findPendingDocuments(context, sized));
      return toQueuePage(context, request, page);
    },
    countPending: () => countPendingMessages(context.store, agent, space, Number.POSITIVE_INFINITY),
  };
}

function toQueuePage(
  { store, wanted }: SearchContext,
  target: { agent: string; space: number },
  page: PendingPage | undefined,
) {
  if (!page) return undefined;
  return {
    texts: page.items.map((item) => item.text),
    async write(vectors: readonly Embedded[]) {
      await writePage(store, target, page, vectors);
      wanted.remove(target.agent, page.asked ?? []);
    },
  };
}

function createMemoryQueue({ store, memoryVectors }: SearchContext, embedder: Embedder, space: number): EmbeddingQueue {
  return {
    name: memoriesName,
    tier: "model",
    embedder,
    async nextPage(limit) {
      const rows = (await memoryVectors?.findPending(limit)) ?? [];
      if (rows.length === 0) return undefined;
      return {
        texts: rows.map((row) => ({ text: row.abstract })),
        write: (vectors) => writeMemoryVectors(store, space, rows, vectors),
      };
    },
    countPending: async () => 0,
  };
}

async function listAgents(context: SearchContext): Promise<string[]> {
  const { db } = context.store;
  const rows = await db.selectFrom("conversations").select("agent").distinct().execute();
  const withFiles = await db.selectFrom("corpus_files").select("agent").distinct().execute();
  return [...new Set([...rows, ...withFiles].map((row) => row.agent))];
}

async function renewLease(store: Store, lease: Lease): Promise<Lease | undefined> {
  const now = store.clock.now();
  if (lease.until - now > leaseMs / 2) return lease;
  return takeLease(store, lease.name, lease.owner, now, leaseMs);
}

/** The id of an embedder's space, created when this is its first vector. */
async function findOrCreateSpace(store: Store, vectors: MessageVectors, { space }: Embedder): Promise<number> {
  return (await vectors.id()) ?? createSpace(store, formatSpaceName(space));
}
