import type { VectorPage } from "./port.ts";

export interface VectorRow {
  seq: number;
  conversation: number;
  time: number;
  vector: Uint8Array;
}

export function createVectorPage(rows: number, dimensions: number): VectorPage {
  return {
    seqs: new Float64Array(rows),
    conversations: new Float64Array(rows),
    times: new Float64Array(rows),
    vectors: new Int8Array(rows * dimensions),
  };
}

export function setVectorRow(page: VectorPage, index: number, { seq, conversation, time, vector }: VectorRow): void {
  page.seqs[index] = seq;
  page.conversations[index] = conversation;
  page.times[index] = time;
  page.vectors.set(new Int8Array(vector.buffer, vector.byteOffset, vector.length), index * vector.length);
}
