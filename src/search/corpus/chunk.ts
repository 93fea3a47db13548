import { estimateTokens } from "../../text/index.ts";

export interface ChunkOptions {
  /** The target size of a chunk in tokens, and how many tokens of the previous chunk it repeats. */
  tokens: number;
  overlap: number;
}

/** Consecutive lines of a file. */
export interface Chunk {
  /** Line numbers from 1, both inclusive. */
  start: number;
  end: number;
  /** The part, from 1, of a line that is too long for one chunk; 0 for whole lines. */
  part: number;
  /** The headings above its first line, the outermost first. */
  heading: string;
  text: string;
  tokens: number;
}

/** Lines that stay in one chunk: a block, or a single line of a block that is too large. */
interface Unit {
  kind: MarkdownBlock["kind"];
  start: number;
  end: number;
  tokens: number;
  headings: string;
}

/** A list or a block of code stays whole up to this many times the size of a chunk. */
const wholeFactor = 2;

/**
 * Splits Markdown or plain text into chunks of whole lines. Every line is in at least one chunk. A new section starts a
 * new chunk if the current one is large enough, and a heading is never the last line unless the file ends there.
 */
export function chunkMarkdown(text: string, options: ChunkOptions): Chunk[] {
  const lines = text.split(/\r\n?|\n/);
  if (lines.at(-1) === "") lines.pop();
  const chunks: Chunk[] = [];
  let open: Unit[] = [];
  let size = 0;
  /** How many of the open units repeat the previous chunk. */
  let repeated = 0;
  const close = (next: Unit | undefined) => {
    const trailing = next === undefined ? 0 : countTrailingHeadings(open, repeated);
    const closed = open.slice(0, open.length - trailing);
    const moved = open.slice(open.length - trailing);
    if (closed.length > repeated) chunks.push(...buildChunks(closed, lines, options));
    const startsSection = (moved[0] ?? next)?.kind === "heading";
    const overlap = next === undefined || startsSection ? [] : selectOverlap(closed, lines, options.overlap);
    open = [...overlap, ...moved];
    repeated = overlap.length;
    size = sumTokens(open);
  };
  for (const unit of splitUnits(lines, options.tokens)) {
    const isFull = open.length > repeated && size + unit.tokens > options.tokens;
    const isSection = unit.kind === "heading" && size >= options.tokens / 2;
    if (isFull || isSection) close(unit);
    // The overlap must leave space for new text.
    if (repeated > 0 && open.length === repeated && size + unit.tokens > options.tokens) {
      open = [];
      repeated = 0;
      size = 0;
    }
    open.push(unit);
    size += unit.tokens;
  }
  close(undefined);
  return chunks;
}

/** Counts the headings at the end of a chunk: they belong to the next one, unless the chunk has nothing else. */
function countTrailingHeadings(units: readonly Unit[], repeated: number): number {
  let count = 0;
  while (count < units.length - repeated && units.at(-1 - count)?.kind === "heading") count += 1;
  return count === units.length - repeated ? 0 : count;
}

function splitUnits(lines: readonly string[], tokensMax: number): Unit[] {
  const path: { level: number; title: string }[] = [];
  return splitBlocks(lines).flatMap((block): Unit[] => {
    // A heading belongs to the headings above it; the text below belongs to it too.
    if (block.level !== undefined) {
      while ((path.at(-1)?.level ?? 0) >= block.level) path.pop();
    }
    const headings = path.map(({ title }) => title).join(" > ");
    if (block.level !== undefined && block.title) path.push({ level: block.level, title: block.title });
    const unit = { ...createUnit(block.kind, block.start, block.end, lines), headings };
    const most = block.kind === "text" ? tokensMax : tokensMax * wholeFactor;
    if (unit.tokens <= most) return [unit];
    // Trailing empty lines stay with the last line.
    let last = block.end;
    while (last > block.start && (lines[last - 1] ?? "").trim() === "") last -= 1;
    return Array.from({ length: last - block.start + 1 }, (_, index) => {
      const start = block.start + index;
      return { ...createUnit(block.kind, start, start === last ? block.end : start, lines), headings };
    });
  });
}

function createUnit(
  kind: Unit["kind"],
  start: number,
  end: number,
  lines: readonly string[],
): Pick<Unit, "kind" | "start" | "end" | "tokens"> {
  // Empty lines count no tokens.
  return { kind, start, end, tokens: estimateTokens(joinLines(lines, start, end).trimEnd()) };
}

/** The end of a chunk that the next one repeats: whole units, or the last lines of a paragraph. */
function selectOverlap(units: readonly Unit[], lines: readonly string[], tokensMax: number): Unit[] {
  const taken: Unit[] = [];
  let left = tokensMax;
  for (const unit of units.toReversed()) {
    if (unit.tokens <= left) {
      taken.unshift(unit);
      left -= unit.tokens;
      continue;
    }
    if (unit.kind !== "text") break;
    let start = unit.end + 1;
    let tokens = 0;
    while (start - 1 > unit.start) {
      const more = estimateTokens(joinLines(lines, start - 1, unit.end));
      if (more > left) break;
      start -= 1;
      tokens = more;
    }
    if (start <= unit.end) taken.unshift({ ...unit, start, tokens });
    break;
  }
  if (taken.every((unit) => joinLines(lines, unit.start, unit.end).trim() === "")) return [];
  // Repeating a whole chunk would store it twice.
  return taken.length === units.length && taken[0]?.start === units[0]?.start ? taken.slice(1) : taken;
}

