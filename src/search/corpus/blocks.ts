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
export function splitBlocks(lines: readonly string[]): MarkdownBlock[] {
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
    const title = (heading[2] ?? "").replace(/[ \t]+#+[ \t]*$/, "").trim();
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
