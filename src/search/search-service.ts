import { setTimeout as sleep } from "node:timers/promises";
import {
  canReadNotes,
  type Principal,
  type Requester,
  resolveVisibility,
  runAsEngine,
  type Visibility,
} from "../authorization/index.ts";
import type { LoadedConfig } from "../config/index.ts";
import { newId, VarveError } from "../domain/index.ts";
import { type Embedder, formatSpaceName, openConfiguredReranker, type Reranker } from "../models/index.ts";
import type { Store, VectorMaintenance, VectorMaintenanceOptions, VectorStorage } from "../store/index.ts";
import { selectActiveSpace } from "./active-space.ts";
import { channelSpareFactor, filterByChannel } from "./channel-filter.ts";
import { createCorpusService } from "./corpus/corpus-service.ts";
import type { CorpusText, ReadRequest } from "./corpus/read.ts";
import type { SyncOptions, SyncResult } from "./corpus/sync.ts";
import { type EmbedPendingOptions, type EmbedPendingResult, embedPending } from "./embedding/embed-pending.ts";
import { createRecentEmbedding, type RecentNotes } from "./embedding/embed-recent.ts";
import { countPendingMessages } from "./embedding/pending-texts.ts";
import { find } from "./find.ts";
import { findMessages, type MessageHit, type MessageSearch } from "./find-messages.ts";
import type { FeatureName } from "./fuse.ts";
import { type PruneResult, pruneSpaces } from "./prune.ts";
import { createSearchContext, type SearchContext } from "./search-context.ts";
import { listOtherSpaces } from "./space-coverage.ts";
import type { TuningExample } from "./tune/find-examples.ts";
import { LearnedWeightStore, type LearnedWeights } from "./tune/learned-weights.ts";
import { type TuneOptions, type TuneResult, tuneWeights } from "./tune/tune.ts";
import { type Confidence, type FindOptions, resultKinds, type SearchAnswer, type SearchResult } from "./types.ts";

/** A session, as far as a search is concerned. */
export interface SearchSession {
  agent: string;
  conversation: number;
}

export interface SearchRequest extends Omit<FindOptions, "agent" | "conversation" | "isEmbedded">, Requester {
  /** Only the conversation of this session and those it was forked from; without a principal, as its person sees it. */
  session?: SearchSession;
  /** Only what was said in this channel. */
  channel?: string;
  /** Memories of these scopes only. */
  scopes?: readonly string[];
  /** Whether a replica may answer, which may miss what was written in the last seconds. */
  mayLag?: boolean;
}

export interface TuneRequest extends Partial<TuneOptions> {
  /** Only report what would be learned. */
  dryRun?: boolean;
}

export interface CorpusReadRequest extends ReadRequest, Requester {}

export interface SearchCoverage {
  /** The space of the current embedding model; null without one. */
  model: string | null;
  messages: number;
  vectors: number;
  /** Versions of memories, and how many of them have a vector. */
  memories: number;
  memoryVectors: number;
  /** How many messages have an instant vector, which serves until the model has embedded them. */
  instantVectors: number;
  /** Messages of the settings' agent that wait for the model, counted up to 1,000. Those without text never get a vector. */
  pendingMessages: number;
  /** The space that searches of the settings' agent use: a previous one until the current one covers as much. */
  serving: string | null;
  /** Previous spaces that still have vectors; `varve maintain` removes them when they are no longer needed. */
  earlier: { model: string; vectors: number }[];
  /** Where vectors are compared, and what would make that faster. */
  index: VectorStorage;
}

/** Finds messages, summaries, memories, files and corpus chunks. */
export interface SearchService {
  /** Searches by words and by meaning; results say where they come from and how certain the answer is. */
  find(query: string, request?: SearchRequest): Promise<SearchAnswer>;
  /** The visible messages most relevant to a prompt, best first. Uses no reranker and embeds nothing that is pending. */
  findMessages(request: MessageSearch): Promise<MessageHit[]>;
  /** Embeds all pending texts. After an abort the next call continues from the last page. */
  index(options?: EmbedPendingOptions): Promise<EmbedPendingResult>;
  /**
   * Moves vectors into pgvector and builds the indexes of agents with many vectors; a gateway does it by itself.
   * Undefined when the database does not compare vectors.
   */
  maintainVectors(options?: VectorMaintenanceOptions): Promise<VectorMaintenance | undefined>;
  /** Reads changed files of the configured folders. A search does this itself when needed. */
  sync(options?: SyncOptions): Promise<SyncResult>;
  /** Reads lines of a file in one of these folders, by its citation. */
  read(path: string, request?: CorpusReadRequest): Promise<CorpusText>;
  /** Reads changed files and embeds new texts until the engine is closed; for long-running processes. */
  follow(onError: (error: unknown) => void): void;
  coverage(): Promise<SearchCoverage>;
  /** Learns the weights of the ranking from questions that were asked again and answers that were corrected. */
  tune(request?: TuneRequest): Promise<TuneResult>;
  /** The weights that searches use in place of the default ones; undefined when none were learned. */
  learned(): Promise<LearnedWeights | undefined>;
  /** Removes the learned weights; false when there were none. */
  forgetLearned(): Promise<boolean>;
  /** Removes the vectors of previous models that are no longer needed. `varve maintain` does it. */
  prune(options?: { signal?: AbortSignal }): Promise<PruneResult>;
}

