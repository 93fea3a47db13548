import { type Category, categoryNames, type Memory } from "../memory.ts";

/** One memory in a mirrored file: a list item, whose further lines are indented. */
export interface MirrorBlock {
  text: string;
  category?: Category;
  /** Absent for an item that a person added. */
  id?: string;
}

export interface MirrorFile {
  blocks: MirrorBlock[];
  /** Everything else in the file; it is kept as it is. */
  rest: string;
}

const mark = "<!-- varve mirror:";
/** The mark of files that an earlier version wrote. */
const earlierMark = "<!-- One line is one memory.";
const title = /^# Memories of \d{4}-\d\d-\d\d\s*$/;
const item = /^[-*] (?:\((?<category>[a-z]+)\) )?(?<text>.*)$/;
const idComment = /(?<!\s)\s*<!-- (?<id>mem_[0-9a-z]{19}) -->\s*$/;

/** Whether Varve wrote a file; every other file belongs to a person and is neither read nor written. */
export function hasMirrorMark(content: string): boolean {
  return content.includes(mark) || content.includes(earlierMark);
}

export function parseMirrorFile(content: string): MirrorFile {
  const blocks: (MirrorBlock & { lines: string[] })[] = [];
  const rest: string[] = [];
  let open: (MirrorBlock & { lines: string[] }) | undefined;
  for (const line of content.split("\n")) {
    if (title.test(line) || line.startsWith(mark) || line.startsWith(earlierMark)) {
      open = undefined;
      continue;
    }
    const groups = item.exec(line)?.groups;
    if (groups) {
      const category = categoryNames.find((one) => one === groups.category);
      // A word in brackets that is no category belongs to the text.
      const text = category === undefined ? line.slice(2) : (groups.text ?? "");
      open = { text: "", lines: [text], ...(category ? { category } : {}) };
      blocks.push(open);
    } else if (open && (/^ {2}/.test(line) || line === "") && open.id === undefined) {
      open.lines.push(line.slice(2));
    } else {
      open = undefined;
      rest.push(line);
    }
    const id = open && idComment.exec(open.lines.at(-1) ?? "")?.groups?.id;
    if (open && id !== undefined) {
      open.id = id;
      open.lines.push((open.lines.pop() ?? "").replace(idComment, ""));
    }
  }
  return {
    blocks: blocks.flatMap(({ lines, ...block }) => {
      const text = unescapeComments(lines.join("\n")).trim();
      return text === "" && block.id === undefined ? [] : [{ ...block, text }];
    }),
    rest: rest.join("\n").trim(),
  };
}

export function formatMirrorFile(day: string, memories: readonly Memory[], rest: string): string {
  const head = `# Memories of ${day}\n\n${mark} change an item to change that memory, remove it to forget it, add one to store it. Other text is kept. -->\n\n`;
  const blocks = memories.map(formatBlock).join("");
  return `${head}${blocks}${rest === "" ? "" : `\n${rest}\n`}`;
}

function formatBlock({ category, content, id }: Memory): string {
  const lines = escapeComments(content.trim()).split("\n");
  return `- (${category}) ${lines.map((line, index) => (index === 0 ? line : `  ${line}`)).join("\n")} <!-- ${id} -->\n`;
}

function escapeComments(text: string): string {
  return text.replaceAll("<!--", "‹!--").replaceAll("-->", "--›");
}

function unescapeComments(text: string): string {
  return text.replaceAll("‹!--", "<!--").replaceAll("--›", "-->");
}
