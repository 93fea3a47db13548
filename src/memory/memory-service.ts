import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { owner, type Requester, resolveVisibility, type Visibility, writeScope } from "../authorization/index.ts";
import { backupFolder, type LoadedConfig } from "../config/index.ts";
import type { Entry } from "../domain/index.ts";
import { type EngineEvent, VarveError } from "../domain/index.ts";
import type { JobQueue } from "../jobs/index.ts";
import type { Generate } from "../models/index.ts";
import type { FindMemories, SearchIndex, SearchService } from "../search/index.ts";
import { resolveConversationPrincipal, type Session } from "../session/index.ts";
import type { Store } from "../store/index.ts";
import { captureInText, readTail } from "../transcript/index.ts";
import { type AccessCounter, createAccessCounter } from "./access.ts";
import { computeDecayCurve, computeWorth, type Worth } from "./decay.ts";
import type { AppliedDecision } from "./decisions.ts";
import type { Extraction } from "./extract/extract-batch.ts";
import { createExtractor, type ExtractionPreview } from "./extract/extraction-jobs.ts";
import { countBacklog, type ExtractionBacklog } from "./extract/unread.ts";
import { extractUtterance, splitSentences } from "./extract/utterances.ts";
import { type FileVersion, readFileHistory } from "./files/rows.ts";
import { checkPath, type FileCommand, runFileCommand } from "./files/run-file-command.ts";
import { type MemoryMaintenance, maintainMemories } from "./maintain-memories.ts";
import type { Memory, Source } from "./memory.ts";
import type { MemoryContext } from "./memory-context.ts";
import { followMirror, type MirrorFollower } from "./mirror/follow-mirror.ts";
import { type Mirrored, mirrorMemories } from "./mirror/mirror-memories.ts";
import {
  type Evidence,
  getMemory,
  listMemories,
  type MemoryFilter,
  type MemoryPage,
  type MemoryStats,
  readEvidence,
  readHistory,
  readStats,
} from "./read.ts";
import { type FindRequest, type FoundMemories, findMemories, searchMemories } from "./recall/find-memories.ts";
import { type PromptRecall, type PromptRecallRequest, recallForPrompt } from "./recall/prompt-recall.ts";
import { type RecordedRecall, readRecallsSince } from "./recall/recorded.ts";
import { listConflicts, listReviews, type Review } from "./review.ts";
import { computeCoverage } from "./similarity.ts";
import {
  forgetMemory,
  type MemoryPatch,
  type NewMemory,
  purgeMemory,
  restoreMemory,
  storeMemory,
  updateMemory,
} from "./store-memory.ts";
import { decideReview } from "./tentative.ts";

export interface OpenedMemory {
  memory: Memory;
  evidence: Evidence[];
  /** Messages it is based on that were deleted since. */
  missing: string[];
  /** Messages it is based on that are in conversations the reader may not see. */
  withheld: string[];
  worth: Worth;
  /** Its worth on the coming days, if it is not used. */
  curve: { day: number; worth: number }[];
}

/** How a memory fades. */
export interface DecayCurve {
  now: number;
  /** The worth now, 0 to 1. */
  worth: number;
  /** Below this worth a memory counts as stale. */
  staleBelow: number;
  points: { time: number; worth: number }[];
}

export interface Forgotten {
  /** The forgotten memory or, when purged, every version of it. */
  memories: string[];
  purged: boolean;
  /** Backups that may still contain what was purged; they are not changed. */
  backups: string[];
}

