import { createHash } from "node:crypto";
import type { JsonObject, JsonValue } from "../../domain/index.ts";
import type { FileRow } from "../../store/index.ts";
import { estimateTokens } from "../../text/index.ts";
import { exploreText } from "./explore/explore.ts";
import { type ExtractedText, extractedField, setPath } from "./extracted-text.ts";

export interface ExtractedContent {
  /** The payload with the extracted strings emptied. */
  payload: JsonObject;
  files: FileRow[];
}

/** Base64: an image or document that is sent to the model as bytes. */
const encoded = /^[A-Za-z0-9+/=_\-\s]*$/;
const encodedProbe = 4_096;
const headCharacters = 400;
/** No script needs more than two tokens per UTF-16 unit, so a shorter string cannot exceed the limit. */
const tokensPerUnitMax = 2;

/** Extracts every string of a payload that exceeds `limitTokens` into a file; `undefined` when there is none. */
export function extractLargeContent(payload: JsonObject, limitTokens: number): ExtractedContent | undefined {
  const large = findLargeStrings(payload, limitTokens);
  if (large.length === 0) return undefined;
  const rest = structuredClone(payload);
  const files = new Map<string, FileRow>();
  const moved: ExtractedText[] = large.map(({ path, text, hint }) => {
    const pieces = splitText(text, hint, limitTokens).map((piece) => {
      if (!("move" in piece)) return piece.keep;
      const file = toFileRow(piece.move, piece);
      files.set(file.id, file);
      return { file: file.id, head: piece.move.slice(0, headCharacters).toWellFormed() };
    });
    setPath(rest, path, "");
    return { path, pieces };
  });
  rest[extractedField] = moved as unknown as JsonValue;
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

/** Iterative, so that deep nesting cannot overflow the stack. */
function findLargeStrings(payload: JsonObject, limitTokens: number): LargeString[] {
  const found: LargeString[] = [];
  const stack: { value: JsonValue; path: (string | number)[]; hint: Hint }[] = [{ value: payload, path: [], hint: {} }];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    const { value, path, hint } = at;
    if (typeof value === "string") {
      if (isLarge(value, path, limitTokens)) found.push({ path, text: value, hint });
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) stack.push({ value: item, path: [...path, index], hint });
    } else if (value && typeof value === "object") {
      const inner = value.type === "file" ? readHint(value) : hint;
      for (const [name, item] of Object.entries(value)) stack.push({ value: item, path: [...path, name], hint: inner });
    }
  }
  return found.reverse();
}

function isLarge(text: string, path: readonly (string | number)[], limitTokens: number): boolean {
  if (text.length * tokensPerUnitMax <= limitTokens) return false;
  const last = path.at(-1);
  // Base64 is not text. Only where text is expected is it treated as pasted content.
  const isText = last === "text" || last === "output" || last === "content";
  if ((!isText || path.includes("raw")) && encoded.test(text.slice(0, encodedProbe))) return false;
  return estimateTokens(text) > limitTokens;
}

function readHint(part: JsonObject): Hint {
  const { name, mediaType } = part;
  return {
    ...(typeof name === "string" ? { name } : {}),
    ...(typeof mediaType === "string" ? { mediaType } : {}),
  };
}

/**
 * Extracts large `<file>` blocks and keeps the text around them; if that is still too large, extracts the whole text.
 */
function splitText(text: string, hint: Hint, limitTokens: number): ({ keep: string } | ({ move: string } & Hint))[] {
  const pieces: ({ keep: string } | ({ move: string } & Hint))[] = [];
  let end = 0;
  let kept = 0;
  for (const { from, to, ...tag } of findFileBlocks(text)) {
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

function toFileRow(content: string, hint: Hint): FileRow {
  const json = JSON.stringify(content);
  // A text with a lone surrogate has no UTF-8 form; its JSON has.
  const hashed = content.isWellFormed() ? content : json;
  const { kind, summary } = exploreText(content, hint);
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

/** A `<file …>…</file>` block of a text: the range of its body, and the attributes of its tag. */
interface FileBlock {
  from: number;
  to: number;
  name?: string;
  mediaType?: string;
}

const opening = /<file\b([^<>]{0,2000})>/gi;
const closing = "</file>";

/** Finds the outermost blocks in order. A block that is not closed is ignored. */
function findFileBlocks(text: string): FileBlock[] {
  const blocks: FileBlock[] = [];
  const lower = text.toLowerCase();
  opening.lastIndex = 0;
  for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
    const from = match.index + match[0].length;
    if (match[1]?.endsWith("/")) continue;
    const to = lower.indexOf(closing, from);
    if (to === -1) break;
    const name = readAttribute(match[1] ?? "", ["name", "path", "filename", "src"]);
    const mediaType = readAttribute(match[1] ?? "", ["mime", "media-type", "mediatype", "type"]);
    blocks.push({
      from,
      to,
      ...(name === undefined ? {} : { name }),
      ...(mediaType === undefined ? {} : { mediaType }),
    });
    opening.lastIndex = to + closing.length;
  }
  return blocks;
}

function readAttribute(tag: string, names: readonly string[]): string | undefined {
  for (const name of names) {
    const found = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, "i").exec(tag);
    const value = found?.[1] ?? found?.[2] ?? found?.[3];
    if (value) return value;
  }
  return undefined;
}
