import { setTimeout as sleep } from "node:timers/promises";
import { isAgentOpen, runAsEngine } from "../../authorization/index.ts";
import type { ConversationSpan, Store, VectorPage } from "../../store/index.ts";
import {
  type EmbeddingProgress,
  mergeRanges,
  readProgress,
  type SeqRange,
  subtractRanges,
} from "../embedding/progress.ts";
import { type ReadVectors, VectorBlock, type VectorHit, type VectorRow } from "./block.ts";

const pageRows = 2_000;
/** Another process may write a vector after one with a higher number, so the last rows are read again. */
const lateRows = 64;
/** When memory is short, a block with a larger share of the cache than this keeps its sign bits only. */
const fullShareMax = 0.5;

interface CachedBlock {
  block: VectorBlock;
  /** The ranges that were read. Messages are embedded newest first, so there may be gaps that are read later. */
  loaded: SeqRange[];
  lastSeq: number;
  /** Rows in the block that are read again, because others may be written before them. */
  unsettled: ReadonlySet<number>;
  /** Resolves to whether all was read. */
  loading: Promise<boolean> | undefined;
  /** Rows up to this one were left out, because the block alone would not fit the cache. */
  cutUpTo: number | undefined;
}

export interface VectorBlocks {
  size: number;
  /** The number of vectors that were not compared, for the answer. */
  note?: string;
  nearest(
    query: Float32Array,
    limit: number,
    filter: (row: Omit<VectorRow, "vector">) => boolean,
    read: ReadVectors,
  ): Promise<VectorHit[]>;
}

/**
 * Message vectors in memory: one block for each conversation that is searched, or one for all of an agent. The least
 * recently used blocks are evicted when together they take more than `bytesMax`.
 */
export class VectorCache {
  private readonly store: Store;
  private readonly dimensions: number;
  private readonly bytesMax: number;
  /** In order of use, the latest last. */
  private readonly blocks = new Map<string, CachedBlock>();

  constructor(store: Store, dimensions: number, bytesMax: number) {
    this.store = store;
    this.dimensions = dimensions;
    this.bytesMax = bytesMax;
  }

  /** The memory that all blocks take. */
  get bytes(): number {
    return [...this.blocks.values()].reduce((sum, { block }) => sum + block.bytes, 0);
  }

  /**
   * The blocks to search, updated from the database. If loading takes longer than `waitMs`, the vectors loaded so far are
   * searched and the note says so; loading continues in the background, unless `stopsAfter` is set.
   */
  async open(
    agent: string,
    space: number,
    spans: readonly ConversationSpan[] | undefined,
    waitMs: number,
    { stopsAfter = false }: { stopsAfter?: boolean } = {},
  ): Promise<VectorBlocks> {
    if (!isAgentOpen(agent)) return { size: 0, nearest: async () => [] };
    const until = stopsAfter ? performance.now() + waitMs : Number.POSITIVE_INFINITY;
    const cached = listScopes(spans).map((conversation) => this.load(agent, space, conversation, until));
    const all = Promise.all(cached.map((one) => one.loading)).then((loaded) => !loaded.includes(false));
    const timer = new AbortController();
    const isWhole = await Promise.race([
      all,
      sleep(waitMs, false, { signal: timer.signal, ref: false }).catch(() => false),
    ]);
    timer.abort();
    const size = cached.reduce((sum, { block }) => sum + block.size, 0);
    const note = this.describe(isWhole, size, cached);
    return {
      size,
      ...(note === undefined ? {} : { note }),
      nearest: async (query, limit, filter, read) => {
        const hits = await Promise.all(cached.map(({ block }) => block.nearest(query, limit, filter, read)));
        return hits
          .flat()
          .sort((a, b) => b.cosine - a.cosine)
          .slice(0, limit);
      },
    };
  }

  /** The unit vector of a message from the blocks of a search; undefined when they do not hold it. */
  createLookup(
    agent: string,
    space: number,
    spans: readonly ConversationSpan[] | undefined,
  ): (seq: number) => Float32Array | undefined {
    const blocks = listScopes(spans).flatMap((scope) => this.blocks.get(nameBlock(agent, space, scope))?.block ?? []);
    return (seq) => {
      for (const block of blocks) {
        const vector = block.vectorOf(seq);
        if (vector) return vector;
      }
      return undefined;
    };
  }

  private describe(isWhole: boolean, size: number, cached: readonly CachedBlock[]): string | undefined {
    if (!isWhole) return `vectors are still loading: only the newest ${size} were searched`;
    if (!cached.some((one) => one.cutUpTo !== undefined)) return undefined;
    return `only the newest ${size} messages were compared by meaning, which is what fits the memory for vectors: raise search.vectorCacheMiB, or use PostgreSQL with pgvector`;
  }

