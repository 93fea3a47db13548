import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Visibility } from "../authorization/index.ts";
import { writeAtomically } from "../config/index.ts";
import { VarveError } from "../domain/index.ts";
import { type Category, categoryNames, type Memory } from "./memory.ts";
import type { MemoryContext } from "./memory-context.ts";
import { listMemories, readHistory } from "./read.ts";
import { storeMemory, updateMemory } from "./store-memory.ts";

export interface Mirrored {
  files: number;
  /** Changed lines, which became new versions. */
  updated: number;
  /** Added lines, which became memories. */
  added: number;
}

const fileName = /^\d{4}-\d\d-\d\d\.md$/;
const item = /^[-*] (?:\((?<category>[a-z]+)\) )?(?<text>.*?)\s*(?:<!-- (?<id>mem_[0-9a-z]{19}) -->)?\s*$/;
const pageSize = 1_000;
const heading = (day: string) =>
  `# Memories of ${day}\n\n<!-- One line is one memory. Change a line, or add one: it is read back. A line that is removed comes back; \`varve memory forget\` forgets. -->\n\n`;

/** Reads back edits, then writes the current memories, one file for each day. */
export async function mirrorMemories(
  context: MemoryContext,
  visibility: Visibility,
  folder: string,
): Promise<Mirrored> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const edits = await readEdits(context, visibility, folder);
  const days = new Map<string, Memory[]>();
  for (let offset = 0; ; offset += pageSize) {
    const { memories } = await listMemories(context.store, visibility, { limit: pageSize, offset });
    for (const memory of memories) {
      const day = new Date(memory.validFrom).toISOString().slice(0, 10);
      days.set(day, [...(days.get(day) ?? []), memory]);
    }
    if (memories.length < pageSize) break;
  }
  // The file of a day without current memories is emptied, not removed.
  for (const name of readdirSync(folder).filter((one) => fileName.test(one))) {
    if (!days.has(name.slice(0, 10))) days.set(name.slice(0, 10), []);
  }
  for (const [day, memories] of days) {
    const file = join(folder, `${day}.md`);
    const text = heading(day) + memories.toReversed().map(toLine).join("");
    if (!existsSync(file) || readFileSync(file, "utf8") !== text) writeAtomically(file, text);
  }
  return { files: days.size, ...edits };
}

async function readEdits(
  context: MemoryContext,
  visibility: Visibility,
  folder: string,
): Promise<Omit<Mirrored, "files">> {
  const done = { updated: 0, added: 0 };
  for (const name of readdirSync(folder).filter((one) => fileName.test(one))) {
    for (const line of readFileSync(join(folder, name), "utf8").split("\n")) {
      const { category, text = "", id } = item.exec(line.trimEnd())?.groups ?? {};
      if (text.trim() === "") continue;
      const kind = categoryNames.find((one) => one === category);
      if (id === undefined) {
        await storeMemory(context, visibility, { text, ...(kind ? { category: kind } : {}) });
        done.added += 1;
      } else if (await applyEdit(context, visibility, id, { text, category: kind })) done.updated += 1;
    }
  }
  return done;
}

/** Applies a line that differs from the version it was written from to the newest version. */
async function applyEdit(
  context: MemoryContext,
  visibility: Visibility,
  id: string,
  { text, category }: { text: string; category?: Category },
): Promise<boolean> {
  const versions = await readHistory(context.store.db, visibility, id).catch((error: unknown) => {
    // The memory was purged, or is not visible.
    if (error instanceof VarveError && error.code === "NOT_FOUND") return [];
    throw error;
  });
  const written = versions.find((one) => one.id === id);
  const newest = versions.find((one) => one.invalidatedAt === undefined);
  if (!written || !newest) return false;
  const isChanged = text !== toOneLine(written.abstract) || (category !== undefined && category !== written.category);
  if (!isChanged || (text === toOneLine(newest.abstract) && category === newest.category)) return false;
  await updateMemory(context, visibility, newest.id, { text, ...(category === undefined ? {} : { category }) });
  return true;
}

function toLine(memory: Memory): string {
  return `- (${memory.category}) ${toOneLine(memory.abstract)} <!-- ${memory.id} -->\n`;
}

/** Puts a text on one line and escapes comment markers. */
function toOneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll("<!--", "‹!--").replaceAll("-->", "--›").trim();
}
