import type { Clock } from "../domain/index.ts";
import { toBytes } from "../models/index.ts";
import { findSpace, listOtherSpaces, makeSpace, signed, unsigned, VectorBlock } from "../search/index.ts";
import type { Store } from "../store/index.ts";
import { lacksVectors, removeVectors } from "./vector-rows.ts";
import type { MemoryVectors } from "./vectors.ts";

const loadRows = 2_000;
const pageRows = 32;
/** On PostgreSQL, what was numbered a little earlier may be committed a little later. */
const lateRows = 256;

export interface MemoryCatchUp {
  embedded: number;
  /** Nothing is left to embed. */
  whole: boolean;
}

/** The shelf a question is compared with, and what is to be said of it. */
export interface ActiveMemoryVectors {
  shelf: MemoryVectorCache;
  note?: string;
}

/** After a failure of an earlier model, the vectors there are of the new one serve for so long. */
const restMs = 60_000;

/** The vectors of memories: written behind them, and in memory to be compared. */
export class MemoryVectorCache {
  readonly vectors: MemoryVectors;
  private readonly store: Store;
  private readonly clock: Clock;
  private block: VectorBlock | undefined;
  private readonly ids = new Map<number, string>();
  private readonly scopes = new Map<string, number>();
  private space: number | undefined;
  private lastWritten = 0;
  private loading: Promise<void> | undefined;
  /** Every memory up to this number had its vector when it was looked. */
  private wholeUpTo = 0;
  /** Scopes of which nothing of an earlier model is missing here: from now on this one serves them. */
  private readonly settled = new Set<string>();
  private readonly openEarlier: (name: string) => MemoryVectors | undefined;
  private readonly earlier = new Map<string, MemoryVectorCache>();
  private restingUntil = 0;

  constructor(
    host: { store: Store; clock: Clock },
    vectors: MemoryVectors,
    openEarlier: (name: string) => MemoryVectors | undefined = () => undefined,
  ) {
    this.store = host.store;
    this.clock = host.clock;
    this.vectors = vectors;
    this.openEarlier = openEarlier;
  }

  /**
   * The shelf to ask in some scopes, or in all: after a change of the model that of the one before, until this one has
   * every vector of theirs that it has. A question is made into a vector by the shelf it is compared with, so that two spaces never meet.
   */
  async serving(scopes: readonly string[] | undefined): Promise<ActiveMemoryVectors> {
    const asked = scopes === undefined ? "*" : JSON.stringify([...scopes].sort());
    if (this.settled.has("*") || this.settled.has(asked)) return { shelf: this };
    const ahead = await this.spacesAhead(scopes);
    if (ahead.length === 0) {
      this.settled.add(asked);
      return { shelf: this };
    }
    const { model } = this.vectors;
    const why: string[] = [];
    for (const name of ahead) {
      const before = this.earlierShelf(name);
      if (!before || before.restingUntil > this.clock.now()) {
        why.push(`the model of ${name} ${before ? "failed a moment ago" : "cannot be asked any more"}`);
        continue;
      }
      const note = `the vectors of ${name} are searched until ${model} has embedded as many memories (\`varve index\` does it)`;
      return { shelf: before, note };
    }
    const note = `${why.join(", ")}: memories that ${model} has not embedded yet are found by their words alone`;
    return { shelf: this, note };
  }

  private earlierShelf(name: string): MemoryVectorCache | undefined {
    const known = this.earlier.get(name);
    if (known) return known;
    const vectors = this.openEarlier(name);
    if (!vectors || vectors.model !== name) return undefined;
    const shelf = new MemoryVectorCache({ store: this.store, clock: this.clock }, vectors);
    this.earlier.set(name, shelf);
    return shelf;
  }

  /** The spaces with a vector of a memory that has none here, the newest first. */
  private async spacesAhead(scopes: readonly string[] | undefined): Promise<string[]> {
    const others = await listOtherSpaces(this.store, await this.known());
    // Looking for what is missing also says up to where nothing is.
    if (others.length === 0 || (await this.behind(1)) === 0) {
      this.settled.add("*");
      this.earlier.clear();
      return [];
    }
    const ahead: string[] = [];
    for (const { id, name } of others) if (await this.lacksOf(id, scopes)) ahead.push(name);
    return ahead;
  }

  private async lacksOf(other: number, scopes?: readonly string[]): Promise<boolean> {
    const space = (await this.known()) ?? -1;
    return lacksVectors(this.store, { space, other, after: this.wholeUpTo, scopes });
  }

  /** Removes vectors of earlier models that nothing here lacks; of those that are in use elsewhere, none. */
  async prune(inUse: ReadonlySet<string>, signal?: AbortSignal): Promise<number> {
    const space = await this.known();
    if (space === undefined) return 0;
    let removed = 0;
    for (const other of await listOtherSpaces(this.store, space)) {
      if (inUse.has(other.name) || ((await this.behind(1)) > 0 && (await this.lacksOf(other.id)))) continue;
      removed += await removeVectors(this.store, other.id, signal);
    }
    return removed;
  }

  /** The space these vectors are in, made when this is the first of them. */
  async spaceId(): Promise<number> {
    this.space ??= await makeSpace(this.store, this.clock, this.vectors.model);
    return this.space;
  }

