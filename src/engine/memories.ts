import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { VarveError } from "../domain/index.ts";
import {
  type Applied,
  checkPath,
  computeWorth,
  decayCurve,
  decideReview,
  type Evidence,
  type Extraction,
  type FileCommand,
  type FileVersion,
  type FindRequest,
  type FoundMemories,
  fileHistory,
  findMemories,
  forgetMemory,
  getMemory,
  listMemories,
  listReviews,
  type Memory,
  type MemoryFilter,
  type MemoryMaintenance,
  type MemoryPage,
  type MemoryPatch,
  type MemoryStats,
  maintainMemories,
  type NewMemory,
  purgeMemory,
  type Reader,
  type RecordedRecall,
  type Review,
  readEvidence,
  readHistory,
  readRecallsSince,
  readStats,
  runFileCommand,
  sourcesFor,
  storeMemory,
  updateMemory,
  type Worth,
  writeScope,
} from "../memory/index.ts";
import type { Session } from "../session/index.ts";
import { readTail } from "../transcript/index.ts";
import type { EngineHost } from "./host.ts";
import { type Mirrored, mirrorMemories } from "./memory-mirror.ts";
import { memoryHost, readerOf } from "./memory-settings.ts";
import { freshenMemories } from "./memory-vectors.ts";
import { extractFrom, lookBack } from "./memory-work.ts";
import { backupFolder } from "./status.ts";

/** Who asks. Without it, the agent of the settings, with the scopes it sees. */
export interface AskedBy {
  as?: Partial<Reader>;
}

export interface OpenedMemory {
  memory: Memory;
  evidence: Evidence[];
  /** Messages it rests on that were deleted since. */
  missing: string[];
  worth: Worth;
  /** What it will be worth in the days to come, if it is not used. */
  curve: { day: number; worth: number }[];
}

export interface Forgotten {
  /** What was forgotten: one memory, or, purged, every version of it. */
  memories: string[];
  purged: boolean;
  /** Backups that may still hold what was purged; they are not touched. */
  backups: string[];
}

/** What is worth keeping. */
export interface Memories {
  /**
   * Keeps a fact; what is known already is not kept twice. Says what became of it, with the memory it is in now. With a
   * session, the words of its last messages that say it become its evidence.
   */
  add(request: NewMemory & AskedBy & { session?: Session }): Promise<Applied & { current: Memory }>;
  /** What is remembered about something, the best first. It counts as a use. */
  recall(request: Partial<FindRequest> & Pick<FindRequest, "query"> & AskedBy): Promise<FoundMemories>;
  list(request?: MemoryFilter & { limit?: number; offset?: number } & AskedBy): Promise<MemoryPage>;
  /** A memory with the words it rests on. */
  get(id: string, request?: AskedBy): Promise<OpenedMemory>;
  /** The id of the memory that words fit, when it is clear which one; an id stays itself. */
  named(words: string, request?: AskedBy & { scopes?: string[] }): Promise<string>;
  /** Every version of it, the oldest first. */
  history(id: string, request?: AskedBy): Promise<Memory[]>;
  update(id: string, patch: MemoryPatch, request?: AskedBy): Promise<Memory>;
  forget(
    what: { id: string } | { query: string; scopes?: string[] },
    request?: AskedBy & { purge?: boolean },
  ): Promise<Forgotten>;
  stats(request?: Pick<MemoryFilter, "scopes" | "category"> & AskedBy): Promise<MemoryStats>;
  /** What stands between the thresholds of admission. */
  reviews(request?: { scopes?: string[] } & AskedBy): Promise<Review[]>;
  decide(id: string, verdict: "accepted" | "rejected", request?: AskedBy): Promise<Applied | undefined>;
  /** Reads what is unseen of a session for memories, now. */
  extract(session: Session): Promise<Extraction[]>;
  /**
   * A back end for Anthropic's client-side memory tool: takes a command (`view`, `create`, `str_replace`, `insert`,
   * `delete`, `rename` under `/memories`) and answers in the tool's words. Every change is another version.
   */
  file(command: FileCommand, request?: AskedBy & { scope?: string }): Promise<string>;
  /** Every version of such a file, the oldest first. */
  fileHistory(path: string, request?: AskedBy & { scope?: string }): Promise<FileVersion[]>;
  /** What was shown in a session, the newest first. */
  shown(session: Session): Promise<RecordedRecall[]>;
  /**
   * Reads what the last day left unread, looks back on it where there is a model, moves tiers and merges what says the
   * same; then brings the mirror of `memory.mirror` up to date. `varve maintain` does it.
   */
  maintain(options?: {
    signal?: AbortSignal;
  }): Promise<MemoryMaintenance & { sessions: number; reflections: number; mirror?: Mirrored }>;
  /** Writes memories as Markdown into a folder, after bringing in what people changed there. */
  mirror(folder?: string, request?: AskedBy): Promise<Mirrored>;
}

/** How far back in a session the words of a new memory are looked for. */
const evidenceEntries = 20;
const idForm = /^mem_[0-9a-z]{19}$/;
const limitMax = 1_000;
const curveDays = 90;
/** How much better than the next a match has to be to be the one that is meant. */
const clearlyBetter = 1.25;

