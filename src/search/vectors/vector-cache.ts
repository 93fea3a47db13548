import { setTimeout as sleep } from "node:timers/promises";
import { isAgentOpen, runAsEngine } from "../../authorization/index.ts";
import type { ConversationSpan, Store } from "../../store/index.ts";
import { type ReadVectors, VectorBlock, type VectorHit, type VectorRow } from "./block.ts";
import { toSignedBytes } from "./math.ts";

const pageRows = 2_000;
/** Another process may write a vector after one with a higher number, so the last rows are read again. */
const lateRows = 64;
/** A block with a larger share of the cache than this holds sign bits only. */
const fullShareMax = 0.5;

interface CachedBlock {
  block: VectorBlock;
  lastSeq: number;
  loading: Promise<void> | undefined;
  /** Whether the oldest vectors were left out, because the block alone would not fit the cache. */
  isCut: boolean;
}

export interface VectorBlocks {
  size: number;
  /** What was not compared, for the answer. */
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
   * searched and the note says so; loading continues in the background.
   */
  async open(
    agent: string,
    space: number,
    spans: readonly ConversationSpan[] | undefined,
    waitMs: number,
  ): Promise<VectorBlocks> {
    if (!isAgentOpen(agent)) return { size: 0, nearest: async () => [] };
    const scopes = spans ? [...new Set(spans.map((span) => span.conversation))] : [undefined];
    const cached = scopes.map((conversation) => this.load(agent, space, conversation));
    const all = Promise.all(cached.map((one) => one.loading)).then(() => true);
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

  private describe(isWhole: boolean, size: number, cached: readonly CachedBlock[]): string | undefined {
    if (!isWhole) return `vectors are still loading: only the first ${size} were searched`;
    if (!cached.some((one) => one.isCut)) return undefined;
    return `only the newest ${size} messages were compared by meaning, which is what fits the memory for vectors: raise search.vectorCacheMiB, or use PostgreSQL with pgvector`;
  }

  private load(agent: string, space: number, conversation: number | undefined): CachedBlock {
    const name = `${agent}\n${space}\n${conversation ?? "*"}`;
    const cached = this.blocks.get(name) ?? {
      block: new VectorBlock(this.dimensions),
      lastSeq: 0,
      loading: undefined,
      isCut: false,
    };
    this.blocks.delete(name);
    this.blocks.set(name, cached);
    // Requests of all principals share the block.
    cached.loading ??= runAsEngine(() => this.readRows(cached, agent, space, conversation)).finally(() => {
      cached.loading = undefined;
    });
    return cached;
  }

  private async readRows(
    cached: CachedBlock,
    agent: string,
    space: number,
    conversation: number | undefined,
  ): Promise<void> {
    for (let from = cached.lastSeq - lateRows; ; ) {
      let query = this.store.db
        .selectFrom("entry_vectors")
        .select(["seq", "conversation", "time", "vector"])
        .where("agent", "=", agent)
        .where("space", "=", space)
        .where("seq", ">", from)
        .orderBy("seq")
        .limit(pageRows);
      if (conversation !== undefined) query = query.where("conversation", "=", conversation);
      const rows = await query.execute();
      for (const row of rows) cached.block.add({ ...row, vector: toSignedBytes(row.vector) });
      this.fit(cached);
      const last = rows.at(-1)?.seq;
      if (last === undefined) return;
      from = last;
      cached.lastSeq = Math.max(cached.lastSeq, last);
      if (rows.length < pageRows) return;
    }
  }

  /** Evicts other blocks, the least recently used first; a block that is too large by itself loses its oldest rows. */
  private fit(current: CachedBlock): void {
    const { block } = current;
    if (block.bytes > fullShareMax * this.bytesMax) block.compact();
    let bytes = this.bytes;
    for (const [name, one] of this.blocks) {
      if (bytes <= this.bytesMax) return;
      if (one === current) continue;
      this.blocks.delete(name);
      bytes -= one.block.bytes;
    }
    while (block.bytes > this.bytesMax && block.size > 1) {
      block.dropOldest();
      current.isCut = true;
    }
  }
}