/** Stores, finds and maintains memories. */
export interface MemoryService {
  /**
   * Stores a fact, unless it is known already. Returns the decision and the memory that now contains the fact. With a
   * session, the last messages that say it become its evidence.
   */
  add(request: NewMemory & Requester & { session?: Session }): Promise<AppliedDecision & { current: Memory }>;
  /** The memories that match a query, best first. Recalled memories count as used, unless `asOf` looks into the past. */
  recall(request: Partial<FindRequest> & Pick<FindRequest, "query"> & Requester): Promise<FoundMemories>;
  /** The memories, messages and notes that are relevant enough for a prompt to be added to its context. */
  recallForPrompt(request: PromptRecallRequest): Promise<PromptRecall>;
  list(request?: MemoryFilter & { limit?: number; offset?: number } & Requester): Promise<MemoryPage>;
  /** A memory with the passages it is based on. */
  get(id: string, request?: Requester): Promise<OpenedMemory>;
  /** The id of the memory that a description matches, if the match is unambiguous; an id is returned unchanged. */
  named(words: string, request?: Requester & { scopes?: string[] }): Promise<string>;
  /** Every version of it, the oldest first. */
  history(id: string, request?: Requester): Promise<Memory[]>;
  update(id: string, patch: MemoryPatch, request?: Requester): Promise<Memory>;
  forget(
    what: { id: string } | { query: string; scopes?: string[] },
    request?: Requester & { purge?: boolean },
  ): Promise<Forgotten>;
  /** Takes a memory back that was forgotten, unless another version of it is believed now. */
  restore(id: string, request?: Requester): Promise<Memory>;
  /** The worth of a memory from its last use on, if it is not used again. */
  decay(id: string, options?: { days?: number } & Requester): Promise<DecayCurve>;
  stats(
    request?: Pick<MemoryFilter, "scopes" | "category"> & { limit?: number; offset?: number } & Requester,
  ): Promise<MemoryStats & { unread: ExtractionBacklog }>;
  /**
   * Candidates that admission held, each with its tentative memory; with `refused`, the ones it refused in the last 30
   * days (`advanced.memory.tentativeDays`).
   */
  reviews(request?: { scopes?: string[]; refused?: boolean } & Requester): Promise<Review[]>;
  /** Pairs of believed memories that may be in conflict, the newest first. */
  conflicts(request?: { scopes?: string[] } & Requester): Promise<[Memory, Memory][]>;
  decide(id: string, verdict: "accepted" | "rejected", request?: Requester): Promise<AppliedDecision | undefined>;
  /** Extracts memories from the unread messages of a session, now. */
  extract(session: Session): Promise<Extraction[]>;
  /** Finds statements in the unread messages of a session by the built-in rules; nothing is written. */
  previewExtraction(session: Session): Promise<ExtractionPreview>;
  /**
   * A back end for Anthropic's client-side memory tool: takes a command (`view`, `create`, `str_replace`, `insert`,
   * `delete`, `rename` under `/memories`) and answers as the tool does. Every change creates a version.
   */
  file(command: FileCommand, request?: Requester & { scope?: string }): Promise<string>;
  /** Every version of such a file, the oldest first. */
  fileHistory(path: string, request?: Requester & { scope?: string }): Promise<FileVersion[]>;
  /** The memories that were put into the context of a session, the newest first. */
  shown(session: Session): Promise<RecordedRecall[]>;
  /**
   * Extracts from the last day's unread messages and from imported history, reflects on the last day if a model is
   * configured, updates tiers, merges near-duplicates and updates the mirror of `memory.mirror`. `varve maintain` calls
   * it.
   */
  maintain(options?: {
    signal?: AbortSignal;
  }): Promise<MemoryMaintenance & { sessions: number; reflections: number; mirror?: Mirrored }>;
  /** Writes memories as Markdown files into a folder, after reading back edits made there. */
  mirror(folder?: string, request?: Requester): Promise<Mirrored>;
  /** Keeps the mirror of `memory.mirror` current until the engine is closed; without the setting it does nothing. */
  followMirror(onError?: (error: unknown) => void): void;
}

/** How many entries of a session are searched for the evidence of a new memory. */
const evidenceEntries = 20;
const idForm = /^mem_[0-9a-z]{19}$/;
const limitMax = 1_000;
const curveDays = 90;
const dayMs = 86_400_000;
/** How many times better than the next one a match must be to be unambiguous. */
const clearlyBetter = 1.25;

/** The part of the memory service that other modules use. */
export interface MemoryIndex {
  readonly context: MemoryContext;
  readonly accesses: AccessCounter;
  /** Finds memories for a search. */
  findForSearch: FindMemories;
  close(): Promise<void>;
}

export interface MemoryServiceOptions {
  loaded: LoadedConfig;
  store: Store;
  search: SearchService & SearchIndex;
  /** Extracts and compares memories; built-in rules do it without one. */
  generate?: Generate;
  jobs: JobQueue;
  emit(event: EngineEvent): void;
}

const mirrorIntervalMs = 2_000;

/** Uses of memories are collected for this long before they are written. */
const accessDebounceMs = 2_000;

