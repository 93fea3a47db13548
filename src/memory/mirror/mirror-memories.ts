import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Visibility } from "../../authorization/index.ts";
import { writeAtomically } from "../../config/index.ts";
import { VarveError } from "../../domain/index.ts";
import type { Memory } from "../memory.ts";
import type { MemoryContext } from "../memory-context.ts";
import { listMemories, readHistory } from "../read.ts";
import { forgetMemory, storeMemory, updateMemory } from "../store-memory.ts";
import { formatMirrorFile, hasMirrorMark, type MirrorBlock, parseMirrorFile } from "./mirror-file.ts";

export interface Mirrored {
  files: number;
  /** Changed items, which became new versions. */
  updated: number;
  /** Added items, which became memories. */
  added: number;
  /** Removed items, whose memories were forgotten. Absent when there are none. */
  forgotten?: number;
  /** Items that were changed here and in the store: both texts were kept. Absent when there are none. */
  conflicts?: number;
}

const fileName = /^\d{4}-\d\d-\d\d(?:-varve)?\.md$/;
const stateName = ".varve-mirror.json";
const pageSize = 1_000;
/** The ids that were written into each file: an id that is missing later was removed by a person. */
const stateSchema = z.object({ files: z.record(z.string(), z.array(z.string())) });
type State = z.output<typeof stateSchema>;

/** Reads back edits, then writes the current memories, one file for each day. Files without its mark are not touched. */
export async function mirrorMemories(
  context: MemoryContext,
  visibility: Visibility,
  folder: string,
): Promise<Mirrored> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const state = readState(folder);
  const { rests, contents, ...edits } = await readEdits(context, visibility, folder, state);
  const files = new Map<string, { day: string; memories: Memory[] }>();
  const addTo = (day: string, memories: readonly Memory[]) => {
    const name = chooseFile(folder, day);
    const known = files.get(name);
    files.set(name, { day, memories: [...(known?.memories ?? []), ...memories] });
  };
  for (let offset = 0; ; offset += pageSize) {
    const { memories } = await listMemories(context.store, visibility, { limit: pageSize, offset });
    // A tentative memory is not a page of somebody's notes yet.
    for (const memory of memories.filter((one) => one.tentativeUntil === undefined))
      addTo(new Date(memory.validFrom).toISOString().slice(0, 10), [memory]);
    if (memories.length < pageSize) break;
  }
  // The file of a day without current memories keeps its other text.
  for (const name of listOwnFiles(folder))
    if (!files.has(name)) files.set(name, { day: name.slice(0, 10), memories: [] });
  for (const [name, { day, memories }] of files) {
    const text = formatMirrorFile(day, memories.toReversed(), rests.get(name) ?? "");
    const file = join(folder, name);
    const present = existsSync(file) ? readFileSync(file, "utf8") : undefined;
    // Edited since it was read: the next synchronisation reads the edit first.
    if (present !== contents.get(name)) continue;
    if (present !== text) writeAtomically(file, text);
    state.files[name] = memories.map((one) => one.id);
  }
  writeAtomically(join(folder, stateName), `${JSON.stringify(state)}\n`);
  return { files: files.size, ...edits };
}

/** A person's file of the same day stays theirs: the memories of the day go into a file of another name. */
function chooseFile(folder: string, day: string): string {
  const file = join(folder, `${day}.md`);
  return !existsSync(file) || hasMirrorMark(readFileSync(file, "utf8")) ? `${day}.md` : `${day}-varve.md`;
}

function listOwnFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => fileName.test(name) && hasMirrorMark(readFileSync(join(folder, name), "utf8")))
    .sort();
}

function readState(folder: string): State {
  const file = join(folder, stateName);
  if (!existsSync(file)) return { files: {} };
  try {
    return stateSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    // Without a readable state nothing counts as removed.
    return { files: {} };
  }
}

async function readEdits(
  context: MemoryContext,
  visibility: Visibility,
  folder: string,
  state: State,
): Promise<Omit<Mirrored, "files"> & { rests: Map<string, string>; contents: Map<string, string> }> {
  const done = { updated: 0, added: 0, forgotten: 0, conflicts: 0 };
  const rests = new Map<string, string>();
  const contents = new Map<string, string>();
  const present = new Set<string>();
  for (const name of listOwnFiles(folder)) {
    const content = readFileSync(join(folder, name), "utf8");
    contents.set(name, content);
    const { blocks, rest } = parseMirrorFile(content);
    rests.set(name, rest);
    const written = new Set(state.files[name]);
    for (const block of blocks) {
      if (block.id !== undefined) present.add(block.id);
      const isReturned = block.id !== undefined && !written.has(block.id);
      const outcome = await applyBlock(context, visibility, block, isReturned);
      if (outcome !== undefined) done[outcome] += 1;
    }
  }
  for (const [name, ids] of Object.entries(state.files)) {
    // A file that is missing or empty may be in the middle of being saved: only a removed item is forgotten.
    if (!rests.has(name)) continue;
    for (const id of ids) {
      if (!present.has(id) && (await forgetRemoved(context, visibility, id))) done.forgotten += 1;
    }
  }
  const { forgotten, conflicts, ...counts } = done;
  return {
    ...counts,
    ...(forgotten > 0 ? { forgotten } : {}),
    ...(conflicts > 0 ? { conflicts } : {}),
    rests,
    contents,
  };
}

async function applyBlock(
  context: MemoryContext,
  visibility: Visibility,
  { id, text, category }: MirrorBlock,
  isReturned: boolean,
): Promise<"added" | "updated" | "conflicts" | undefined> {
  const kind = category === undefined ? {} : { category };
  if (id === undefined) {
    await storeMemory(context, visibility, { text, ...kind });
    return "added";
  }
  const versions = await readVersions(context, visibility, id);
  const written = versions.find((one) => one.id === id);
  if (!written || text === "") return undefined;
  // A person who puts a removed item back wants its memory back.
  if (isReturned && written.forgottenAt !== undefined && !versions.some(isCurrent)) {
    await storeMemory(context, visibility, { text, ...kind, scope: written.scope, force: true });
    return "added";
  }
  const isSame = (one: Memory) => text === one.content.trim() && (category === undefined || category === one.category);
  // Files of an earlier version contain only the first sentence.
  if (isSame(written) || text === written.abstract || versions.some(isSame)) return undefined;
  if (isCurrent(written)) {
    await updateMemory(context, visibility, id, { text, ...kind });
    return "updated";
  }
  // The memory was changed in the store as well, or forgotten: nobody's text is lost.
  await storeMemory(context, visibility, { text, ...kind, scope: written.scope, force: true });
  return "conflicts";
}

function isCurrent({ invalidatedAt, forgottenAt }: Memory): boolean {
  return invalidatedAt === undefined && forgottenAt === undefined;
}

/** Forgets a memory whose item was removed, unless it has changed since it was written. */
async function forgetRemoved(context: MemoryContext, visibility: Visibility, id: string): Promise<boolean> {
  const written = (await readVersions(context, visibility, id)).find((one) => one.id === id);
  if (!written || !isCurrent(written)) return false;
  await forgetMemory(context, visibility, id);
  return true;
}

async function readVersions(context: MemoryContext, visibility: Visibility, id: string): Promise<Memory[]> {
  try {
    return await readHistory(context.store.db, visibility, id);
  } catch (error) {
    // The memory was purged, or is not visible.
    if (error instanceof VarveError && error.code === "NOT_FOUND") return [];
    throw error;
  }
}