  private load(agent: string, space: number, conversation: number | undefined, until: number): CachedBlock {
    const name = nameBlock(agent, space, conversation);
    const cached = this.blocks.get(name) ?? {
      block: new VectorBlock(this.dimensions),
      loaded: [],
      lastSeq: 0,
      unsettled: new Set<number>(),
      loading: undefined,
      cutUpTo: undefined,
    };
    this.blocks.delete(name);
    this.blocks.set(name, cached);
    // Requests of all principals share the block.
    cached.loading ??= runAsEngine(() => this.readRows(cached, agent, space, conversation, until)).finally(() => {
      cached.loading = undefined;
    });
    return cached;
  }

  /** Reads what has a vector by now and was not read before, the newest first. Returns whether it read all before `until`. */
  private async readRows(
    cached: CachedBlock,
    agent: string,
    space: number,
    conversation: number | undefined,
    until: number,
  ): Promise<boolean> {
    const progress = await readProgress(this.store, agent, space);
    for (const { after, upTo } of listUnread(cached, progress)) {
      for (let last = upTo; last > after && last > (cached.cutUpTo ?? -1); ) {
        if (performance.now() >= until) return false;
        const { dimensions } = this;
        const page = await this.store.readVectors({
          ...{ agent, space, conversation, dimensions },
          ...{ after, upTo: last, limit: pageRows },
        });
        addPage(cached, page, dimensions);
        const first = page.seqs.length < pageRows ? after + 1 : (page.seqs.at(-1) ?? last);
        noteLoaded(cached, page.seqs, { after: first - 1, upTo: last }, progress);
        this.fit(cached);
        last = first - 1;
      }
    }
    return true;
  }

  /**
   * Makes large blocks compact, then evicts other blocks, the least recently used first. A block that is too large by itself
   * loses its oldest rows.
   */
  private fit(current: CachedBlock): void {
    const { block } = current;
    if (this.bytes <= this.bytesMax) return;
    for (const one of this.blocks.values()) {
      if (one.block.bytes > fullShareMax * this.bytesMax) one.block.compact();
    }
    let bytes = this.bytes;
    for (const [name, one] of this.blocks) {
      if (bytes <= this.bytesMax) return;
      if (one === current) continue;
      this.blocks.delete(name);
      bytes -= one.block.bytes;
    }
    while (block.bytes > this.bytesMax && block.size > 1) {
      current.cutUpTo = block.dropOldest();
    }
  }
}

/** The conversations of the spans, or undefined for all of the agent. */
function listScopes(spans: readonly ConversationSpan[] | undefined): (number | undefined)[] {
  return spans ? [...new Set(spans.map((span) => span.conversation))] : [undefined];
}

function nameBlock(agent: string, space: number, conversation: number | undefined): string {
  return `${agent}\n${space}\n${conversation ?? "*"}`;
}

/** Vectors that were not read yet, the newest first; the last rows again. */
function listUnread(cached: CachedBlock, progress: EmbeddingProgress): SeqRange[] {
  const all = { after: cached.cutUpTo ?? -1, upTo: Number.MAX_SAFE_INTEGER };
  const settled = cached.loaded.map(({ after, upTo }) => ({ after, upTo: Math.min(upTo, cached.lastSeq - lateRows) }));
  return subtractRanges([all], [...progress.gaps, ...settled]).sort((a, b) => b.upTo - a.upTo);
}

function addPage({ block, unsettled }: CachedBlock, page: VectorPage, dimensions: number): void {
  const { seqs, conversations, times, vectors } = page;
  for (const [index, seq] of seqs.entries()) {
    if (unsettled.has(seq)) continue;
    const vector = vectors.subarray(index * dimensions, (index + 1) * dimensions);
    block.add({ seq, conversation: conversations[index] as number, time: times[index] as number, vector });
  }
}

/** The progress was read before the rows: what is beyond it may have gaps that it does not name. */
function noteLoaded(
  cached: CachedBlock,
  seqs: Float64Array,
  { after, upTo }: SeqRange,
  { entrySeq }: EmbeddingProgress,
): void {
  cached.lastSeq = Math.max(cached.lastSeq, seqs[0] ?? 0);
  const settled = Math.min(entrySeq, cached.lastSeq - lateRows);
  cached.unsettled = new Set([...cached.unsettled, ...seqs].filter((seq) => seq > settled));
  if (entrySeq > after) cached.loaded = mergeRanges([...cached.loaded, { after, upTo: Math.min(upTo, entrySeq) }]);
}
