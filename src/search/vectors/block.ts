import { computeBitDistances } from "./bit-distances.ts";
import { computeByteNorm, dotBytes, scaleBytes } from "./math.ts";

export interface VectorHit {
  seq: number;
  cosine: number;
}

export interface VectorRow {
  seq: number;
  conversation: number;
  time: number;
  vector: Int8Array;
}

/** Up to this many vectors all are compared exactly; above it, sign bits preselect some of them. */
const exactMax = 6_000;
/** How many rows of a block that has become large get their sign bits with each new one. */
const packedAtOnce = 8;
/** How many are preselected: of more vectors more are needed for the same recall. */
const rescored = { min: 1_000, max: 4_000, share: 1 / 200 };
/** The numbers of the last rows, by which a row that is read again is recognised. */
const recentMax = 1_024;
/** The capacity doubles up to this many rows; a large block grows in smaller steps, so that little of it is unused. */
const doubledMax = 65_536;
/** A lookup passes through this many new rows before their order is computed again. */
const unsortedMax = 64;
/** The centre of the space is the mean of the first vectors and then fixed, so that sign bits stay comparable. */
const centredAt = 2_000;

/** Reads vectors that a block does not hold. */
export type ReadVectors = (seqs: readonly number[]) => Promise<ReadonlyMap<number, Int8Array>>;

/**
 * Vectors in memory. A search compares sign bits (48 bytes for 384 dimensions) and then the best
 * thousand vectors exactly. A compact block holds the sign bits only, and reads those vectors. Deleted entries stay in the
 * block; callers drop hits whose rows no longer exist.
 */
export class VectorBlock {
  readonly dimensions: number;
  private readonly words: number;
  private count = 0;
  private seqs = new Float64Array(1024);
  private conversations = new Float64Array(1024);
  private times = new Float64Array(1024);
  private norms = new Float32Array(1024);
  /** Undefined in a compact block. */
  private vectors: Int8Array | undefined;
  private bits: Uint32Array;
  /** How many of the rows have sign bits. */
  private packed = 0;
  private recent = new Set<number>();
  /** The places of the first rows in the order of their numbers, for lookups. */
  private sorted = new Uint32Array(0);
  private centre: Float32Array | undefined;

  constructor(dimensions: number) {
    this.dimensions = dimensions;
    this.words = Math.ceil(dimensions / 32);
    this.vectors = new Int8Array(1024 * dimensions);
    this.bits = new Uint32Array(1024 * this.words);
  }

  get size(): number {
    return this.count;
  }

  /** The memory it takes. */
  get bytes(): number {
    const perRow = 3 * 8 + 4 + 4 * this.words + (this.vectors ? this.dimensions + 4 : 0);
    return this.seqs.length * perRow;
  }

  /** A row that was just added is not added again. */
  add(row: VectorRow): void {
    if (this.recent.has(row.seq) || row.vector.length !== this.dimensions) return;
    if (this.recent.size >= 2 * recentMax) this.recent = new Set([...this.recent].slice(recentMax));
    this.recent.add(row.seq);
    if (this.count === this.seqs.length) this.grow();
    const place = this.count;
    this.count += 1;
    this.seqs[place] = row.seq;
    this.conversations[place] = row.conversation;
    this.times[place] = row.time;
    const norm = computeByteNorm(row.vector, 0, this.dimensions) || 1;
    this.norms[place] = norm;
    if (this.vectors) this.vectors.set(row.vector, place * this.dimensions);
    else this.packRow(row.vector, 0, place);
    // A few at a time, so that the event loop does not wait for all of them at once.
    if (this.count > exactMax) this.packPending(packedAtOnce);
  }

  /** Forgets the vectors of a large block and keeps their sign bits; a search then needs a reader. */
  compact(): void {
    if (this.count <= exactMax) return;
    this.packPending();
    this.vectors = undefined;
    this.sorted = new Uint32Array(0);
  }