/** The part of the search service that other modules use. */
export interface SearchIndex {
  /** The embedding index over messages, memories and corpus. */
  readonly context: SearchContext;
  /** Embeds pending memories if they are few; otherwise returns a note for the answer. */
  embedRecentMemories(signal?: AbortSignal): Promise<RecentNotes>;
  close(): Promise<void>;
}

/** Finds memories for a search; the memory module provides it. */
export type FindMemories = (
  visibility: Visibility,
  request: Pick<SearchRequest, "scopes" | "minScore" | "since" | "before" | "explain" | "signal"> & {
    query: string;
    limit: number;
  },
) => Promise<SearchResult[]>;

export interface SearchServiceOptions {
  loaded: LoadedConfig;
  store: Store;
  embedder?: Embedder;
  reranker?: Reranker;
  /** Opens the embedder of a previous space. */
  openPrevious(name: string): Embedder | undefined;
  findMemories: FindMemories;
  /** The principal that acts from within a conversation. */
  resolvePrincipal(session: SearchSession): Promise<Principal>;
}

/** Embedding this many texts at once is a bulk load. */
const bulkTexts = 10_000;
/** How often a long-running process converts vectors and looks for agents that need an index. */
const maintainIntervalMs = 60_000;
/** How often a long-running process embeds new texts. */
const followIntervalMs = 2_000;
/** A memory with at least this score makes the confidence of the answer `strong`. */
const strongRelevance = 0.6;