  async embedQuery(text: string, signal?: AbortSignal): Promise<ArrayLike<number> | undefined> {
    try {
      if (this.vectors.embedQuery) return await this.vectors.embedQuery(text, signal);
      return (await this.vectors.embed([text], signal))?.[0];
    } catch (error) {
      if (!signal?.aborted) this.restingUntil = this.clock.now() + restMs;
      throw error;
    }
  }

  /** The memories of some scopes nearest to a vector; those that were purged or closed since may be among them. */
  async nearest(
    vector: ArrayLike<number>,
    limit: number,
    scopes: readonly string[] | undefined,
  ): Promise<{ id: string; cosine: number }[]> {
    const block = await this.loaded();
    if (!block || block.dimensions !== vector.length) return [];
    const seen = scopes && new Set(scopes.map((scope) => this.scopes.get(scope)));
    const hits = block.nearest(unit(vector), limit, seen && ((row) => seen.has(row.conversation)));
    return hits.flatMap(({ seq, cosine }) => {
      const id = this.ids.get(seq);
      return id === undefined ? [] : [{ id, cosine }];
    });
  }

  /** Whether there is no vector to compare with: then a question need not be made into one. */
  async isEmpty(): Promise<boolean> {
    const block = await this.loaded();
    return block === undefined || block.size === 0;
  }

  private async loaded(): Promise<VectorBlock | undefined> {
    this.loading ??= this.load().finally(() => {
      this.loading = undefined;
    });
    await this.loading;
    return this.block;
  }

  /** How many memories have no vector yet, counted up to a number. */
  async behind(max: number): Promise<number> {
    return (await this.missing(max)).length;
  }

  /** Makes the vectors that are missing, in pages, until there are none or so many were made. */
  async catchUp({ max, signal, onProgress }: CatchUpMemories = {}): Promise<MemoryCatchUp> {
    const most = max ?? Number.POSITIVE_INFINITY;
    let embedded = 0;
    while (embedded < most) {
      signal?.throwIfAborted();
      const rows = await this.missing(Math.min(pageRows, most - embedded));
      if (rows.length === 0) return { embedded, whole: true };
      const texts = rows.map((row) => row.abstract);
      const made = await this.vectors.embed(texts, signal);
      if (!made) return { embedded, whole: false };
      const space = await this.spaceId();
      const values = rows.flatMap(({ scope, num, id }, index) => {
        const vector = made[index];
        return vector ? [{ scope, space, num, memory: id, vector: vectorBytes(vector) }] : [];
      });
      await this.write(values);
      embedded += rows.length;
      onProgress?.(embedded);
    }
    return { embedded, whole: (await this.behind(1)) === 0 };
  }

  /** How many memories there are, and how many of them have a vector. */
  async coverage(): Promise<{ memories: number; vectors: number }> {
    const { db } = this.store;
    const all = await db
      .selectFrom("memories")
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .executeTakeFirst();
    const space = await this.known();
    const made =
      space === undefined
        ? undefined
        : await db
            .selectFrom("memory_vectors")
            .select((eb) => eb.fn.countAll<number>().as("count"))
            .where("space", "=", space)
            .executeTakeFirst();
    return { memories: Number(all?.count ?? 0), vectors: Number(made?.count ?? 0) };
  }

  private async known(): Promise<number | undefined> {
    this.space ??= await findSpace(this.store, this.vectors.model);
    return this.space;
  }

  /** What was purged while its vector was made gets none. */
  private async write(values: readonly VectorRow[]): Promise<void> {
    await this.store.transaction(async ({ db }) => {
      const ids = values.map((row) => row.memory);
      const there = new Set(
        (await db.selectFrom("memories").select("id").where("id", "in", ids).execute()).map((row) => row.id),
      );
      const left = values.filter((row) => there.has(row.memory));
      if (left.length === 0) return;
      await db
        .insertInto("memory_vectors")
        .values(left)
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    });
  }

  private async missing(limit: number) {
    const { db, engine } = this.store;
    // Before the rows: what is written between the two is looked at the next time.
    const last = await db
      .selectFrom("memories")
      .select((eb) => eb.fn.max("num").as("num"))
      .executeTakeFirst();
    const upTo = Number(last?.num ?? 0);
    if (engine === "sqlite" && upTo <= this.wholeUpTo) return [];
    const space = (await this.known()) ?? -1;
    const from = engine === "sqlite" ? this.wholeUpTo : this.wholeUpTo - lateRows;
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
    // All below the first that is missing have theirs.
    this.wholeUpTo = Math.max(this.wholeUpTo, (rows[0]?.num ?? upTo + 1) - 1);
    return rows;
  }

  private async load(): Promise<void> {
    const space = await this.known();
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
        this.block.add({ seq: num, conversation: this.scopeNumber(scope), time: 0, vector: signed(vector) });
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

export interface CatchUpMemories {
  max?: number;
  signal?: AbortSignal;
  onProgress?(embedded: number): void;
}

interface VectorRow {
  scope: string;
  space: number;
  num: number;
  memory: string;
  vector: Uint8Array;
}

export function vectorBytes(vector: ArrayLike<number>): Uint8Array {
  return unsigned(toBytes(Float32Array.from(vector)));
}

function unit(vector: ArrayLike<number>): Float32Array {
  const floats = Float32Array.from(vector);
  const norm = Math.sqrt(floats.reduce((sum, value) => sum + value * value, 0)) || 1;
  return floats.map((value) => value / norm);
}