export function memoriesOf(host: EngineHost): Memories {
  const { store } = host;
  const { config } = host.loaded;
  const parts = () => ({ ...memoryHost(host), now: host.clock.now() });
  const reader = (request: AskedBy | undefined) => readerOf(config, request?.as);
  const open = async (id: string, by: Reader): Promise<OpenedMemory> => {
    const memory = await getMemory(store.db, by, id);
    const now = host.clock.now();
    return {
      memory,
      ...(await readEvidence(store, memory)),
      worth: computeWorth(memory, now),
      curve: decayCurve(memory, now, curveDays),
    };
  };
  return {
    async add({ as, session, ...wanted }) {
      const by = reader({ as });
      const said = session ? (await readTail(store, session, { limit: evidenceEntries })).entries : [];
      const sources = wanted.sources ?? (session ? sourcesFor(wanted.text, said, session.agent) : []);
      return storeMemory(memoryHost(host), by, { ...wanted, sources });
    },
    async recall({ as, ...request }) {
      const limit = limitOf(request.limit, 5);
      const by = reader({ as });
      const { failed, behind } = await freshenMemories(host, request.signal);
      const found = await findMemories(parts(), by, { ...request, limit });
      host.accesses.note(found.hits.filter((hit) => !hit.outdated).map((hit) => hit.memory.id));
      // The search itself may have met the same failure, and said so; or it says what serves while vectors are missing.
      const more = failed ?? (found.note === undefined ? behind : undefined);
      if (more === undefined || found.note?.includes(more)) return found;
      return { ...found, note: [found.note, more].filter(Boolean).join("; ") };
    },
    list: ({ as, limit, offset = 0, ...filter } = {}) =>
      listMemories(parts(), reader({ as }), { ...filter, limit: limitOf(limit, 50), offset }),
    get: (id, request) => open(id, reader(request)),
    async named(words, { as, scopes } = {}) {
      return idForm.test(words) ? words : theOneMeant(host, reader({ as }), { query: words, scopes });
    },
    history: (id, request) => readHistory(store.db, reader(request), id),
    update: (id, patch, request) => updateMemory(memoryHost(host), reader(request), id, patch),
    async forget(what, { as, purge = false } = {}) {
      const by = reader({ as });
      const id = "id" in what ? what.id : await theOneMeant(host, by, what);
      if (!purge) return { memories: [(await forgetMemory(memoryHost(host), by, id)).id], purged: false, backups: [] };
      const { versions } = await purgeMemory(host, by, id);
      return { memories: versions, purged: true, backups: backupsOf(host) };
    },
    stats: ({ as, ...filter } = {}) => readStats(parts(), reader({ as }), filter),
    reviews: ({ as, ...filter } = {}) => listReviews(store.db, reader({ as }), filter),
    decide: (id, verdict, request) => decideReview(memoryHost(host), reader(request), id, verdict),
    extract: async (session) => (await extractFrom(host, session, true)).batches,
    file: async (command, { as, scope } = {}) => runFileCommand(host, writeScope(reader({ as }), scope), command),
    fileHistory: async (path, { as, scope } = {}) =>
      fileHistory(store.db, writeScope(reader({ as }), scope), checkPath(path)),
    shown: (session) => readRecallsSince(store, session, 0),
    async maintain({ signal } = {}) {
      const { sessions, written } = await lookBack(host, signal);
      const kept = await maintainMemories(memoryHost(host), signal);
      const mirrored = config.memory.mirror === undefined ? {} : { mirror: await mirror(host, {}) };
      return { ...kept, sessions, reflections: written, ...mirrored };
    },
    mirror: (folder, request) => mirror(host, { folder, as: request?.as }),
  };
}

async function mirror(host: EngineHost, { folder, as }: { folder?: string } & AskedBy): Promise<Mirrored> {
  const { config, home } = host.loaded;
  const where = folder ?? config.memory.mirror;
  if (where === undefined) {
    throw new VarveError("BAD_REQUEST", "No folder for the mirror is named.", {
      remedy: "Name one, or set memory.mirror.",
    });
  }
  return mirrorMemories(memoryHost(host), readerOf(config, as), resolve(home, where));
}

function limitOf(limit: number | undefined, absent: number): number {
  if (limit === undefined) return absent;
  if (Number.isInteger(limit) && limit >= 1 && limit <= limitMax) return limit;
  throw new VarveError("BAD_REQUEST", `The limit ${limit} is not a whole number from 1 to ${limitMax}.`, {
    remedy: `Leave it out for ${absent}.`,
  });
}

/** The memory that a question is about, when it is clear which one. */
async function theOneMeant(
  host: EngineHost,
  by: Reader,
  { query, scopes }: { query: string; scopes?: string[] },
): Promise<string> {
  const found = await findMemories({ ...memoryHost(host), now: host.clock.now() }, by, { query, scopes, limit: 5 });
  const [first, second] = found.hits;
  if (!first) {
    throw new VarveError("NOT_FOUND", "No memory fits that.", { remedy: "Ask with other words, or send a memoryId." });
  }
  if (!second || first.relevance >= second.relevance * clearlyBetter) return first.memory.id;
  const list = found.hits.map((hit) => `${hit.memory.id} (${hit.memory.abstract.slice(0, 80)})`).join(", ");
  throw new VarveError("AMBIGUOUS", `Several memories fit that: ${list}.`, {
    remedy: "Send the id of the one that is meant.",
    details: { memories: found.hits.map((hit) => hit.memory.id) },
  });
}

function backupsOf({ loaded }: EngineHost): string[] {
  const folder = backupFolder(loaded.home);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /\.(?:db|jsonl\.gz)$/.test(name))
    .map((name) => join(folder, name));
}