  /** The unit vector of a row; undefined when the block does not hold it. */
  vectorOf(seq: number): Float32Array | undefined {
    const { vectors, dimensions } = this;
    const place = vectors && this.findPlace(seq);
    if (place === undefined) return undefined;
    return scaleBytes(vectors as Int8Array, place * dimensions, dimensions, 1 / (this.norms[place] as number));
  }

  /** Forgets the oldest quarter of the rows, and gives a fifth of the memory back. Returns the number of the last of them. */
  dropOldest(): number {
    this.packPending();
    const dropped = Math.ceil(0.25 * this.count);
    const last = this.seqs.slice(0, this.count).sort()[dropped - 1] as number;
    const kept: number[] = [];
    for (let place = 0; place < this.count; place += 1) if ((this.seqs[place] as number) > last) kept.push(place);
    const rows = Math.max(kept.length, Math.ceil(0.8 * this.seqs.length));
    const select = <T extends Float64Array | Float32Array | Int8Array | Uint32Array>(old: T, next: T, width = 1): T => {
      for (const [to, from] of kept.entries()) {
        for (let index = 0; index < width; index += 1) next[to * width + index] = old[from * width + index] as number;
      }
      return next;
    };
    this.seqs = select(this.seqs, new Float64Array(rows));
    this.conversations = select(this.conversations, new Float64Array(rows));
    this.times = select(this.times, new Float64Array(rows));
    this.norms = select(this.norms, new Float32Array(rows));
    if (this.vectors) this.vectors = select(this.vectors, new Int8Array(rows * this.dimensions), this.dimensions);
    this.bits = select(this.bits, new Uint32Array(rows * this.words), this.words);
    this.count = kept.length;
    this.packed = this.centre ? kept.length : 0;
    this.sorted = new Uint32Array(0);
    return last;
  }

  /** The nearest rows that pass the filter. A compact block takes the vectors to compare from `read`. */
  async nearest(
    query: Float32Array,
    limit: number,
    filter?: (row: Omit<VectorRow, "vector">) => boolean,
    read?: ReadVectors,
  ): Promise<VectorHit[]> {
    const allowed = (place: number) =>
      filter === undefined ||
      filter({
        seq: this.seqs[place] as number,
        conversation: this.conversations[place] as number,
        time: this.times[place] as number,
      });
    const isSmall = this.count <= exactMax && this.vectors !== undefined;
    if (!isSmall) this.packPending();
    const places = isSmall || !this.centre ? this.listPlaces(allowed) : this.preselectByBits(query, allowed);
    const { vectors } = this;
    const hits = vectors
      ? places.map((place) => ({ seq: this.seqs[place] as number, cosine: this.cosineAt(query, vectors, place) }))
      : compareRows(query, (await read?.(places.map((place) => this.seqs[place] as number))) ?? new Map());
    hits.sort((a, b) => b.cosine - a.cosine || a.seq - b.seq);
    // A row that was written again is in the block twice.
    return hits.filter((hit, index) => hit.seq !== hits[index - 1]?.seq).slice(0, limit);
  }

  private findPlace(seq: number): number | undefined {
    if (this.count - this.sorted.length > unsortedMax) this.sortPlaces();
    const { seqs, sorted } = this;
    for (let place = sorted.length; place < this.count; place += 1) if (seqs[place] === seq) return place;
    let [low, high] = [0, sorted.length - 1];
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const place = sorted[middle] as number;
      const found = seqs[place] as number;
      if (found === seq) return place;
      if (found < seq) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }

  private sortPlaces(): void {
    const { seqs } = this;
    const places = Uint32Array.from({ length: this.count }, (_, place) => place);
    this.sorted = places.sort((a, b) => (seqs[a] as number) - (seqs[b] as number));
  }

  private listPlaces(allowed: (place: number) => boolean): number[] {
    const places: number[] = [];
    for (let place = 0; place < this.count; place += 1) if (allowed(place)) places.push(place);
    return places;
  }

