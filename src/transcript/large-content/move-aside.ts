import { createHash } from "node:crypto";
import type { JsonObject, JsonValue } from "../../domain/index.ts";
import type { FileRow } from "../../store/index.ts";
import { estimateTokens } from "../../tokens/index.ts";
import { explore } from "./explore/explore.ts";
import { fileBlocks } from "./file-blocks.ts";
import { type MovedText, movedField, setAt } from "./moved.ts";

export interface Aside {
  /** The payload without what was moved. */
  payload: JsonObject;
  files: FileRow[];
}

/** Encoded bytes: a picture or a document that goes to the model as such. */
const encoded = /^[A-Za-z0-9+/=_\-\s]*$/;
const encodedProbe = 4_096;
const headCharacters = 400;
/** No script needs more than two tokens for one of its UTF-16 units, so a shorter string cannot be too large. */
const tokensPerUnitMax = 2;

/** Moves every string of a payload that holds more than `limitTokens` into a file; undefined when there is none. */
export function moveAside(payload: JsonObject, limitTokens: number): Aside | undefined {
  const large = largeStrings(payload, limitTokens);
  if (large.length === 0) return undefined;
  const rest = structuredClone(payload);
  const files = new Map<string, FileRow>();
  const moved: MovedText[] = large.map(({ path, text, hint }) => {
    const pieces = cut(text, hint, limitTokens).map((piece) => {
      if (!("move" in piece)) return piece.keep;
      const file = fileOf(piece.move, piece);
      files.set(file.id, file);
      return { file: file.id, head: piece.move.slice(0, headCharacters).toWellFormed() };
    });
    setAt(rest, path, "");
    return { path, pieces };
  });
  rest[movedField] = moved as unknown as JsonValue;
  return { payload: rest, files: [...files.values()] };
}

interface Hint {
  name?: string;
  mediaType?: string;
}

interface LargeString {
  path: (string | number)[];
  text: string;
  hint: Hint;
}

/** Walked without recursion, so that no depth of nesting can end it. */
function largeStrings(payload: JsonObject, limitTokens: number): LargeString[] {
  const found: LargeString[] = [];
  const stack: { value: JsonValue; path: (string | number)[]; hint: Hint }[] = [{ value: payload, path: [], hint: {} }];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    const { value, path, hint } = at;
    if (typeof value === "string") {
      if (isLarge(value, path, limitTokens)) found.push({ path, text: value, hint });
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) stack.push({ value: item, path: [...path, index], hint });
    } else if (value && typeof value === "object") {
      const inner = value.type === "file" ? hintOf(value) : hint;
      for (const [name, item] of Object.entries(value)) stack.push({ value: item, path: [...path, name], hint: inner });
    }
  }
  return found.reverse();
}

function isLarge(text: string, path: readonly (string | number)[], limitTokens: number): boolean {
  if (text.length * tokensPerUnitMax <= limitTokens) return false;
  const last = path.at(-1);
  // What stands for bytes is no text; only where text is expected is it taken for a pasted payload.
  const isText = last === "text" || last === "output" || last === "content";
  if ((!isText || path.includes("raw")) && encoded.test(text.slice(0, encodedProbe))) return false;
  return estimateTokens(text) > limitTokens;
}

function hintOf(part: JsonObject): Hint {
  const { name, mediaType } = part;
  return {
    ...(typeof name === "string" ? { name } : {}),
    ...(typeof mediaType === "string" ? { mediaType } : {}),
  };
}

/** A large `<file>` block leaves alone and the words around it stay; a text that is too large without goes as a whole. */
function cut(text: string, hint: Hint, limitTokens: number): ({ keep: string } | ({ move: string } & Hint))[] {
  const pieces: ({ keep: string } | ({ move: string } & Hint))[] = [];
  let end = 0;
  let kept = 0;
  for (const { from, to, ...tag } of fileBlocks(text)) {
    const body = text.slice(from, to);
    if (estimateTokens(body) <= limitTokens) continue;
    const before = text.slice(end, from);
    kept += estimateTokens(before);
    pieces.push({ keep: before }, { move: body, ...tag });
    end = to;
  }
  const rest = text.slice(end);
  if (pieces.length === 0 || kept + estimateTokens(rest) > limitTokens) return [{ move: text, ...hint }];
  return [...pieces, { keep: rest }];
}

function fileOf(content: string, hint: Hint): FileRow {
  const json = JSON.stringify(content);
  // A text with half a surrogate pair has no bytes of its own; its JSON has.
  const hashed = content.isWellFormed() ? content : json;
  const { kind, summary } = explore(content, hint);
  return {
    id: `file_${createHash("sha256").update(hashed).digest("hex").slice(0, 16)}`,
    name: hint.name ?? null,
    mediaType: hint.mediaType ?? null,
    kind,
    summary,
    bytes: Buffer.byteLength(content),
    lines: countLines(content),
    tokens: estimateTokens(content),
    content: json,
  };
}

function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines += 1;
  return text.endsWith("\n") ? lines - 1 : lines;
}
