import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeAtomically } from "../config/index.ts";
import { VarveError } from "../domain/index.ts";
import {
  type Category,
  categoryNames,
  listMemories,
  type Memory,
  type MemoryHost,
  type Reader,
  readHistory,
  storeMemory,
  updateMemory,
} from "../memory/index.ts";

export interface Mirrored {
  files: number;
  /** Lines that people changed, which are versions now. */
  updated: number;
  /** Lines that people added, which are memories now. */
  added: number;
}

const fileName = /^\d{4}-\d\d-\d\d\.md$/;
const item = /^[-*] (?:\((?<category>[a-z]+)\) )?(?<text>.*?)\s*(?:<!-- (?<id>mem_[0-9a-z]{19}) -->)?\s*$/;
const pageSize = 1_000;
const heading = (day: string) =>
  `# Memories of ${day}\n\n<!-- One line is one memory. Change a line, or add one: it is read back. A line that is removed comes back; \`varve memory forget\` forgets. -->\n\n`;

/** Brings the edits of people in, then writes what is believed now, a file a day. */
export async function mirrorMemories(host: MemoryHost, reader: Reader, folder: string): Promise<Mirrored> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const edits = await readEdits(host, reader, folder);
  const days = new Map<string, Memory[]>();
  for (let offset = 0; ; offset += pageSize) {
    const now = host.clock.now();
    const { memories } = await listMemories({ store: host.store, now }, reader, { limit: pageSize, offset });
    for (const memory of memories) {
      const day = new Date(memory.validFrom).toISOString().slice(0, 10);
      days.set(day, [...(days.get(day) ?? []), memory]);
    }
    if (memories.length < pageSize) break;
  }
  // A day whose memories have all changed since keeps its file, with nothing in it.
  for (const name of readdirSync(folder).filter((one) => fileName.test(one))) {
    if (!days.has(name.slice(0, 10))) days.set(name.slice(0, 10), []);
  }
  for (const [day, memories] of days) {
    const file = join(folder, `${day}.md`);
    const text = heading(day) + memories.toReversed().map(lineOf).join("");
    if (!existsSync(file) || readFileSync(file, "utf8") !== text) writeAtomically(file, text);
  }
  return { files: days.size, ...edits };
}

async function readEdits(host: MemoryHost, reader: Reader, folder: string): Promise<Omit<Mirrored, "files">> {
  const done = { updated: 0, added: 0 };
  for (const name of readdirSync(folder).filter((one) => fileName.test(one))) {
    for (const line of readFileSync(join(folder, name), "utf8").split("\n")) {
      const { category, text = "", id } = item.exec(line.trimEnd())?.groups ?? {};
      if (text.trim() === "") continue;
      const kind = categoryNames.find((one) => one === category);
      if (id === undefined) {
        await storeMemory(host, reader, { text, ...(kind ? { category: kind } : {}) });
        done.added += 1;
      } else if (await applyEdit(host, reader, id, { text, category: kind })) done.updated += 1;
    }
  }
  return done;
}

/** A line that differs from the version it was written from is an edit of the newest one. */
async function applyEdit(
  host: MemoryHost,
  reader: Reader,
  id: string,
  { text, category }: { text: string; category?: Category },
): Promise<boolean> {
  const versions = await readHistory(host.store.db, reader, id).catch((error: unknown) => {
    // The memory was purged, or is none of the reader's.
    if (error instanceof VarveError && error.code === "NOT_FOUND") return [];
    throw error;
  });
  const written = versions.find((one) => one.id === id);
  const newest = versions.find((one) => one.invalidatedAt === undefined);
  if (!written || !newest) return false;
  const isChanged = text !== plain(written.abstract) || (category !== undefined && category !== written.category);
  if (!isChanged || (text === plain(newest.abstract) && category === newest.category)) return false;
  await updateMemory(host, reader, newest.id, { text, ...(category === undefined ? {} : { category }) });
  return true;
}

function lineOf(memory: Memory): string {
  return `- (${memory.category}) ${plain(memory.abstract)} <!-- ${memory.id} -->\n`;
}

/** On one line, without anything that would be read as the mark of the line. */
function plain(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll("<!--", "‹!--").replaceAll("-->", "--›").trim();
}
