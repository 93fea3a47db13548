import { z } from "zod";
import { type Owners, resolveReach, resolveSpeaker, resolveVisibility, writeScope } from "../../authorization/index.ts";
import type { Config } from "../../config/index.ts";
import { type Clock, type EngineEvent, matchesPattern, type Random } from "../../domain/index.ts";
import { createJob, type JobHandler, type JobQueue, type Postponed } from "../../jobs/index.ts";
import { findSessionIfAny, readOwners } from "../../session/index.ts";
import type { NewJob, Store } from "../../store/index.ts";
import { readTail } from "../../transcript/index.ts";
import { resolveAdmission } from "../admission.ts";
import { dayMs } from "../decay.ts";
import type { MemoryContext } from "../memory-context.ts";
import { reflect } from "../reflect.ts";
import { type Extraction, type ExtractOptions, extractBatch } from "./extract-batch.ts";
import { gatherCandidates } from "./gather-candidates.ts";
import { type ExtractionCursor, readUnreadBatch } from "./unread.ts";
import { listUtterances, usesTools } from "./utterances.ts";

/** A conversation to extract memories from. */
export interface ExtractionSource {
  agent: string;
  conversation: number;
  key: string;
}

export interface Extractor {
  /** Extracts from the unread messages of a conversation, batch by batch, until its budget is used up. */
  extract(source: ExtractionSource, options: ExtractRequest): Promise<{ batches: Extraction[]; postponed?: Postponed }>;
  /** Finds statements in the unread messages of a conversation by the built-in rules; nothing is written. */
  preview(source: ExtractionSource, signal?: AbortSignal): Promise<ExtractionPreview>;
  /** Extracts from the history that was imported or never read, the newest conversations first. */
  extractBacklog(signal?: AbortSignal): Promise<{ messages: number }>;
  /** Extracts memories from the last day's messages and reflects on them. */
  reviewLastDay(signal?: AbortSignal): Promise<{ sessions: number; written: number }>;
}

export interface ExtractRequest {
  /** Extract from all unread messages, even from few. */
  all: boolean;
  /** A person asked for it: imported history is read even if the settings say `extractImports: off`. */
  isExplicit?: boolean;
  /** Read a conversation that was never read as imported history. */
  asBacklog?: boolean;
  signal?: AbortSignal;
}

export interface ExtractionPreview {
  messages: number;
  facts: { text: string; category: string; citations: string[] }[];
}

export interface ExtractorOptions {
  context: MemoryContext;
  config: Config;
  jobs: JobQueue;
  emit(event: EngineEvent): void;
}

const endedPayload = z.object({ key: z.string(), conversation: z.number(), transcript: z.number() });
/** How many batches of a long history one job reads; the next job continues. */
const batchesMax = 20;
const continueMs = 1_000;
const reflectEntries = 200;
const reviewedMs = dayMs;
/** Imported history is read after its context was compacted; each day of its age adds a delay. */
const importDelayMs = 120_000;
const ageDelayMs = 100;
const ageDelayMaxMs = 600_000;
const sessionsMax = 50;