  /** Selects by Hamming distance, with a histogram instead of a sort. */
  private preselectByBits(query: Float32Array, allowed: (place: number) => boolean): number[] {
    const { count } = this;
    const distances = computeBitDistances(this.bits, count, this.packBits(query, 1));
    const counts = new Uint32Array(this.dimensions + 1);
    for (const distance of distances) counts[distance] = (counts[distance] as number) + 1;
    const least = Math.min(rescored.max, Math.max(rescored.min, Math.round(count * rescored.share)));
    // When the filter rejects too many rows, the distance is widened.
    for (let wanted = least; ; wanted *= 8) {
      let [far, within] = [0, counts[0] as number];
      while (within < wanted && far < this.dimensions) {
        far += 1;
        within += counts[far] as number;
      }
      const places: number[] = [];
      for (let place = 0; place < count; place += 1) {
        if ((distances[place] as number) <= far && allowed(place)) places.push(place);
      }
      if (places.length >= least || far === this.dimensions) return places;
    }
  }

  private cosineAt(query: Float32Array, vectors: Int8Array, place: number): number {
    return dotBytes(query, vectors, place * this.dimensions) / (this.norms[place] as number);
  }

  /** Computes the sign bits of rows that have none, at most `rowsMax` of them: a small block never needs them. */
  private packPending(rowsMax = this.count): void {
    const { vectors, dimensions } = this;
    if (!vectors || this.count < centredAt) return;
    this.centre ??= this.computeCentre(vectors);
    const end = Math.min(this.count, this.packed + rowsMax);
    for (let place = this.packed; place < end; place += 1) this.packRow(vectors, place * dimensions, place);
  }

  private computeCentre(vectors: Int8Array): Float32Array {
    const centre = new Float32Array(this.dimensions);
    for (let place = 0; place < centredAt; place += 1) {
      const norm = this.norms[place] as number;
      for (let index = 0; index < this.dimensions; index += 1) {
        centre[index] = (centre[index] as number) + (vectors[place * this.dimensions + index] as number) / norm;
      }
    }
    return centre.map((value) => value / centredAt);
  }

  private packRow(vectors: Int8Array, at: number, place: number): void {
    const vector = vectors.subarray(at, at + this.dimensions);
    this.bits.set(this.packBits(vector, this.norms[place] as number), place * this.words);
    this.packed = place + 1;
  }

  private packBits(vector: ArrayLike<number>, norm: number): Uint32Array {
    const bits = new Uint32Array(this.words);
    for (let index = 0; index < this.dimensions; index += 1) {
      if ((vector[index] as number) / norm > (this.centre?.[index] ?? 0)) {
        bits[index >>> 5] = ((bits[index >>> 5] as number) | (1 << (index & 31))) >>> 0;
      }
    }
    return bits;
  }

  private grow(): void {
    const { length } = this.seqs;
    const size = length < doubledMax ? 2 * length : Math.ceil(1.25 * length);
    const larger = <T extends Float64Array | Float32Array | Int8Array | Uint32Array>(old: T, next: T): T => {
      next.set(old as never);
      return next;
    };
    this.seqs = larger(this.seqs, new Float64Array(size));
    this.conversations = larger(this.conversations, new Float64Array(size));
    this.times = larger(this.times, new Float64Array(size));
    this.norms = larger(this.norms, new Float32Array(size));
    if (this.vectors) this.vectors = larger(this.vectors, new Int8Array(size * this.dimensions));
    this.bits = larger(this.bits, new Uint32Array(size * this.words));
  }
}

function compareRows(query: Float32Array, vectors: ReadonlyMap<number, Int8Array>): VectorHit[] {
  return [...vectors].map(([seq, vector]) => ({
    seq,
    cosine: dotBytes(query, vector, 0) / (computeByteNorm(vector, 0, vector.length) || 1),
  }));
}