export function createMemoryService(options: MemoryServiceOptions): MemoryService & MemoryIndex {
  const { loaded, store, search, generate, jobs, emit } = options;
  const { config } = loaded;
  const context: MemoryContext = {
    store,
    embeddings: search.context,
    timeZone: config.timezone,
    singleValued: config.memory.singleValued,
    settings: config.advanced.memory,
    ...(generate ? { generate } : {}),
  };
  const accesses = createAccessCounter(context, accessDebounceMs);
  const extractor = createExtractor({ context, config, jobs, emit });
  let follower: MirrorFollower | undefined;
  const resolveFor = (request: Requester | undefined) => resolveVisibility(config, request);
  const mirror = async (folder: string | undefined, request: Requester | undefined): Promise<Mirrored> => {
    const where = folder ?? config.memory.mirror;
    if (where === undefined) {
      throw new VarveError("BAD_REQUEST", "No folder is given for the mirror.", {
        remedy: "Pass a folder, or set memory.mirror.",
      });
    }
    return mirrorMemories(context, resolveFor(request), resolve(loaded.home, where));
  };
  return {
    context,
    accesses,
    findForSearch: (visibility, request) => searchMemories(context, visibility, request),
    async add({ principal: given, agent, session, ...wanted }) {
      const principal = given ?? (session && (await resolveConversationPrincipal(store, config, session)));
      const visibility = resolveFor({ principal, agent: agent ?? session?.agent });
      const entries = session ? (await readTail(store, session, { limit: evidenceEntries })).entries : [];
      const sources = wanted.sources ?? (session ? findEvidence(wanted.text, entries, session.agent) : []);
      const text = await captureInText(store, visibility.agent, wanted.text);
      return storeMemory(context, visibility, { ...wanted, text, sources });
    },
    async recall({ principal, agent, ...request }) {
      if (request.query.trim() === "") {
        throw new VarveError("BAD_REQUEST", "The query is empty.", { remedy: "Send what to look for." });
      }
      const limit = checkLimit(request.limit, 5);
      const { failed, pending } = await search.embedRecentMemories(request.signal);
      const found = await findMemories(context, resolveFor({ principal, agent }), { ...request, limit });
      // A look into the past is no use of what is believed now.
      if (request.asOf === undefined)
        accesses.record(found.hits.filter((hit) => !hit.outdated).map((hit) => hit.memory.id));
      // The search itself may have reported the same failure, or which space is searched while vectors are missing.
      const more = failed ?? (found.note === undefined ? pending : undefined);
      if (more === undefined || found.note?.includes(more)) return found;
      return { ...found, note: [found.note, more].filter(Boolean).join("; ") };
    },
    recallForPrompt: (request) => recallForPrompt({ context, search, config }, request),
    list: ({ principal, agent, limit, offset = 0, ...filter } = {}) =>
      listMemories(store, resolveFor({ principal, agent }), { ...filter, limit: checkLimit(limit, 50), offset }),
    async get(id, request) {
      const memory = await getMemory(store.db, resolveFor(request), id);
      const now = store.clock.now();
      return {
        memory,
        ...(await readEvidence(store, memory, request?.principal ?? owner)),
        worth: computeWorth(memory, now, context.settings.decay),
        curve: computeDecayCurve(memory, now, { days: curveDays }, context.settings.decay),
      };
    },
    async named(words, { scopes, ...request } = {}) {
      return idForm.test(words) ? words : findOne(context, resolveFor(request), { query: words, scopes });
    },
    history: (id, request) => readHistory(store.db, resolveFor(request), id),
    async update(id, patch, request) {
      const visibility = resolveFor(request);
      const { text: given, ...rest } = patch;
      const text = given === undefined ? {} : { text: await captureInText(store, visibility.agent, given) };
      return updateMemory(context, visibility, id, { ...rest, ...text });
    },
    async forget(what, { purge = false, ...request } = {}) {
      const visibility = resolveFor(request);
      const id = "id" in what ? what.id : await findOne(context, visibility, what);
      follower?.notify();
      if (!purge) {
        return { memories: [(await forgetMemory(context, visibility, id)).id], purged: false, backups: [] };
      }
      const { versions } = await purgeMemory(store, visibility, id);
      return { memories: versions, purged: true, backups: listBackups(loaded.home) };
    },
    async restore(id, request) {
      const restored = await restoreMemory(context, resolveFor(request), id);
      follower?.notify();
      return restored;
    },
    async decay(id, { days = curveDays, ...request } = {}) {
      const memory = await getMemory(store.db, resolveFor(request), id);
      const from = memory.lastAccessedAt ?? memory.createdAt;
      const now = store.clock.now();
      const passed = Math.max(0, now - from) / dayMs;
      const points = computeDecayCurve(memory, from, { days: passed + days, points: 60 }, context.settings.decay);
      return {
        now,
        worth: computeWorth(memory, now, context.settings.decay).composite,
        staleBelow: context.settings.decay.staleBelow,
        points: points.map(({ day, worth }) => ({ time: Math.round(from + day * dayMs), worth })),
      };
    },
    async stats({ principal, agent, ...filter } = {}) {
      const visibility = resolveFor({ principal, agent });
      const unread = await countBacklog(store, visibility.agent);
      return { ...(await readStats(store, visibility, filter)), unread };
    },
    reviews: ({ principal, agent, ...filter } = {}) =>
      listReviews(store.db, resolveFor({ principal, agent }), filter, store.clock.now()),
    conflicts: ({ principal, agent, ...filter } = {}) =>
      listConflicts(store.db, resolveFor({ principal, agent }), filter.scopes),
    decide: (id, verdict, request) => decideReview(context, resolveFor(request), id, verdict),
    previewExtraction: (session) => extractor.preview(session),
    extract: async (session) => (await extractor.extract(session, { all: true, isExplicit: true })).batches,
    file: async (command, { scope, ...request } = {}) =>
      runFileCommand(store, writeScope(resolveFor(request), scope), command),
    fileHistory: async (path, { scope, ...request } = {}) =>
      readFileHistory(store.db, writeScope(resolveFor(request), scope), checkPath(path)),
    shown: (session) => readRecallsSince(store, session, 0),
    async maintain({ signal } = {}) {
      const { sessions, written } = await extractor.reviewLastDay(signal);
      await extractor.extractBacklog(signal);
      const maintained = await maintainMemories(context, signal);
      const mirrored = config.memory.mirror === undefined ? {} : { mirror: await mirror(undefined, undefined) };
      return { ...maintained, sessions, reflections: written, ...mirrored };
    },
    mirror,
    followMirror(onError = () => undefined) {
      if (config.memory.mirror === undefined || follower) return;
      follower = followMirror({
        folder: resolve(loaded.home, config.memory.mirror),
        sync: () => mirror(undefined, undefined),
        readLast: () => readLastNumber(store),
        debounceMs: config.search.watchDebounceMs,
        intervalMs: mirrorIntervalMs,
        onError,
      });
    },
    async close() {
      await follower?.stop();
      await accesses.stop();
    },
  };
}

