import type { JsonObject, JsonValue } from "../../domain/index.ts";

/** A string of an entry that was moved aside: what it was made of, in order. Its place in the payload is empty. */
export interface MovedText {
  path: (string | number)[];
  pieces: (string | MovedPiece)[];
}

export interface MovedPiece {
  file: string;
  /** How it begins, for readers that need not know more: a search weighs it without opening the file. */
  head?: string;
}

/** Where a payload keeps what was moved out of it. No field of an entry or a message has this name. */
export const movedField = "moved";

/** What was moved out of a payload, if anything was. The look at the text spares most payloads the rest. */
export function movedIn(payload: JsonObject): MovedText[] {
  const moved = payload[movedField];
  return Array.isArray(moved) ? (moved as unknown as MovedText[]) : [];
}

export function filesIn(moved: readonly MovedText[]): string[] {
  const ids = moved.flatMap((one) => one.pieces.flatMap((piece) => (typeof piece === "string" ? [] : [piece.file])));
  return [...new Set(ids)];
}

/** The payload as it was given: every moved string is put back where it was. */
export function restoreMoved(payload: JsonObject, contentOf: (file: string) => string): JsonObject {
  const moved = movedIn(payload);
  if (moved.length === 0) return payload;
  const { [movedField]: _moved, ...whole } = payload;
  for (const { path, pieces } of moved) setAt(whole, path, textOf(pieces, contentOf));
  return whole;
}

/**
 * The payload as a model sees it: a reference stands where the content was. A provider's own block that held it is left
 * out, because its writer would put the whole of it back.
 */
export function referMoved(payload: JsonObject, referenceOf: (file: string) => string): JsonObject {
  const moved = movedIn(payload);
  if (moved.length === 0) return payload;
  const { [movedField]: _moved, ...seen } = payload;
  for (const { path, pieces } of moved) setAt(seen, path, textOf(pieces, referenceOf));
  for (const { path } of moved) dropRaw(seen, path);
  return seen;
}

/** The payload with the beginning of what was moved in its place. */
export function headsOfMoved(payload: JsonObject): JsonObject {
  const pieces = movedIn(payload).flatMap((one) => one.pieces.filter((piece) => typeof piece !== "string"));
  const heads = new Map(pieces.map(({ file, head }) => [file, head ?? ""]));
  return referMoved(payload, (file) => heads.get(file) ?? "");
}

function textOf(pieces: MovedText["pieces"], fileText: (file: string) => string): string {
  return pieces.map((piece) => (typeof piece === "string" ? piece : fileText(piece.file))).join("");
}

export function setAt(root: JsonObject, path: readonly (string | number)[], value: string): void {
  let at: JsonValue = root;
  for (const step of path.slice(0, -1)) at = (at as Record<string | number, JsonValue>)[step] as JsonValue;
  const last = path.at(-1);
  if (last !== undefined) (at as Record<string | number, JsonValue>)[last] = value;
}

/** Every part on the way to the string loses its raw block, and so does the message's own wire record. */
function dropRaw(root: JsonObject, path: readonly (string | number)[]): void {
  if (path[0] === "wire") delete root.wire;
  let at: JsonValue | undefined = root;
  for (const step of path) {
    if (at === null || typeof at !== "object") return;
    if (!Array.isArray(at) && "raw" in at && at.type !== "opaque") delete at.raw;
    at = (at as Record<string | number, JsonValue>)[step];
  }
}
