import { VarveError } from "../../domain/index.ts";

const linesMax = 999_999;
const contextLines = 4;

/** A file with line numbers. */
export function formatFile(path: string, content: string, range?: [number, number] | null): string {
  const lines = content.split("\n");
  if (lines.length > linesMax)
    throw new VarveError("TOO_LARGE", `File ${path} exceeds maximum line limit of 999,999 lines.`);
  const [from, to] = range ?? [1, -1];
  const last = to === -1 ? lines.length : Math.min(to, lines.length);
  if (from < 1 || from > lines.length || last < from) {
    throw new VarveError("BAD_REQUEST", `The view_range [${from}, ${to}] is outside of the ${lines.length} lines.`, {
      remedy: "Send the first and last line; -1 means the end of the file.",
    });
  }
  return `Here's the content of ${path} with line numbers:\n${numberLines(lines, from, last)}`;
}

/** Replaces the only occurrence of `old_str`. */
export function replaceText(content: string, asked: { path: string; old_str: string; new_str: string }): string {
  const { path, old_str: before, new_str: after } = asked;
  const at = before === "" ? -1 : content.indexOf(before);
  if (at === -1) {
    throw new VarveError(
      "BAD_REQUEST",
      `No replacement was performed, old_str \`${before.slice(0, 200)}\` did not appear verbatim in ${path}.`,
      { remedy: "View the file and send text exactly as it appears there." },
    );
  }
  if (content.indexOf(before, at + 1) !== -1) {
    const lines = findOccurrences(content, before).map((place) => getLineNumber(content, place));
    throw new VarveError(
      "BAD_REQUEST",
      `No replacement was performed. Multiple occurrences of old_str \`${before.slice(0, 200)}\` in lines: ${[...new Set(lines)].join(", ")}. Please ensure it is unique`,
      { remedy: "Include more of the surrounding text." },
    );
  }
  return content.slice(0, at) + after + content.slice(at + before.length);
}

function findOccurrences(content: string, words: string): number[] {
  const places: number[] = [];
  for (let at = content.indexOf(words); at !== -1; at = content.indexOf(words, at + 1)) places.push(at);
  return places;
}

function getLineNumber(content: string, place: number): number {
  return content.slice(0, place).split("\n").length;
}

export function insertLines(content: string, asked: { insert_line: number; insert_text: string }): string {
  const lines = content.split("\n");
  const { insert_line: line, insert_text: text } = asked;
  if (line < 0 || line > lines.length) {
    throw new VarveError(
      "BAD_REQUEST",
      `Invalid \`insert_line\` parameter: ${line}. It should be within the range of lines of the file: [0, ${lines.length}]`,
      { remedy: "Use 0 to insert before the first line." },
    );
  }
  return [...lines.slice(0, line), ...text.replace(/\n$/, "").split("\n"), ...lines.slice(line)].join("\n");
}

/** The lines around an edit, as the answer to the model. */
export function formatEdit(content: string, changed: string): string {
  const at = changed === "" ? 0 : Math.max(0, content.indexOf(changed));
  const line = getLineNumber(content, at);
  const lines = content.split("\n");
  const last = Math.min(lines.length, line + changed.split("\n").length - 1 + contextLines);
  return `The memory file has been edited.\n${numberLines(lines, Math.max(1, line - contextLines), last)}`;
}

function numberLines(lines: readonly string[], from: number, to: number): string {
  return lines
    .slice(from - 1, to)
    .map((line, index) => `${String(from + index).padStart(6)}\t${line}`)
    .join("\n");
}
