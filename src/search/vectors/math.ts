/** A dot product of a float query with signed bytes. */
export function dotBytes(query: Float32Array, bytes: Int8Array, at: number): number {
  let sum = 0;
  const { length } = query;
  for (let index = 0; index < length; index += 1) sum += (query[index] as number) * (bytes[at + index] as number);
  return sum;
}

export function computeByteNorm(bytes: Int8Array, at: number, length: number): number {
  let sum = 0;
  for (let index = at; index < at + length; index += 1) {
    const value = bytes[index] as number;
    sum += value * value;
  }
  return Math.sqrt(sum);
}

export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index += 1) sum += (a[index] as number) * (b[index] as number);
  return sum;
}

/** Converts bytes to floats, multiplied by a factor. */
export function scaleBytes(bytes: Int8Array, at: number, length: number, factor: number): Float32Array {
  const out = new Float32Array(length);
  for (let index = 0; index < length; index += 1) out[index] = (bytes[at + index] as number) * factor;
  return out;
}

/** The number of set bits. */
export function popCount(value: number): number {
  let bits = value - ((value >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Database bytes as signed bytes, without a copy. */
export function toSignedBytes(bytes: Uint8Array): Int8Array {
  return new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Signed bytes as database bytes, without a copy. */
export function toUnsignedBytes(bytes: Int8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
