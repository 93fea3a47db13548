import { closeSync, existsSync, openSync, readSync } from "node:fs";

const chunkBytes = 4 * 1024 * 1024;

/** Counts which of the texts occur in the files, byte by byte. */
export function countTextsInFiles(files: readonly string[], texts: readonly string[]): number {
  const needles = new Set(texts.map((text) => Buffer.from(text)));
  const overlap = Math.max(0, ...[...needles].map((needle) => needle.length - 1));
  const found = new Set<Buffer>();
  for (const file of files.filter((one) => existsSync(one))) {
    const descriptor = openSync(file, "r");
    try {
      const buffer = Buffer.alloc(chunkBytes + overlap);
      for (let position = 0; ; position += chunkBytes) {
        const length = readSync(descriptor, buffer, 0, buffer.length, position);
        const part = buffer.subarray(0, length);
        for (const needle of needles) if (!found.has(needle) && part.includes(needle)) found.add(needle);
        if (length < buffer.length) break;
      }
    } finally {
      closeSync(descriptor);
    }
  }
  return found.size;
}

const sampleChars = 40;
const sampleCharsMin = 16;

/** A piece of a stored JSON text that is long enough to be recognised; undefined when there is none. */
export function chooseSample(payload: string): string | undefined {
  // A string that does not end is taken to the end of the text, so that no part of it is looked at twice.
  const strings = payload.match(/"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)/g) ?? [];
  const longest = strings.reduce((best, one) => (one.length > best.length ? one : best), "");
  const sample = longest.slice(1, -1).slice(0, sampleChars);
  return sample.length >= sampleCharsMin && sample.isWellFormed() ? sample : undefined;
}