/** The number of the newest version of any memory. */
async function readLastNumber({ db }: Store): Promise<number> {
  const row = await db
    .selectFrom("memories")
    .select((eb) => eb.fn.max("num").as("num"))
    .executeTakeFirst();
  return Number(row?.num ?? 0);
}

function checkLimit(limit: number | undefined, fallback: number): number {
  if (limit === undefined) return fallback;
  if (Number.isInteger(limit) && limit >= 1 && limit <= limitMax) return limit;
  throw new VarveError("BAD_REQUEST", `The limit ${limit} is not a whole number from 1 to ${limitMax}.`, {
    remedy: `Use a number in this range, or omit it for the default of ${fallback}.`,
  });
}

/** The memory that a query matches, if the match is unambiguous. */
async function findOne(
  context: MemoryContext,
  visibility: Visibility,
  { query, scopes }: { query: string; scopes?: string[] },
): Promise<string> {
  const found = await findMemories(context, visibility, { query, scopes, limit: 5 });
  const [first, second] = found.hits;
  if (!first) {
    throw new VarveError("NOT_FOUND", "No memory matches the query.", {
      remedy: "Use other words, or send a memoryId.",
    });
  }
  if (!second || first.relevance >= second.relevance * clearlyBetter) return first.memory.id;
  const list = found.hits.map((hit) => `${hit.memory.id} (${hit.memory.abstract.slice(0, 80)})`).join(", ");
  throw new VarveError("AMBIGUOUS", `Several memories match the query: ${list}.`, {
    remedy: "Send the id of one of them.",
    details: { memories: found.hits.map((hit) => hit.memory.id) },
  });
}

function listBackups(home: string): string[] {
  const folder = backupFolder(home);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /\.(?:db|jsonl\.gz)$/.test(name))
    .map((name) => join(folder, name));
}

const coveredFrom = 0.5;
const sourcesMax = 2;

/** Finds the sentences of some messages that state a memory, best first. */
function findEvidence(text: string, entries: readonly Entry[], agent: string): Source[] {
  return entries
    .flatMap((entry) => {
      const one = extractUtterance(entry, agent);
      if (!one) return [];
      return splitSentences(one).map(({ start, end }) => ({
        source: { agent, sessionId: one.sessionId, seq: one.seq, start, end },
        score: computeCoverage(text, one.text.slice(start, end)) + (one.role === "user" ? 0.05 : 0),
      }));
    })
    .filter(({ score }) => score >= coveredFrom)
    .sort((a, b) => b.score - a.score || b.source.seq - a.source.seq)
    .slice(0, sourcesMax)
    .map(({ source }) => source);
}
