import { projectionBytes } from "./projection-data.ts";

export const tokenDimensions = 48;

/** The projection as rows of floats; its scale does not matter, because only directions are compared. */
export function tokenProjection(): Float32Array {
  const bytes = Buffer.from(projectionBytes, "base64");
  return Float32Array.from(new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength), (value) => value / 127);
}
