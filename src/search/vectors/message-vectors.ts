import { isAgentOpen } from "../../authorization/index.ts";
import { formatSpaceName, type VectorSpace } from "../../models/index.ts";
import type { ConversationSpan, NearestEntry, Store } from "../../store/index.ts";
import { isInRanges, type SeqRange } from "../embedding/progress.ts";
import { computeByteNorm, scaleBytes, toSignedBytes } from "./math.ts";
import { findSpace } from "./spaces.ts";
import { VectorCache } from "./vector-cache.ts";

/** How long a search waits for vectors that are being loaded into memory. */
const waitMsDefault = 1_500;
const seqsAtOnce = 2_000;

export interface MessageQuery {
  agent: string;
  /** All conversations of the agent when absent. */
  spans: readonly ConversationSpan[] | undefined;
  since?: number;
  before?: number;
  /** Only messages in these ranges. */
  ranges?: readonly SeqRange[];
  limit: number;
  /** How long to read vectors into memory. What was not read by then is left out, and is read by a later search. */
  waitMs?: number;
}

/** Vectors of messages in one space: compared by the database where it can, otherwise in memory. */
export class MessageVectors {
  private readonly store: Store;
  private readonly space: VectorSpace;
  private readonly cache: VectorCache;
  private spaceId: number | undefined;

  constructor(store: Store, space: VectorSpace, cacheBytes: number) {
    this.store = store;
    this.space = space;
    this.cache = new VectorCache(store, space.dimensions, cacheBytes);
  }

  /** The id of this space in the database; undefined while nothing is embedded in it. */
  async id(): Promise<number | undefined> {
    this.spaceId ??= await findSpace(this.store, formatSpaceName(this.space));
    return this.spaceId;
  }

  /** The memory that vectors take in this process. */
  get cachedBytes(): number {
    return this.cache.bytes;
  }

  /** Whether any message of the agent, or of some conversations, has a vector. */
  async hasMessages(agent: string, spans: readonly ConversationSpan[] | undefined): Promise<boolean> {
    const space = await this.id();
    if (space === undefined || spans?.length === 0 || !isAgentOpen(agent)) return false;
    let query = this.store.db
      .selectFrom("entry_vectors")
      .select("seq")
      .where("agent", "=", agent)
      .where("space", "=", space)
      .limit(1);
    if (spans) query = query.where("conversation", "in", [...new Set(spans.map((span) => span.conversation))]);
    return (await query.executeTakeFirst()) !== undefined;
  }

  /** The messages nearest to a unit vector, best first; the note says what was not compared. */
  async nearest(vector: Float32Array, query: MessageQuery): Promise<{ hits: NearestEntry[]; note?: string }> {
    const { agent, spans, since, before, ranges, limit, waitMs } = query;
    const space = await this.id();
    if (space === undefined || !isAgentOpen(agent)) return { hits: [] };
    const found = await this.store.vectors?.nearestEntries({ ...query, spans, space, vector });
    if (found) return { hits: found };
    const blocks = await this.cache.open(agent, space, spans, waitMs ?? waitMsDefault, {
      stopsAfter: waitMs !== undefined,
    });
    const [from, to] = [since ?? Number.NEGATIVE_INFINITY, before ?? Number.POSITIVE_INFINITY];
    const bounds = spans && new Map(spans.map((span) => [span.conversation, span.upTo ?? Number.POSITIVE_INFINITY]));
    const hits = await blocks.nearest(
      vector,
      limit,
      (row) =>
        row.time >= from &&
        row.time < to &&
        (!bounds || row.seq <= (bounds.get(row.conversation) ?? -1)) &&
        (!ranges || isInRanges(ranges, row.seq)),
      (seqs) => this.readBytes(agent, space, seqs),
    );
    return { hits, ...(blocks.note === undefined ? {} : { note: blocks.note }) };
  }

  /** The unit vectors of messages that a search with these spans found; those without one are absent. */
  async read(
    agent: string,
    spans: readonly ConversationSpan[] | undefined,
    seqs: readonly number[],
  ): Promise<ReadonlyMap<number, Float32Array>> {
    const space = await this.id();
    const found = new Map<number, Float32Array>();
    if (space === undefined) return found;
    const lookUp = this.cache.createLookup(agent, space, spans);
    for (const seq of seqs) {
      const vector = lookUp(seq);
      if (vector) found.set(seq, vector);
    }
    const others = seqs.filter((seq) => !found.has(seq));
    for (const [seq, vector] of await this.readBytes(agent, space, others)) {
      const norm = computeByteNorm(vector, 0, vector.length) || 1;
      found.set(seq, scaleBytes(vector, 0, vector.length, 1 / norm));
    }
    return found;
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

  private async readBytes(agent: string, space: number, seqs: readonly number[]): Promise<Map<number, Int8Array>> {
    const vectors = new Map<number, Int8Array>();
    for (let from = 0; from < seqs.length; from += seqsAtOnce) {
      const rows = await this.store.db
        .selectFrom("entry_vectors")
        .select(["seq", "vector"])
        .where("agent", "=", agent)
        .where("space", "=", space)
        .where("seq", "in", seqs.slice(from, from + seqsAtOnce))
        .execute();
      for (const row of rows) vectors.set(row.seq, toSignedBytes(row.vector));
    }
    return vectors;
  }
}
