import { computeByteNorm, dotBytes, popCount, scaleBytes } from "./math.ts";

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

/** Up to this many vectors all are compared exactly; above it, sign bits preselect `rescored` of them. */
const exactMax = 6_000;
const rescored = 1_000;
/** The centre of the space is the mean of the first vectors and then fixed, so that sign bits stay comparable. */
const centredAt = 2_000;

/**
 * Vectors in memory, in insertion order. A search compares sign bits (48 bytes for 384 dimensions) and then the best
 * thousand vectors exactly. Deleted entries stay in the block; callers drop hits whose rows no longer exist.
 */
export class VectorBlock {
  readonly dimensions: number;
  private readonly words: number;
  private count = 0;
  private seqs = new Float64Array(1024);
  private conversations = new Float64Array(1024);
  private times = new Float64Array(1024);
  private norms = new Float32Array(1024);
  private vectors: Int8Array;
  private bits: Uint32Array;
  private readonly places = new Map<number, number>();
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

  has(seq: number): boolean {
    return this.places.has(seq);
  }

  add(row: VectorRow): void {
    if (this.places.has(row.seq) || row.vector.length !== this.dimensions) return;
    if (this.count === this.seqs.length) this.grow();
    const place = this.count;
    this.count += 1;
    this.seqs[place] = row.seq;
    this.conversations[place] = row.conversation;
    this.times[place] = row.time;
    this.vectors.set(row.vector, place * this.dimensions);
    this.norms[place] = computeByteNorm(row.vector, 0, this.dimensions) || 1;
    this.places.set(row.seq, place);
    if (this.centre) this.writeBits(place);
    else if (this.count === centredAt) this.fixCentre();
  }

  /** The unit vector of an entry; undefined when it has none. */
  vectorAt(seq: number): Float32Array | undefined {
    const place = this.places.get(seq);
    if (place === undefined) return undefined;
    const norm = this.norms[place] as number;
    return scaleBytes(this.vectors, place * this.dimensions, this.dimensions, 1 / norm);
  }

  /** The nearest rows that pass the filter. */
  nearest(query: Float32Array, limit: number, filter?: (row: Omit<VectorRow, "vector">) => boolean): VectorHit[] {
    const allowed = (place: number) =>
      filter === undefined ||
      filter({
        seq: this.seqs[place] as number,
        conversation: this.conversations[place] as number,
        time: this.times[place] as number,
      });
    const places =
      this.count <= exactMax || !this.centre ? this.listPlaces(allowed) : this.preselectByBits(query, allowed);
    const hits = places.map((place) => ({ seq: this.seqs[place] as number, cosine: this.cosineAt(query, place) }));
    return hits.sort((a, b) => b.cosine - a.cosine || a.seq - b.seq).slice(0, limit);
  }

  private listPlaces(allowed: (place: number) => boolean): number[] {
    const places: number[] = [];
    for (let place = 0; place < this.count; place += 1) if (allowed(place)) places.push(place);
    return places;
  }

  /** Selects by Hamming distance, with a histogram instead of a sort. */
  private preselectByBits(query: Float32Array, allowed: (place: number) => boolean): number[] {
    const { bits, words, count } = this;
    const target = this.packBits(query, 1);
    const distances = new Uint16Array(count);
    const counts = new Uint32Array(this.dimensions + 1);
    for (let place = 0, at = 0; place < count; place += 1) {
      let distance = 0;
      for (let word = 0; word < words; word += 1, at += 1) {
        distance += popCount((bits[at] as number) ^ (target[word] as number));
      }
      distances[place] = distance;
      counts[distance] = (counts[distance] as number) + 1;
    }
    // When the filter rejects too many rows, the distance is widened.
    for (let wanted = rescored; ; wanted *= 8) {
      let [far, within] = [0, counts[0] as number];
      while (within < wanted && far < this.dimensions) {
        far += 1;
        within += counts[far] as number;
      }
      const places: number[] = [];
      for (let place = 0; place < count; place += 1) {
        if ((distances[place] as number) <= far && allowed(place)) places.push(place);
      }
      if (places.length >= rescored || far === this.dimensions) return places;
    }
  }

  private cosineAt(query: Float32Array, place: number): number {
    return dotBytes(query, this.vectors, place * this.dimensions) / (this.norms[place] as number);
  }

  private fixCentre(): void {
    const centre = new Float32Array(this.dimensions);
    for (let place = 0; place < this.count; place += 1) {
      const norm = this.norms[place] as number;
      for (let index = 0; index < this.dimensions; index += 1) {
        centre[index] = (centre[index] as number) + (this.vectors[place * this.dimensions + index] as number) / norm;
      }
    }
    this.centre = centre.map((value) => value / this.count);
    for (let place = 0; place < this.count; place += 1) this.writeBits(place);
  }

  private writeBits(place: number): void {
    const at = place * this.dimensions;
    const norm = this.norms[place] as number;
    this.bits.set(this.packBits(this.vectors.subarray(at, at + this.dimensions), norm), place * this.words);
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
    const size = this.seqs.length * 2;
    const larger = <T extends Float64Array | Float32Array | Int8Array | Uint32Array>(old: T, next: T): T => {
      next.set(old as never);
      return next;
    };
    this.seqs = larger(this.seqs, new Float64Array(size));
    this.conversations = larger(this.conversations, new Float64Array(size));
    this.times = larger(this.times, new Float64Array(size));
    this.norms = larger(this.norms, new Float32Array(size));
    this.vectors = larger(this.vectors, new Int8Array(size * this.dimensions));
    this.bits = larger(this.bits, new Uint32Array(size * this.words));
  }
}
