import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { newId } from "../domain/index.ts";
import type { MemoryVectorCache } from "../memory/index.ts";
import { type Embedder, LocalEmbedder, openConfiguredEmbedder, openConfiguredReranker } from "../models/index.ts";
import {
  type CorpusText,
  countPendingChunks,
  countPendingMessages,
  createSearchContext,
  type EmbedPendingOptions,
  type EmbedPendingResult,
  embedPending,
  type FindOptions,
  find,
  type PruneResult,
  pruneSpaces,
  type RankRequest,
  rankMessages,
  type SearchAnswer,
  type SyncOptions,
  type SyncResult,
  selectActiveSpace,
} from "../search/index.ts";
import type { Session } from "../session/index.ts";
import { dropLease, takeLease } from "../store/index.ts";
import { decodeBody, getEntryText } from "../transcript/index.ts";
import { type CorpusReadRequest, corpusOf } from "./corpus.ts";
import type { EarlierEmbedders } from "./earlier-embedders.ts";
import type { EngineHost } from "./host.ts";
import { coverageOf, type SearchCoverage } from "./search-coverage.ts";
import { searchMemories, withMemories } from "./search-memories.ts";

/** A search as a caller asks for it: a session stands for its conversation and its agent. */
export interface SearchRequest extends Omit<FindOptions, "agent" | "conversation"> {
  session?: Session;
  agent?: string;
  /** Memories of these scopes only. */
  scopes?: readonly string[];
  /** The only scopes that whoever asks may see; those that the settings open for the agent when absent. */
  allowedScopes?: readonly string[];
}

/** Finding anything that was said, summarised or kept. */
export interface Search {
  /** What matches a query by its words and by its meaning, with where it is from and how sure that is. */
  find(query: string, request?: SearchRequest): Promise<SearchAnswer>;
  /** The messages that a prompt is about, best first: of one conversation, or of all. It never writes. */
  rank(request: RankRequest): Promise<RankedMessage[]>;
  /** Embeds what has no vector yet; it can be stopped and goes on where it was. */
  index(options?: EmbedPendingOptions): Promise<EmbedPendingResult>;
  /** Reads the notes and folders of the settings as far as they changed; a search does so itself when it has to. */
  sync(options?: SyncOptions): Promise<SyncResult>;
  /** Lines of a file in one of these folders, by the path it is cited with. */
  read(path: string, request?: CorpusReadRequest): Promise<CorpusText>;
  /** Goes on reading files that change and embedding what comes in until the engine is closed; for programs that stay. */
  follow(onError: (error: unknown) => void): void;
  coverage(): Promise<SearchCoverage>;
  /** Removes the vectors of earlier models where the one of today has embedded as much. `varve maintain` does it. */
  prune(options?: { signal?: AbortSignal }): Promise<PruneResult>;
}

export interface RankedMessage {
  seq: number;
  score: number;
}

export interface OpenSearch {
  search: Search;
  embedder?: Embedder;
  close(): Promise<void>;
}

