/** Characters of tool output that say what it is: about one piece of the sentence model. */
const toolHead = 500;
const toolTail = 150;
/** Lines of a code block that are kept. */
const codeLines = 4;
/** Longer lines are data, not prose. */
const lineMax = 1_000;

/**
 * Shortens a text to what a sentence model can use. Tool output becomes its beginning and end, which say what it is;
 * code blocks, repeated lines and very long lines are shortened. Words and instant vectors still cover all of it.
 */
export function condenseText(role: string, text: string): string {
  if (role === "tool") return keepEnds(text, toolHead, toolTail);
  const kept: string[] = [];
  const seen = new Set<string>();
  let inCode = false;
  let codeCount = 0;
  for (const line of text.split("\n")) {
    const trimmed = line.trim();
    if (/^(?:```|~~~)/.test(trimmed)) {
      inCode = !inCode;
      codeCount = 0;
      continue;
    }
    if (trimmed === "" || seen.has(trimmed)) continue;
    if (inCode) {
      codeCount += 1;
      if (codeCount > codeLines) continue;
    }
    seen.add(trimmed);
    kept.push(line.length > lineMax && isData(line) ? line.slice(0, lineMax) : line);
  }
  return kept.length === 0 ? text : kept.join("\n");
}

function keepEnds(text: string, head: number, tail: number): string {
  const plain = text.trim();
  if (plain.length <= head + tail) return plain;
  return `${plain.slice(0, head)}\n${plain.slice(-tail)}`;
}

/** Prose has a space at least every 40 characters; minified code, base64 and JSON do not. */
function isData(line: string): boolean {
  return line.split(" ").length < line.length / 40;
}