/** Extracts memories from conversations, on request and as the background jobs it registers. */
export function createExtractor({ context, config, jobs, emit }: ExtractorOptions): Extractor {
  const { store } = context;
  const budget = { callsPerHour: config.memory.callsPerHour, tokensPerDay: config.memory.tokensPerDay };

  const { generate: _generate, ...byRules } = context;

  const extract: Extractor["extract"] = async (source, { signal, ...request }) => {
    const options = resolveExtractOptions(config, source, await readBelonging(store, config, source), request);
    const batches: Extraction[] = [];
    if (!options) return { batches };
    for (let round = 0; round < batchesMax; round += 1) {
      signal?.throwIfAborted();
      const done = await extractBatch(context, { ...options, signal });
      if (done.status === "waiting") {
        const againAt = done.againAt ?? store.clock.now();
        return { batches, postponed: { againAt, because: done.because ?? "the budget is used up" } };
      }
      if (done.status === "nothing") return { batches };
      if (done.status === "lost") continue;
      batches.push(done);
      if (!done.more) return { batches };
    }
    return { batches, postponed: { againAt: store.clock.now() + continueMs, because: "more unread messages remain" } };
  };

  const preview: Extractor["preview"] = async (source, signal) => {
    const ref = { agent: source.agent, conversation: source.conversation };
    const options = resolveExtractOptions(config, source, await readBelonging(store, config, source), { all: true });
    const result: ExtractionPreview = { messages: 0, facts: [] };
    if (!options) return result;
    for (let at: ExtractionCursor | undefined; ; ) {
      signal?.throwIfAborted();
      const unread = await readUnreadBatch(store, ref, { at });
      if (unread.entries.length === 0) return result;
      result.messages += unread.entries.filter((entry) => entry.type === "message").length;
      const { policy, userTrust } = options;
      const utterances = listUtterances(unread.entries, ref.agent, userTrust);
      const { candidates } = await gatherCandidates(byRules, utterances, {
        policy,
        recalled: [],
        isChat: !usesTools(unread.entries),
        userTrust,
        signal,
      });
      for (const { draft } of candidates) {
        const citations = draft.sources.map((one) => `msg#${one.seq}`);
        result.facts.push({ text: draft.abstract, category: draft.category, citations });
      }
      if (!unread.more) return result;
      at = unread.to;
    }
  };

  const report = ({ agent, key }: Pick<ExtractionSource, "agent" | "key">, batches: readonly Extraction[]) => {
    for (const { messages, applied, held, rejected, dropped, notes } of batches) {
      if (applied.length + held + rejected + notes.length === 0) continue;
      const decisions: Record<string, number> = {};
      for (const { decision } of applied) decisions[decision] = (decisions[decision] ?? 0) + 1;
      emit({ type: "memories", agent, key, data: { messages, decisions, held, rejected, dropped, notes } });
    }
  };

  /** Conversations of one import are read in the order of their last messages, the newest first. */
  const computeAgeDelay = async (source: ExtractionSource): Promise<number> => {
    const [last] = (await readTail(store, source, { limit: 1 })).entries;
    const ageDays = Math.max(0, store.clock.now() - (last?.time ?? 0)) / dayMs;
    return importDelayMs + Math.round(Math.min(ageDelayMaxMs, ageDays * ageDelayMs));
  };

  /** A failing model fails the job, so that it is retried later. */
  const extractionHandler =
    (all: boolean, imported = false): JobHandler =>
    async (job, signal, postpone) => {
      if (imported && config.memory.extractImports === "off") return;
      const session = await findSessionIfAny(store, job.key, job.agent);
      if (!session || !canExtract(config, session.key)) return;
      const againAt = imported ? job.createdAt + (await computeAgeDelay(session)) : 0;
      if (againAt > store.clock.now()) {
        postpone({ againAt, because: "newer conversations are read first" });
        return;
      }
      const { batches, postponed } = await extract(session, { all, signal, asBacklog: imported });
      report(session, batches);
      if (postponed) postpone(postponed);
    };

  /** After a session was reset: extracts from the rest of the old transcript, then reflects on it. */
  const endedHandler: JobHandler = async (job, signal, postpone) => {
    const { key, conversation, transcript } = endedPayload.parse(job.payload);
    if (!canExtract(config, key)) return;
    const source = { agent: job.agent, conversation, key };
    const { batches, postponed } = await extract(source, { all: true, signal });
    report(source, batches);
    if (postponed) {
      postpone(postponed);
      return;
    }
    const { entries } = await readTail(store, source, { limit: reflectEntries, transcript });
    await reflect(context, { agent: job.agent, entries, budget, signal });
  };

  jobs.register("extract memories", extractionHandler(false));
  jobs.register("extract all memories", extractionHandler(true));
  jobs.register("extract import", extractionHandler(true, true));
  jobs.register("memories left behind", endedHandler);
  return {
    extract,
    preview,
    async extractBacklog(signal) {
      let messages = 0;
      if (config.memory.extractImports === "off") return { messages };
      for (const source of await listBacklog(store, store.clock.now() - reviewedMs)) {
        for (let isDone = !canExtract(config, source.key); !isDone; ) {
          signal?.throwIfAborted();
          const { batches } = await extract(source, { all: true, asBacklog: true, signal });
          report(source, batches);
          messages += batches.reduce((sum, one) => sum + one.messages, 0);
          isDone = batches.length < batchesMax;
        }
      }
      return { messages };
    },
    async reviewLastDay(signal) {
      const since = store.clock.now() - reviewedMs;
      const rows = await store.db
        .selectFrom("sessions")
        .select(["agent", "key", "conversation"])
        .where("updated_at", ">=", since)
        .orderBy("updated_at", "desc")
        .limit(sessionsMax)
        .execute();
      let written = 0;
      for (const source of rows.filter((row) => canExtract(config, row.key))) {
        signal?.throwIfAborted();
        const { batches } = await extract(source, { all: true, signal });
        report(source, batches);
        const { entries } = await readTail(store, source, { limit: reflectEntries });
        const recent = entries.filter((entry) => entry.time >= since);
        const { applied } = await reflect(context, { agent: source.agent, entries: recent, budget, signal });
        written += applied.length;
      }
      return { sessions: rows.length, written };
    },
  };
}

