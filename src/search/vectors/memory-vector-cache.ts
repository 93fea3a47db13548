import { runAsEngine } from "../../authorization/index.ts";
import { formatSpaceName, type VectorSpace } from "../../models/index.ts";
import type { Store } from "../../store/index.ts";
import { VectorBlock } from "./block.ts";
import { toSignedBytes } from "./math.ts";
import { findSpace } from "./spaces.ts";

const loadRows = 2_000;
/** On PostgreSQL a row with a lower number may be committed later; the last rows are read again. */
const lateRows = 256;

/** The vectors of memories in one space, and which memories have none yet. */
export class MemoryVectorCache {
  private readonly store: Store;
  private readonly space: VectorSpace;
  private block: VectorBlock | undefined;
  private readonly ids = new Map<number, string>();
  private readonly scopes = new Map<string, number>();
  private spaceId: number | undefined;
  private lastWritten = 0;
  private loading: Promise<void> | undefined;
  /** Every memory up to this number had a vector when they were last counted. */
  private completeUpTo = 0;

  constructor(store: Store, space: VectorSpace) {
    this.store = store;
    this.space = space;
  }

  /** The id of this space in the database; undefined while nothing is embedded in it. */
  async id(): Promise<number | undefined> {
    this.spaceId ??= await findSpace(this.store, formatSpaceName(this.space));
    return this.spaceId;
  }

  /** The memories of some scopes nearest to a vector. Memories that were purged or superseded may be among them. */
  async nearest(
    vector: ArrayLike<number>,
    limit: number,
    scopes: readonly string[] | undefined,
  ): Promise<{ id: string; cosine: number }[]> {
    const unit = toUnit(vector);
    const space = await this.id();
    if (space === undefined) return [];
    const found = await this.store.vectors?.nearestMemories({ scopes, space, vector: unit, limit });
    if (found) return found.map(({ memory, cosine }) => ({ id: memory, cosine }));
    const block = await this.loadBlock();
    if (!block || block.dimensions !== vector.length) return [];
    const visible = scopes && new Set(scopes.map((scope) => this.scopes.get(scope)));
    const hits = await block.nearest(unit, limit, visible && ((row) => visible.has(row.conversation)));
    return hits.flatMap(({ seq, cosine }) => {
      const id = this.ids.get(seq);
      return id === undefined ? [] : [{ id, cosine }];
    });
  }

  /** Whether there is nothing to compare with: then a query need not be embedded. */
  async isEmpty(): Promise<boolean> {
    const space = await this.id();
    if (space === undefined) return true;
    const first = this.store.db.selectFrom("memory_vectors").select("num").where("space", "=", space).limit(1);
    return (await runAsEngine(() => first.executeTakeFirst())) === undefined;
  }

  /** The newest current memories with their vectors, as a sample of the store. */
  async sample(limit: number): Promise<{ text: string; vector: Int8Array }[]> {
    const space = await this.id();
    if (space === undefined) return [];
    const rows = await this.store.db
      .selectFrom("memory_vectors as v")
      .innerJoin("memories as m", (join) => join.onRef("m.scope", "=", "v.scope").onRef("m.num", "=", "v.num"))
      .select(["m.abstract", "v.vector"])
      .where("v.space", "=", space)
      .where("m.invalidated_at", "is", null)
      .orderBy("v.written", "desc")
      .limit(limit)
      .execute();
    return rows.map(({ abstract, vector }) => ({ text: abstract, vector: toSignedBytes(vector) }));
  }

  /** Memories that have no vector yet, the oldest first. */
  async findPending(limit: number) {
    const { db, engine } = this.store;
    // Read before the rows: a memory that is written in between is found by the next call.
    const last = await db
      .selectFrom("memories")
      .select((eb) => eb.fn.max("num").as("num"))
      .executeTakeFirst();
    const upTo = Number(last?.num ?? 0);
    if (engine === "sqlite" && upTo <= this.completeUpTo) return [];
    const space = (await this.id()) ?? -1;
    const from = engine === "sqlite" ? this.completeUpTo : this.completeUpTo - lateRows;
    const rows = await db
      .selectFrom("memories as m")
      .leftJoin("memory_vectors as v", (join) =>
        join.onRef("v.scope", "=", "m.scope").on("v.space", "=", space).onRef("v.num", "=", "m.num"),
      )
      .select(["m.num", "m.id", "m.scope", "m.abstract"])
      .where("m.num", ">", from)
      .where("v.num", "is", null)
      .orderBy("m.num")
      .limit(limit)
      .execute();
    this.completeUpTo = Math.max(this.completeUpTo, (rows[0]?.num ?? upTo + 1) - 1);
    return rows;
  }

  /** Whether a memory of some scopes, or of any, has a vector in another space and none in this one. */
  async lacksVectorsFrom(other: number, scopes?: readonly string[]): Promise<boolean> {
    const space = (await this.id()) ?? -1;
    const lacking = this.store.db
      .selectFrom("memories as m")
      .innerJoin("memory_vectors as o", (join) =>
        join.onRef("o.scope", "=", "m.scope").on("o.space", "=", other).onRef("o.num", "=", "m.num"),
      )
      .leftJoin("memory_vectors as v", (join) =>
        join.onRef("v.scope", "=", "m.scope").on("v.space", "=", space).onRef("v.num", "=", "m.num"),
      )
      .select("m.num")
      .where("m.num", ">", this.completeUpTo)
      .where("v.num", "is", null)
      .limit(1);
    const found = await (scopes === undefined ? lacking : lacking.where("m.scope", "in", [...scopes])).execute();
    return found.length > 0;
  }

  private async loadBlock(): Promise<VectorBlock | undefined> {
    // Requests of all principals share the block.
    this.loading ??= runAsEngine(() => this.load()).finally(() => {
      this.loading = undefined;
    });
    await this.loading;
    return this.block;
  }

  private async load(): Promise<void> {
    const space = await this.id();
    if (space === undefined) return;
    for (let from = this.lastWritten - lateRows; ; ) {
      const rows = await this.store.db
        .selectFrom("memory_vectors")
        .select(["written", "scope", "num", "memory", "vector"])
        .where("space", "=", space)
        .where("written", ">", from)
        .orderBy("written")
        .limit(loadRows)
        .execute();
      for (const { written, scope, num, memory, vector } of rows) {
        this.block ??= new VectorBlock(vector.length);
        this.block.add({ seq: num, conversation: this.scopeNumber(scope), time: 0, vector: toSignedBytes(vector) });
        this.ids.set(num, memory);
        from = written;
      }
      this.lastWritten = Math.max(this.lastWritten, from);
      if (rows.length < loadRows) return;
    }
  }

  private scopeNumber(scope: string): number {
    const known = this.scopes.get(scope);
    if (known !== undefined) return known;
    this.scopes.set(scope, this.scopes.size);
    return this.scopes.size - 1;
  }
}

function toUnit(vector: ArrayLike<number>): Float32Array {
  const floats = Float32Array.from(vector);
  const norm = Math.sqrt(floats.reduce((sum, value) => sum + value * value, 0)) || 1;
  return floats.map((value) => value / norm);
}