function buildChunks(units: readonly Unit[], lines: readonly string[], { tokens }: ChunkOptions): Chunk[] {
  const [first, last] = [units[0], units.at(-1)];
  if (!first || !last) return [];
  const text = joinLines(lines, first.start, last.end);
  const whole = { start: first.start, end: last.end, heading: first.headings };
  const size = estimateTokens(text.trimEnd());
  const isOneLine = first.start === last.end || text.trim() === (lines[first.start - 1] ?? "").trim();
  if (!isOneLine || size <= tokens * wholeFactor) return [{ ...whole, part: 0, text, tokens: size }];
  return splitLine(text.trimEnd(), Math.ceil(size / tokens)).map((part, index) => ({
    ...whole,
    part: index + 1,
    text: part,
    tokens: estimateTokens(part),
  }));
}

/** Splits a line into parts of about equal length, after a space if one is near. */
function splitLine(text: string, count: number): string[] {
  const length = Math.ceil(text.length / count);
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + length);
    const space = end < text.length ? text.lastIndexOf(" ", end) : -1;
    if (space > at + length / 2) end = space + 1;
    // Surrogate pairs are not split.
    const code = text.charCodeAt(end - 1);
    if (end < text.length && code >= 0xd800 && code <= 0xdbff) end += 1;
    parts.push(text.slice(at, end));
    at = end;
  }
  return parts;
}

function joinLines(lines: readonly string[], start: number, end: number): string {
  return lines.slice(start - 1, end).join("\n");
}

function sumTokens(units: readonly Unit[]): number {
  return units.reduce((sum, unit) => sum + unit.tokens, 0);
}

/** A Markdown block (heading, fenced code, list or paragraph) with the empty lines that follow it. */
export interface MarkdownBlock {
  kind: "heading" | "code" | "list" | "text";
  /** Line numbers from 1, both inclusive. */
  start: number;
  end: number;
  /** The depth and the text of a heading. */
  level?: number;
  title?: string;
}

const headingPattern = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
const fencePattern = /^ {0,3}(`{3,}|~{3,})/;
const itemPattern = /^\s*(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;
const indentPattern = /^(?: {2,}|\t)/;

/** Every line is in exactly one block. */
function splitBlocks(lines: readonly string[]): MarkdownBlock[] {
  const blocks: MarkdownBlock[] = [];
  let at = 0;
  while (at < lines.length) {
    const start = at;
    const block = readBlock(lines, start);
    at = Math.max(start + 1, block.end);
    while (at < lines.length && isEmpty(lines[at])) at += 1;
    blocks.push({ ...block, start: start + 1, end: at });
  }
  return blocks;
}

/** The block that begins at a line; `end` is the number of lines up to its end. */
function readBlock(lines: readonly string[], start: number): Omit<MarkdownBlock, "start"> {
  const line = lines[start] ?? "";
  if (start === 0 && line.trim() === "---") {
    const end = lines.indexOf("---", 1);
    if (end > 0) return { kind: "code", end: end + 1 };
  }
  const heading = headingPattern.exec(line);
  if (heading) {
    const title = (heading[2] ?? "").replace(/(?<![ \t])[ \t]+#+[ \t]*$/, "").trim();
    return { kind: "heading", end: start + 1, level: (heading[1] ?? "#").length, title };
  }
  const fence = fencePattern.exec(line)?.[1];
  if (fence !== undefined) return { kind: "code", end: findFenceEnd(lines, start, fence) };
  if (itemPattern.test(line)) return { kind: "list", end: findListEnd(lines, start) };
  let end = start + 1;
  while (end < lines.length && !isEmpty(lines[end]) && !isBlockStart(lines[end] ?? "")) end += 1;
  return { kind: "text", end };
}

function findFenceEnd(lines: readonly string[], start: number, fence: string): number {
  for (let at = start + 1; at < lines.length; at += 1) {
    const line = (lines[at] ?? "").trim();
    if (line.length >= fence.length && line === (fence[0] ?? "").repeat(line.length)) return at + 1;
  }
  // An unclosed fence extends to the end of the file, as in Markdown renderers.
  return lines.length;
}

/** A list continues over empty lines if another item or an indented line follows. */
function findListEnd(lines: readonly string[], start: number): number {
  let end = start + 1;
  for (let at = start + 1; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    if (isEmpty(line)) continue;
    const isPart = itemPattern.test(line) || indentPattern.test(line);
    const isLazy = at === end && !headingPattern.test(line) && !fencePattern.test(line);
    if (!isPart && !isLazy) break;
    end = at + 1;
  }
  return end;
}

function isBlockStart(line: string): boolean {
  return headingPattern.test(line) || fencePattern.test(line) || itemPattern.test(line);
}

function isEmpty(line: string | undefined): boolean {
  return line !== undefined && line.trim() === "";
}