/** Conversations with a backlog, and old ones that were never read; the newest first. */
function listBacklog(store: Store, readBefore: number): Promise<ExtractionSource[]> {
  return store.db
    .selectFrom("sessions as s")
    .leftJoin("memory_cursors as c", (join) =>
      join.onRef("c.agent", "=", "s.agent").onRef("c.conversation", "=", "s.conversation"),
    )
    .select(["s.agent", "s.key", "s.conversation"])
    .where((where) =>
      where.or([
        where("c.unread_before", "is not", null),
        where.and([where("c.seq", "is", null), where("s.updated_at", "<", readBefore)]),
      ]),
    )
    .orderBy("s.last_interaction_at", "desc")
    .execute();
}

/** Whether memories are extracted from a session: the settings may exclude it. */
export function canExtract({ context, memory }: Config, key: string): boolean {
  const matches = (patterns: string[]) => patterns.some((pattern) => matchesPattern(key, pattern));
  if (!memory.extract || matches(context.ignoreSessionPatterns)) return false;
  return !(context.skipStatelessSessions && matches(context.statelessSessionPatterns));
}

/** The job has the key of the session, so that several turns share one job. */
export function createExtractionJob(
  sources: { clock: Clock; random: Random },
  { agent, key }: { agent: string; key: string },
  because: "turn" | "compaction",
): NewJob {
  const kind = because === "turn" ? "extract memories" : "extract all memories";
  return createJob(sources, { agent, kind, key, payload: { because } });
}

/** Whom a conversation belongs to. */
interface ConversationOwner {
  audience: string | undefined;
  owners: Owners;
}

async function readBelonging(
  store: Store,
  config: Config,
  { agent, conversation }: ExtractionSource,
): Promise<ConversationOwner> {
  const row = await store.db
    .selectFrom("conversations")
    .select("audience")
    .where("agent", "=", agent)
    .where("id", "=", conversation)
    .executeTakeFirst();
  return { audience: row?.audience ?? undefined, owners: await readOwners(store, config, agent) };
}

function resolveExtractOptions(
  config: Config,
  { agent, conversation }: ExtractionSource,
  { audience, owners }: ConversationOwner,
  { all, isExplicit = false, asBacklog }: Omit<ExtractRequest, "signal">,
): Omit<ExtractOptions, "signal"> | undefined {
  const { memory } = config;
  const visibility = resolveVisibility(config, { agent });
  // An agent without scopes extracts nothing, by configuration.
  if (visibility.scopes?.length === 0) return undefined;
  const { writableScopes } = resolveReach(config, owners, agent, audience);
  // What a person or a group says is learned about them, not for everybody who uses the agent.
  const scope = writableScopes?.[0] ?? writeScope(visibility);
  return {
    ref: { agent, conversation },
    scope,
    policy: memory.extractionByScope[scope] ?? "full",
    everyMessages: memory.extractEveryMessages,
    userTrust: resolveSpeaker(config, owners, audience),
    all,
    asBacklog,
    admission: resolveAdmission(config),
    backlog: {
      by: isExplicit && memory.extractImports === "off" ? "rules" : memory.extractImports,
      callsPerDay: memory.importCallsPerDay,
    },
    budget: { callsPerHour: memory.callsPerHour, tokensPerDay: memory.tokensPerDay },
  };
}
