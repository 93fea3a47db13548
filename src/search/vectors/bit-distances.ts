import { type BitKernel, openBitKernel } from "./bit-kernel.ts";
import { popCount } from "./math.ts";

let kernel: BitKernel | undefined;
let isOpened = false;

/** The number of bits in which each row, of as many words as the target, differs from the target. */
export function computeBitDistances(bits: Uint32Array, count: number, target: Uint32Array): Uint16Array {
  const distances = new Uint16Array(count);
  if (!isOpened) kernel = openBitKernel();
  isOpened = true;
  const width = target.byteLength;
  const rowsMax = width % 16 === 0 ? (kernel?.rowsMax(width) ?? 0) : 0;
  if (!kernel || rowsMax === 0) return compareWords(bits, target, distances);
  const query = new Uint8Array(target.buffer, target.byteOffset, width);
  for (let from = 0; from < count; from += rowsMax) {
    const rows = Math.min(rowsMax, count - from);
    const bytes = new Uint8Array(bits.buffer, bits.byteOffset + from * width, rows * width);
    kernel.compare(query, bytes, distances.subarray(from, from + rows));
  }
  return distances;
}

function compareWords(bits: Uint32Array, target: Uint32Array, distances: Uint16Array): Uint16Array {
  for (let place = 0, at = 0; place < distances.length; place += 1) {
    let distance = 0;
    for (let word = 0; word < target.length; word += 1, at += 1) {
      distance += popCount((bits[at] as number) ^ (target[word] as number));
    }
    distances[place] = distance;
  }
  return distances;
}