export function createSearchService(options: SearchServiceOptions): SearchService & SearchIndex {
  const { loaded, store, embedder, openPrevious, findMemories, resolvePrincipal } = options;
  const { config } = loaded;
  const settings = config.search;
  const reranker = options.reranker ?? openConfiguredReranker(config, { home: loaded.home, clock: store.clock });
  const context = createSearchContext({
    timeZone: config.timezone,
    store,
    settings: config.advanced.search,
    embedder,
    hasInstant: settings.instant,
    reranker,
    openPrevious,
    cacheBytes: settings.vectorCacheMiB * 2 ** 20,
  });
  const owner = newId(store.clock, store.random);
  const closing = new AbortController();
  const corpus = createCorpusService(loaded, store, closing.signal);
  let following: Promise<unknown> | undefined;
  const index: SearchService["index"] = (request = {}) => {
    const signal = request.signal ? AbortSignal.any([request.signal, closing.signal]) : closing.signal;
    return runAsEngine(async () => {
      const result = await embedPending(context, owner, { ...request, signal });
      if (result.embedded + result.instant >= bulkTexts) await store.settleBulkLoad();
      return result;
    });
  };
  const maintainVectors: SearchService["maintainVectors"] = async (request = {}) => {
    const signal = request.signal ? AbortSignal.any([request.signal, closing.signal]) : closing.signal;
    return runAsEngine(() => store.vectors?.maintain({ ...request, signal }) ?? Promise.resolve(undefined));
  };

  const recent = createRecentEmbedding({ context, owner, freshMax: settings.freshMax, index });

  const learnedStore = new LearnedWeightStore(store);
  /** Replaces the weights that the settings leave at their defaults by the learned ones. */
  const applyLearned = async (active: SearchContext): Promise<SearchContext> => {
    const learned = await runAsEngine(() => learnedStore.read());
    if (!learned) return active;
    const weights = { ...active.settings.weights };
    for (const name of Object.keys(weights) as FeatureName[]) {
      const isDefault = loaded.sources.get(`advanced.search.weights.${name}`)?.kind === "default";
      if (isDefault) weights[name] = learned.weights[name] ?? weights[name];
    }
    return { ...active, settings: { ...active.settings, weights } };
  };
  const tune = async (request: TuneRequest): Promise<TuneResult> => {
    const agent = request.agent ?? config.agent;
    const options = { agent, kinds: ["message" as const], explain: true, noNetwork: true, profile: "tuned" as const };
    const replay = ({ query, before }: TuningExample, limit: number) =>
      find(context, query, { ...options, before, limit, skipStages: ["diversity", "recency", "noise"] });
    const result = await tuneWeights(context, context.settings.weights, replay, { ...request, agent });
    if (result.outcome === "learned" && result.learned && !request.dryRun) await learnedStore.write(result.learned);
    return result;
  };

  const findInChannel = async (query: string, channel: string, request: SearchRequest): Promise<SearchAnswer> => {
    const limit = request.limit ?? settings.limit;
    const answer = await service.find(query, { ...request, limit: limit * channelSpareFactor });
    const agent = request.session?.agent ?? request.agent ?? config.agent;
    const results = await filterByChannel(store, agent, answer.results, channel);
    const isShort = results.length < limit && answer.results.length === limit * channelSpareFactor;
    const cut = isShort ? [`only the ${answer.results.length} best results were checked for the channel`] : [];
    const confidence = results.length === 0 ? "none" : answer.confidence;
    return { ...answer, results: results.slice(0, limit), confidence, cut: [...answer.cut, ...cut] };
  };
  const service: SearchService & SearchIndex = {
    context,
    async find(query, { channel, ...request } = {}) {
      if (query.trim() === "") {
        throw new VarveError("BAD_REQUEST", "The query is empty.", { remedy: "Send what to look for." });
      }
      if (channel !== undefined) return findInChannel(query, channel, request);
      const { session, scopes, mayLag = false, ...rest } = request;
      // Memories belong to no conversation: a search within one includes them only when `kinds` names them.
      const wantsMemories = request.kinds?.includes("memory") ?? (!session && request.retrievers?.length !== 1);
      const asksFor = wantsMemories ? session : undefined;
      const principal = request.principal ?? (asksFor && (await resolvePrincipal(asksFor)));
      const visibility = resolveVisibility(config, { principal, agent: session?.agent ?? request.agent });
      const { agent } = visibility;
      const wantsVectors = request.retrievers?.includes("vector") ?? true;
      const kinds = canReadNotes(visibility)
        ? request.kinds
        : (request.kinds ?? [...resultKinds]).filter((kind) => kind !== "chunk");
      // Files belong to no conversation.
      const wantsFiles = !session && (kinds?.includes("chunk") ?? true);
      const unread = wantsFiles ? await runAsEngine(() => corpus.refresh(request.signal)) : undefined;
      const wait = shareWait(request.vectorWaitMs);
      const { isEmbedded, failed, pending } =
        wantsVectors && !request.noNetwork
          ? await recent.embedTexts(agent, { tier: request.tier, vectorWaitMs: wait.embeddingMs })
          : {};
      const selected = wantsVectors ? await selectActiveSpace(context, agent) : { context };
      const active = { ...selected, context: await applyLearned(selected.context) };
      const limit = request.limit ?? settings.limit;
      const read = () =>
        Promise.all([
          find(active.context, query, {
            profile: settings.profile,
            ...rest,
            kinds,
            vectorWaitMs: wait.takeRest(),
            isEmbedded: isEmbedded && !mayLag && active.previous === undefined,
            limit,
            agent,
            conversation: session?.conversation,
            conversations: visibility.conversations,
          }),
          wantsMemories ? findMemories(visibility, { ...rest, query, limit, scopes }) : [],
        ]);
      const [found, memories] = await (mayLag ? store.readWithLag(read) : read());
      const answer = mergeMemories(found, memories, limit);
      context.wanted.add(
        agent,
        found.results.flatMap(({ tier, seq }) => (tier === "instant" ? (seq ?? []) : [])),
      );
      // The search itself may have reported the same failure.
      const lines = [unread, failed, active.note ?? pending, ...(embedder?.takeNotices?.() ?? [])];
      const added = lines.flatMap((line) =>
        line === undefined || answer.degraded.some((one) => one.includes(line)) ? [] : [line],
      );
      return added.length === 0 ? answer : { ...answer, degraded: [...answer.degraded, ...added] };
    },
    findMessages: async (request) => findMessages(await applyLearned(context), request),
    tune: (request = {}) => runAsEngine(() => tune(request)),
    learned: () => runAsEngine(() => learnedStore.read()),
    forgetLearned: () => runAsEngine(() => learnedStore.remove()),
    embedRecentMemories: (signal) => runAsEngine(() => recent.embedMemories(signal)),
    index,
    maintainVectors,
    sync: corpus.sync,
    async read(path, { principal, ...request } = {}) {
      const visibility = resolveVisibility(config, { principal, agent: request.agent });
      if (canReadNotes(visibility)) return corpus.read(path, request);
      // As for a path that does not exist: others need not know which notes there are.
      throw new VarveError("NOT_FOUND", `There is no file ${JSON.stringify(path.slice(0, 200))} that is open to you.`, {
        remedy: "The notes of this agent belong to its owner.",
      });
    },
    follow(onError) {
      following ??= Promise.all([
        followPending(() => index(), followIntervalMs, closing.signal, onError),
        ...(store.vectors ? [followPending(() => maintainVectors(), maintainIntervalMs, closing.signal, onError)] : []),
        corpus.follow(closing.signal, onError),
      ]);
    },
    coverage: () => readCoverage(context, config.agent),
    prune: ({ signal } = {}) => pruneSpaces(context, signal),
    async close() {
      closing.abort();
      await following;
    },
  };
  return service;
}

