import type { JsonObject, JsonValue } from "../../domain/index.ts";

/** A string that was extracted from a payload: its pieces, in order. The string at `path` is empty. */
export interface ExtractedText {
  path: (string | number)[];
  pieces: (string | ExtractedPiece)[];
}

export interface ExtractedPiece {
  file: string;
  /** The beginning of the content, so that search can rank the entry without reading the file. */
  head?: string;
}

/** The payload field that lists extracted strings. No field of an entry or message has this name. */
export const extractedField = "moved";

/** The strings extracted from a payload. */
export function listExtracted(payload: JsonObject): ExtractedText[] {
  const moved = payload[extractedField];
  return Array.isArray(moved) ? (moved as unknown as ExtractedText[]) : [];
}

export function listExtractedFiles(moved: readonly ExtractedText[]): string[] {
  const ids = moved.flatMap((one) => one.pieces.flatMap((piece) => (typeof piece === "string" ? [] : [piece.file])));
  return [...new Set(ids)];
}

/** Restores the original payload: every extracted string is put back at its path. */
export function restoreExtracted(payload: JsonObject, getContent: (file: string) => string): JsonObject {
  const moved = listExtracted(payload);
  if (moved.length === 0) return payload;
  const { [extractedField]: _moved, ...whole } = payload;
  for (const { path, pieces } of moved) setPath(whole, path, joinPieces(pieces, getContent));
  return whole;
}

/**
 * The payload as a model sees it: references replace the content. A provider's raw block that contained it is dropped,
 * because the wire writer would send the full content again.
 */
export function replaceByReferences(payload: JsonObject, getReference: (file: string) => string): JsonObject {
  const moved = listExtracted(payload);
  if (moved.length === 0) return payload;
  const { [extractedField]: _moved, ...seen } = payload;
  for (const { path, pieces } of moved) setPath(seen, path, joinPieces(pieces, getReference));
  for (const { path } of moved) dropRaw(seen, path);
  return seen;
}

/** Replaces extracted content by its beginning. */
export function replaceByHeads(payload: JsonObject): JsonObject {
  const pieces = listExtracted(payload).flatMap((one) => one.pieces.filter((piece) => typeof piece !== "string"));
  const heads = new Map(pieces.map(({ file, head }) => [file, head ?? ""]));
  return replaceByReferences(payload, (file) => heads.get(file) ?? "");
}

function joinPieces(pieces: ExtractedText["pieces"], fileText: (file: string) => string): string {
  return pieces.map((piece) => (typeof piece === "string" ? piece : fileText(piece.file))).join("");
}

export function setPath(root: JsonObject, path: readonly (string | number)[], value: string): void {
  let at: JsonValue = root;
  for (const step of path.slice(0, -1)) at = (at as Record<string | number, JsonValue>)[step] as JsonValue;
  const last = path.at(-1);
  if (last !== undefined) (at as Record<string | number, JsonValue>)[last] = value;
}

/** Removes the raw block of every part on the path, and the wire record of the message if the string was in it. */
function dropRaw(root: JsonObject, path: readonly (string | number)[]): void {
  if (path[0] === "wire") delete root.wire;
  let at: JsonValue | undefined = root;
  for (const step of path) {
    if (at === null || typeof at !== "object") return;
    if (!Array.isArray(at) && "raw" in at && at.type !== "opaque") delete at.raw;
    at = (at as Record<string | number, JsonValue>)[step];
  }
}
