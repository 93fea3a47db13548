import { BlockAligner, identifyBlocks, identifyText, type Message } from "../domain/index.ts";
import type { Session, Varve } from "../index.ts";

/** A unit of a request, for the comparison with a transcript. */
export interface ComparedUnit {
  id: string;
  messages: readonly Message[];
}

/** Where an entry of the transcript is in the history of a request. */
export interface Place {
  /** The id of the unit that the entry belongs to or follows. */
  id: string;
  /** Whether the unit ends with it. */
  isLast: boolean;
}

/** Which units of a request a transcript has that others wrote too, such as an import of the client's own file. */
export interface Alignment {
  /** The entry that ends each unit that is stored completely. */
  entryIds: Map<string, string>;
  /** The blocks that are stored of the other units, and the last entry that has one. */
  partial: Map<string, { blocks: Set<string>; entryId: string }>;
  /** The entries of the active branch. */
  places: Map<string, Place>;
  seen: Set<string>;
  /** The last message of the active branch. */
  head: string;
  /** Whether the transcript has the start of the request. */
  isSame: boolean;
  /** The replies of the transcript that the request shows, which only the client that received them knows. */
  known: KnownReplies;
}

export interface KnownReplies {
  /** Whether the request has a reply of the transcript. */
  some: boolean;
  /** Whether it has the newest reply and at least half of everything else. */
  newest: boolean;
}

interface StoredBlocks {
  blocks: { block: string; entryId: string; isReply: boolean }[];
  entryIds: string[];
  head: string;
}

/** Compares a request with the active branch of a transcript, block by block: a file has a line for every block. */
export async function alignTranscript(
  varve: Varve,
  session: Session,
  units: readonly ComparedUnit[],
): Promise<Alignment> {
  const stored = await readBlocks(varve, session);
  const own = units.map(({ messages }) => messages.flatMap(identifyBlocks));
  const positions = new BlockAligner(stored.blocks.map(({ block }) => block)).match(own.flat());
  const alignment: Alignment = {
    entryIds: new Map(),
    partial: new Map(),
    places: new Map(),
    seen: new Set(stored.entryIds),
    head: stored.head,
    isSame: positions[0] !== undefined,
    known: findKnownReplies(stored, positions),
  };
  const unitOf = new Map<string, number>();
  let from = 0;
  for (const [index, { id }] of units.entries()) {
    const blocks = own[index] ?? [];
    const found = positions.slice(from, from + blocks.length);
    from += blocks.length;
    const entries = found.flatMap((at) => (at === undefined ? [] : [stored.blocks[at]?.entryId ?? ""]));
    for (const entryId of entries) unitOf.set(entryId, index);
    addUnit(alignment, id, units[index - 1]?.id, { blocks, found, entryId: entries.at(-1) });
  }
  placeEntries(alignment, stored.entryIds, units, unitOf);
  return alignment;
}

/** Whether a transcript begins with a text. */
export async function startsWith(varve: Varve, session: Session, start: string): Promise<boolean> {
  for await (const page of varve.transcripts.walk(session)) {
    return page.some((entry) => entry.type === "message" && identifyBlocks(entry.message).includes(start));
  }
  return false;
}

async function readBlocks(varve: Varve, session: Session): Promise<StoredBlocks> {
  const stored: StoredBlocks = { blocks: [], entryIds: [], head: "" };
  for await (const page of varve.transcripts.walk(session)) {
    for (const entry of page) {
      stored.entryIds.push(entry.id);
      if (entry.type === "message") stored.head = entry.id;
      const summary = entry.type === "compaction" ? identifyText("user", entry.summary) : undefined;
      const blocks = entry.type === "message" ? identifyBlocks(entry.message) : summary === undefined ? [] : [summary];
      const isReply = entry.type === "message" && entry.message.role === "assistant";
      stored.blocks.push(...blocks.map((block) => ({ block, entryId: entry.id, isReply })));
    }
  }
  return stored;
}

const knownShareMin = 0.5;

function findKnownReplies({ blocks }: StoredBlocks, positions: readonly (number | undefined)[]): KnownReplies {
  const shown = new Set(positions.filter((at) => at !== undefined));
  const newest = blocks.findLastIndex(({ isReply }) => isReply);
  return {
    some: [...shown].some((at) => blocks[at]?.isReply),
    newest: newest !== -1 && shown.has(newest) && shown.size >= blocks.length * knownShareMin,
  };
}

function addUnit(
  { entryIds, partial }: Alignment,
  id: string,
  previousId: string | undefined,
  { blocks, found, entryId }: { blocks: string[]; found: (number | undefined)[]; entryId: string | undefined },
): void {
  const missing = found.filter((at) => at === undefined).length;
  // A unit without a block of its own, such as a reminder, is stored with what precedes it.
  const before = previousId === undefined ? undefined : entryIds.get(previousId);
  const end = blocks.length === 0 ? before : entryId;
  if (end === undefined) return;
  if (missing === 0) entryIds.set(id, end);
  else partial.set(id, { blocks: new Set(blocks.filter((_, at) => found[at] !== undefined)), entryId: end });
}

/** An entry that the request does not have belongs to the unit before it. */
function placeEntries(
  { entryIds, places }: Alignment,
  stored: readonly string[],
  units: readonly ComparedUnit[],
  unitOf: ReadonlyMap<string, number>,
): void {
  let place: Place | undefined;
  for (const entryId of stored) {
    const id = units[unitOf.get(entryId) ?? -1]?.id;
    if (id !== undefined) place = { id, isLast: entryIds.get(id) === entryId };
    if (place) places.set(entryId, place);
  }
}
