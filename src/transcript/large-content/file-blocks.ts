/** A `<file …>…</file>` block of a text: where its body is, and what the tag says of it. */
export interface FileBlock {
  from: number;
  to: number;
  name?: string;
  mediaType?: string;
}

const opening = /<file\b([^<>]{0,2000})>/gi;
const closing = "</file>";

/** The blocks of a text, outermost and in order. A block that is not closed is no block. */
export function fileBlocks(text: string): FileBlock[] {
  const blocks: FileBlock[] = [];
  const lower = text.toLowerCase();
  opening.lastIndex = 0;
  for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
    const from = match.index + match[0].length;
    if (match[1]?.endsWith("/")) continue;
    const to = lower.indexOf(closing, from);
    if (to === -1) break;
    const name = attribute(match[1] ?? "", ["name", "path", "filename", "src"]);
    const mediaType = attribute(match[1] ?? "", ["mime", "media-type", "mediatype", "type"]);
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

function attribute(tag: string, names: readonly string[]): string | undefined {
  for (const name of names) {
    const found = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, "i").exec(tag);
    const value = found?.[1] ?? found?.[2] ?? found?.[3];
    if (value) return value;
  }
  return undefined;
}
