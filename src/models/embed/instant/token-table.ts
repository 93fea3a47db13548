import { readFileSync } from "node:fs";
import { endianness } from "node:os";
import { VarveError } from "../../../domain/index.ts";

/** One vector for each token of the sentence model's vocabulary, weighted by how rare the token is. */
export interface TokenTable {
  dimensions: number;
  /** The place of each token; a token that continues a word starts with `##`. */
  places: ReadonlyMap<string, number>;
  /** Signed bytes, `dimensions` for each token. */
  vectors: Int8Array;
  /** The factor of a token's bytes. */
  scales: Float32Array;
}

const magic = "VARVETT1";
/** Next to `src` in a clone and next to `dist` in the package. */
const file = new URL("../../../../assets/instant-vectors.bin", import.meta.url);
/** A bundle is in `dist/program`. */
const fileOfBundle = new URL("../../assets/instant-vectors.bin", import.meta.url);

let loaded: TokenTable | undefined;

/** Reads the table of the package, once per process. */
export function loadTokenTable(): TokenTable {
  loaded ??= parseTokenTable(readAsset());
  return loaded;
}

function readAsset(): Uint8Array {
  try {
    return readFileSync(file);
  } catch {
    // Not there in a bundle; its own path reports the failure.
  }
  try {
    return readFileSync(fileOfBundle);
  } catch (cause) {
    throw new VarveError("BAD_FILE", "The file assets/instant-vectors.bin of the package cannot be read.", {
      remedy: "Install Varve again. Until then, set search.instant to false.",
      cause,
    });
  }
}

/**
 * The format: eight bytes of name, the number of tokens and of dimensions (32 bits each), the length of the vocabulary in
 * bytes (32 bits), the vocabulary with a line for each token, the scales (32-bit floats), the vectors. Little-endian.
 */
export function parseTokenTable(bytes: Uint8Array): TokenTable {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 20 || new TextDecoder().decode(bytes.subarray(0, 8)) !== magic) throw malformed();
  const [count, dimensions, length] = [8, 12, 16].map((at) => view.getUint32(at, true)) as [number, number, number];
  const scalesAt = 20 + length;
  const vectorsAt = scalesAt + 4 * count;
  if (bytes.length !== vectorsAt + count * dimensions) throw malformed();
  const words = new TextDecoder().decode(bytes.subarray(20, scalesAt)).split("\n");
  if (words.length !== count) throw malformed();
  const places = new Map<string, number>();
  for (const [place, word] of words.entries()) places.set(word, place);
  return {
    dimensions,
    places,
    vectors: new Int8Array(bytes.buffer, bytes.byteOffset + vectorsAt, count * dimensions),
    scales: readFloats(new Uint8Array(bytes.subarray(scalesAt, vectorsAt))),
  };
}

/** Decodes little-endian floats; nearly all processors have them in this form. */
function readFloats(bytes: Uint8Array<ArrayBuffer>): Float32Array {
  if (endianness() === "LE") return new Float32Array(bytes.buffer);
  const view = new DataView(bytes.buffer);
  return Float32Array.from({ length: bytes.length / 4 }, (_, place) => view.getFloat32(4 * place, true));
}

export function formatTokenTable(words: readonly string[], dimensions: number, rows: Float32Array): Uint8Array {
  const vocabulary = new TextEncoder().encode(words.join("\n"));
  const vectorsAt = 20 + vocabulary.length + 4 * words.length;
  const bytes = new Uint8Array(vectorsAt + words.length * dimensions);
  const view = new DataView(bytes.buffer);
  bytes.set(new TextEncoder().encode(magic));
  for (const [index, value] of [words.length, dimensions, vocabulary.length].entries()) {
    view.setUint32(8 + 4 * index, value, true);
  }
  bytes.set(vocabulary, 20);
  for (let place = 0; place < words.length; place += 1) {
    const row = rows.subarray(place * dimensions, (place + 1) * dimensions);
    const largest = row.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    view.setFloat32(20 + vocabulary.length + 4 * place, largest / 127, true);
    const scale = largest === 0 ? 0 : 127 / largest;
    for (let index = 0; index < dimensions; index += 1) {
      view.setInt8(vectorsAt + place * dimensions + index, Math.round((row[index] as number) * scale));
    }
  }
  return bytes;
}

function malformed(): VarveError {
  return new VarveError("BAD_FILE", "The file assets/instant-vectors.bin of the package is damaged.", {
    remedy: "Install Varve again. Until then, set search.instant to false.",
  });
}
