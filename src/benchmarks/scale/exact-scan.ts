/** The baseline of vector searches: all vectors in one block of memory, compared one by one. */
export class ExactScan {
  private readonly dimensions: number;
  private readonly vectors: Float32Array;
  private readonly ids: string[] = [];

  constructor(dimensions: number, rows: number) {
    this.dimensions = dimensions;
    this.vectors = new Float32Array(dimensions * rows);
  }

  add(id: string, vector: Float32Array): void {
    this.vectors.set(vector, this.ids.length * this.dimensions);
    this.ids.push(id);
  }

  /** The ids of the vectors with the largest dot product. */
  nearest(query: Float32Array, limit: number): string[] {
    const best: { row: number; score: number }[] = [];
    let least = Number.NEGATIVE_INFINITY;
    for (let row = 0, at = 0; row < this.ids.length; row += 1, at += this.dimensions) {
      let score = 0;
      for (let index = 0; index < this.dimensions; index += 1) {
        score += (query[index] as number) * (this.vectors[at + index] as number);
      }
      if (score <= least) continue;
      best.push({ row, score });
      best.sort((a, b) => b.score - a.score);
      best.length = Math.min(best.length, limit);
      if (best.length === limit) least = best.at(-1)?.score ?? least;
    }
    return best.map(({ row }) => this.ids[row] ?? "");
  }
}