export function searchOf(host: EngineHost, own: Embedder | undefined, earlier: EarlierEmbedders): OpenSearch {
  const { store, clock, loaded, models } = host;
  const settings = loaded.config.search;
  const embedder = models.embedder ?? own;
  const reranker = models.reranker ?? openConfiguredReranker(loaded.config, { home: loaded.home, clock });
  const room = createSearchContext({
    store,
    clock,
    embedder,
    reranker,
    decode,
    openSpace: (name) => earlier.open(name),
  });
  const owner = newId(clock, host.random);
  const closing = new AbortController();
  const corpus = corpusOf(host, closing.signal);
  let following: Promise<unknown> | undefined;
  const index = async (options: EmbedPendingOptions = {}): Promise<EmbedPendingResult> => {
    const signal = options.signal ? AbortSignal.any([options.signal, closing.signal]) : closing.signal;
    const done = await embedPending(room, owner, { ...options, signal });
    if (options.agent !== undefined || done.status !== "done" || !host.memoryShelf) return done;
    return indexMemories(host, host.memoryShelf, owner, done, { ...options, signal });
  };
  /** What was said a moment ago is found by its meaning too; a long backlog is not waited for. */
  const freshen = async (agent: string): Promise<{ failed?: string; behind?: string }> => {
    if (!embedder) return {};
    const [behind, chunksBehind] = [await countPendingMessages(room, agent), await countPendingChunks(room, agent)];
    if (behind + chunksBehind === 0) return {};
    if (behind + chunksBehind <= settings.freshMax) {
      try {
        const done = await index({ agent });
        if (done.status === "done") return {};
      } catch (error) {
        // The search goes on with words and with the vectors there are.
        return { failed: error instanceof Error ? error.message : String(error) };
      }
    }
    const counted = (count: number, what: string) =>
      count === 0 ? [] : [count >= 1_000 ? `1,000 or more ${what}` : `${count} ${what}`];
    const all = [...counted(behind, "messages"), ...counted(chunksBehind, "parts of files")];
    const left = `${all.join(" and ")} have no vector yet and are found by their words alone`;
    return { behind: `${left}: \`varve index\` embeds them` };
  };

  const search: Search = {
    async find(query, request = {}) {
      const { session, scopes, allowedScopes, ...rest } = request;
      const agent = session?.agent ?? request.agent ?? loaded.config.agent;
      const wantsVectors = request.retrievers?.includes("vector") ?? true;
      // What belongs to one conversation is in no file.
      const wantsFiles = !session && (request.kinds?.includes("chunk") ?? true);
      const unread = wantsFiles ? await corpus.refresh(request.signal) : undefined;
      // What may not wait does with the vectors there are.
      const { failed, behind } = wantsVectors && !request.noNetwork ? await freshen(agent) : {};
      const serving = wantsVectors ? await selectActiveSpace(room, agent) : { context: room };
      // Memories belong to no conversation: they are asked for by name there.
      const wantsMemories = request.kinds?.includes("memory") ?? (!session && request.retrievers?.length !== 1);
      const limit = request.limit ?? settings.limit;
      const [said, memories] = await Promise.all([
        find(serving.context, query, {
          profile: settings.profile,
          ...rest,
          limit,
          agent,
          conversation: session?.conversation,
        }),
        wantsMemories
          ? searchMemories(host, { ...rest, query, agent, limit, scopes, allowed: allowedScopes })
          : Promise.resolve([]),
      ]);
      const answer = withMemories(said, memories, limit);
      // The search itself may have met the same failure, and said so.
      const lines = [unread, failed, serving.note ?? behind, ...(embedder?.takeNotices?.() ?? [])];
      const known = lines.flatMap((line) =>
        line === undefined || answer.degraded.some((one) => one.includes(line)) ? [] : [line],
      );
      return known.length === 0 ? answer : { ...answer, degraded: [...answer.degraded, ...known] };
    },
    rank: async (request) => rankMessages((await selectActiveSpace(room, request.agent)).context, request),
    index,
    sync: corpus.sync,
    read: corpus.read,
    follow(onError) {
      following ??= Promise.all([
        followLog(() => index(), followIntervalMs, closing.signal, onError),
        // What was read is embedded by the next round of the other.
        corpus.follow(closing.signal, onError),
      ]);
    },
    coverage: () => coverageOf(host, room),
    async prune({ signal } = {}) {
      const pruned = await pruneSpaces(room, signal);
      const inUse = new Set(pruned.kept.map(({ model }) => model));
      const memories = (await host.memoryShelf?.prune(inUse, signal)) ?? 0;
      return { ...pruned, removed: pruned.removed + memories };
    },
  };
  return {
    search,
    ...(embedder ? { embedder } : {}),
    async close() {
      closing.abort();
      await following;
      // What the program brought along is the program's to close.
      await own?.close();
      await earlier.close();
    },
  };
}

const leaseMs = 60_000;
/** How often the gateway looks for messages without an embedding. */
const followIntervalMs = 2_000;
const memoriesAtOnce = 256;

/** The vectors of memories, by one process at a time: a model over a network is not asked twice for the same. */
async function indexMemories(
  { store, clock }: EngineHost,
  shelf: MemoryVectorCache,
  owner: string,
  done: EmbedPendingResult,
  { signal, onProgress }: EmbedPendingOptions,
): Promise<EmbedPendingResult> {
  if ((await shelf.behind(1)) === 0) return done;
  const result = { ...done };
  for (;;) {
    const lease = await takeLease(store, "embed:memories", owner, clock.now(), leaseMs);
    if (!lease) return { ...result, status: "busy", because: "another process embeds the memories already" };
    try {
      const { embedded, whole } = await shelf.catchUp({ max: memoriesAtOnce, signal });
      result.embedded += embedded;
      onProgress?.(result.embedded, 0);
      if (whole || embedded === 0) return result;
    } catch (error) {
      if (signal?.aborted) return { ...result, status: "stopped" };
      throw error;
    } finally {
      await dropLease(store, lease);
    }
  }
}

/** What the settings name; settings that name no usable model are found out here. */
export function namedEmbedder({
  loaded,
  clock,
  random,
}: Pick<EngineHost, "loaded" | "clock" | "random">): Embedder | undefined {
  const { embedder } = loaded.config.search;
  if (embedder === "none") return undefined;
  if (embedder === "local") return new LocalEmbedder({ cacheFolder: join(loaded.home, "cache") });
  return openConfiguredEmbedder(loaded.config, { home: loaded.home, clock, random });
}

function decode(kind: string, payload: string): { text: string; name?: string } {
  const body = decodeBody(kind, payload);
  const name = "message" in body ? body.message.name : undefined;
  return { text: getEntryText(body), ...(name === undefined ? {} : { name }) };
}

async function followLog(
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