/** The share of the time for vectors that adding missing ones may take. */
const embeddingShare = 1 / 3;

/** Shares the time for vectors: up to a third of it to add missing ones, and what is left to read them. */
function shareWait(waitMs: number | undefined): { embeddingMs?: number; takeRest(): number | undefined } {
  if (waitMs === undefined) return { takeRest: () => undefined };
  const end = performance.now() + waitMs;
  const readingMs = (1 - embeddingShare) * waitMs;
  return { embeddingMs: embeddingShare * waitMs, takeRest: () => Math.max(readingMs, end - performance.now()) };
}

async function readCoverage(context: SearchContext, agent: string): Promise<SearchCoverage> {
  const { store, embedder, vectorCache, instant } = context;
  const messages = await store.db
    .selectFrom("conversations")
    .select((eb) => eb.fn.sum<number>("message_count").as("count"))
    .executeTakeFirst();
  const memories = await store.db
    .selectFrom("memories")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .executeTakeFirst();
  const model = embedder ? formatSpaceName(embedder.space) : null;
  const space = await vectorCache?.id();
  const instantSpace = await instant?.vectors.id();
  const earlier: SearchCoverage["earlier"] = [];
  for (const other of await listOtherSpaces(store, space)) {
    const vectors = await countVectors(store, "entry_vectors", other.id);
    if (vectors > 0) earlier.push({ model: other.name, vectors });
  }
  return {
    model,
    messages: Number(messages?.count ?? 0),
    vectors: space === undefined ? 0 : await countVectors(store, "entry_vectors", space),
    memories: model === null ? 0 : Number(memories?.count ?? 0),
    memoryVectors: space === undefined ? 0 : await countVectors(store, "memory_vectors", space),
    instantVectors: instantSpace === undefined ? 0 : await countVectors(store, "entry_vectors", instantSpace),
    pendingMessages: model === null ? 0 : await countPendingMessages(store, agent, space),
    serving: model === null ? null : ((await selectActiveSpace(context, agent)).previous ?? model),
    earlier,
    index: await store.describeVectors(),
  };
}

async function countVectors(store: Store, table: "entry_vectors" | "memory_vectors", space: number): Promise<number> {
  const row = await store.db
    .selectFrom(table)
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("space", "=", space)
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

/** Merges memories into an answer by score. */
function mergeMemories(answer: SearchAnswer, memories: readonly SearchResult[], limit: number): SearchAnswer {
  const [best] = memories;
  if (!best) return answer;
  const all = [...answer.results, ...memories].sort((a, b) => b.score - a.score);
  const left = all.length - limit;
  const confidence: Confidence = best.score >= strongRelevance ? "strong" : "weak";
  return {
    ...answer,
    results: all.slice(0, limit),
    cut: left > 0 && answer.cut.length === 0 ? [`${left} more results beyond the limit of ${limit}`] : answer.cut,
    confidence: chooseHigher(answer.confidence, confidence),
    certainty: Math.max(answer.certainty, best.score),
  };
}

function chooseHigher(a: Confidence, b: Confidence): Confidence {
  const order: readonly Confidence[] = ["none", "weak", "strong"];
  return order.indexOf(a) >= order.indexOf(b) ? a : b;
}

async function followPending(
  index: () => Promise<unknown>,
  pauseMs: number,
  signal: AbortSignal,
  onError: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await index();
    } catch (error) {
      onError(error);
    }
    await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
