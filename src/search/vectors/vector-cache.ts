import { setTimeout as sleep } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { isAgentOpen, runAsEngine } from "../../authorization/index.ts";
import { formatSpaceName, type VectorSpace } from "../../models/index.ts";
import type { ConversationSpan, Store } from "../../store/index.ts";
import { VectorBlock } from "./block.ts";
import { toSignedBytes } from "./math.ts";
import { findSpace } from "./spaces.ts";

const pageRows = 2_000;
/** The maximum number of blocks in memory. */
const blocksMax = 16;
/** Another process may write a vector after one with a higher number, so the last rows are read again. */
const lateRows = 64;

interface CachedBlock {
  block: VectorBlock;
  lastSeq: number;
  loading: Promise<void> | undefined;
}

/** Message vectors in memory: one block for each conversation that is searched, or one for all of an agent. */
export class VectorCache {
  private readonly store: Store;
  private readonly space: VectorSpace;
  private readonly blocks = new LRUCache<string, CachedBlock>({ max: blocksMax });
  private spaceId: number | undefined;

  constructor(store: Store, space: VectorSpace) {
    this.store = store;
    this.space = space;
  }

  /** The id of this space in the database; undefined while nothing is embedded in it. */
  async id(): Promise<number | undefined> {
    if (this.spaceId !== undefined) return this.spaceId;
    this.spaceId = await findSpace(this.store, formatSpaceName(this.space));
    return this.spaceId;
  }

  /**
   * The blocks to search, updated from the database. If loading takes longer than `waitMs`, the vectors loaded so far are
   * returned and `whole` is false; loading continues in the background.
   */
  async loadBlocks(
    agent: string,
    spans: readonly ConversationSpan[] | undefined,
    waitMs: number,
  ): Promise<{ blocks: VectorBlock[]; whole: boolean }> {
    const space = await this.id();
    if (space === undefined || !isAgentOpen(agent)) return { blocks: [], whole: true };
    const scopes = spans ? spans.map((span) => span.conversation) : [undefined];
    const cached = scopes.map((conversation) => this.open(agent, space, conversation));
    const all = Promise.all(cached.map((one) => one.loading)).then(() => true);
    const timer = new AbortController();
    const whole = await Promise.race([
      all,
      sleep(waitMs, false, { signal: timer.signal, ref: false }).catch(() => false),
    ]);
    timer.abort();
    return { blocks: cached.map((one) => one.block), whole };
  }

  /** Whether a summary, file or chunk has a vector: a corpus can be searched before there are messages. */
  async hasDocuments(agent: string): Promise<boolean> {
    const space = await this.id();
    if (space === undefined) return false;
    const row = await this.store.db
      .selectFrom("document_vectors")
      .select("id")
      .where("agent", "=", agent)
      .where("space", "=", space)
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }

  async readTokenStates(agent: string, seqs: readonly number[]): Promise<Map<number, Int8Array>> {
    const states = new Map<number, Int8Array>();
    const space = await this.id();
    if (space === undefined || seqs.length === 0) return states;
    const rows = await this.store.db
      .selectFrom("entry_tokens")
      .select(["seq", "states"])
      .where("agent", "=", agent)
      .where("space", "=", space)
      .where("seq", "in", [...seqs])
      .execute();
    for (const row of rows) states.set(row.seq, toSignedBytes(row.states));
    return states;
  }

  private open(agent: string, space: number, conversation: number | undefined): CachedBlock {
    const name = `${agent}\n${conversation ?? "*"}`;
    const known = this.blocks.get(name);
    const cached = known ?? { block: new VectorBlock(this.space.dimensions), lastSeq: 0, loading: undefined };
    if (!known) this.blocks.set(name, cached);
    // Requests of all principals share the block.
    cached.loading ??= runAsEngine(() => this.load(cached, agent, space, conversation)).finally(() => {
      cached.loading = undefined;
    });
    return cached;
  }

  private async load(
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
      const last = rows.at(-1)?.seq;
      if (last === undefined) return;
      from = last;
      cached.lastSeq = Math.max(cached.lastSeq, last);
      if (rows.length < pageRows) return;
    }
  }
}
