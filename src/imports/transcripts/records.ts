import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { TextDecoder } from "node:util";

/** One record of a file, with its position. */
export interface FileRecord {
  /** Starts at 1: the line number in a file of lines. */
  number: number;
  /** Absent when the bytes are not valid UTF-8, or too long for a string. */
  text?: string;
  /** The raw bytes of a record without text. */
  bytes?: Buffer;
  start: number;
  /** The position after the record and its line end. */
  end: number;
  /** False for a last line without a line end: it may still be growing. */
  complete: boolean;
}

export interface RecordPosition {
  byte: number;
  number: number;
}

const recordBytesMax = 400 * 1024 * 1024;
const newline = 0x0a;

/** The lines of a stream of bytes that starts at a position; blank lines are skipped but counted. */
export async function* readLines(stream: AsyncIterable<unknown>, from: RecordPosition): AsyncGenerator<FileRecord> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let start = from.byte;
  let number = from.number;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let lineStart = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, lineStart)) {
      pending.push(chunk.subarray(lineStart, at));
      pendingBytes += at - lineStart;
      number += 1;
      const record = decodeRecord(pending, { number, start, end: start + pendingBytes + 1, complete: true });
      if (record) yield record;
      start += pendingBytes + 1;
      pending = [];
      pendingBytes = 0;
      lineStart = at + 1;
    }
    // Copied, because the stream may reuse the chunk's memory.
    const rest = Buffer.from(chunk.subarray(lineStart));
    if (rest.length > 0) pending.push(rest);
    pendingBytes += rest.length;
  }
  const last = decodeRecord(pending, { number: number + 1, start, end: start + pendingBytes, complete: false });
  if (last) yield last;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

function decodeRecord(parts: Buffer[], place: Omit<FileRecord, "text" | "bytes">): FileRecord | undefined {
  const bytes = parts.length === 1 ? (parts[0] ?? Buffer.alloc(0)) : Buffer.concat(parts);
  if (bytes.length > recordBytesMax) return { ...place, bytes: bytes.subarray(0, 1024) };
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    // Not UTF-8: the caller stores the bytes.
    return { ...place, bytes: Buffer.from(bytes) };
  }
  const line = text.endsWith("\r") ? text.slice(0, -1) : text;
  return line.trim() === "" ? undefined : { ...place, text: line };
}

/** The elements of a JSON array file, each as its exact text, without loading the whole file. */
export async function* readArray(file: string, signal?: AbortSignal): AsyncGenerator<FileRecord> {
  let text = "";
  let depth = 0;
  let inString = false;
  let escaped = false;
  let number = 0;
  const finish = (complete: boolean): FileRecord | undefined => {
    const element = text.trim();
    text = "";
    if (element === "") return undefined;
    number += 1;
    return { number, text: element, start: 0, end: 0, complete };
  };
  const stream = createReadStream(file, { encoding: "utf8", highWaterMark: 1024 * 1024, signal });
  for await (const chunk of stream as AsyncIterable<string>) {
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const code = chunk.charCodeAt(at);
      if (inString) {
        if (escaped) escaped = false;
        else if (code === 0x5c) escaped = true;
        else if (code === 0x22) inString = false;
      } else if (code === 0x22) inString = true;
      else if (code === 0x5b || code === 0x7b) {
        depth += 1;
        if (depth === 1) from = at + 1;
      } else if (code === 0x5d || code === 0x7d) {
        depth -= 1;
        if (depth === 0) {
          text += chunk.slice(from, at);
          from = chunk.length;
          const record = finish(true);
          if (record) yield record;
        }
      } else if (code === 0x2c && depth === 1) {
        text += chunk.slice(from, at);
        from = at + 1;
        const record = finish(true);
        if (record) yield record;
      }
    }
    if (depth > 0) text += chunk.slice(from);
  }
  // The array is not closed: the reader reports what is wrong with its last element.
  const last = finish(false);
  if (last) yield last;
}

/** The hash by which a later import recognises a record. */
export function hashRecord(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
