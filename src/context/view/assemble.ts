import type { Message } from "../../domain/index.ts";
import type { SearchService } from "../../search/index.ts";
import type { Store } from "../../store/index.ts";
import { estimateTokens } from "../../tokens/index.ts";
import { cleanForProvider, type HygieneProvider } from "../../transcript/index.ts";
import { freshTail } from "../compaction/plan.ts";
import type { CompactionPolicy } from "../compaction/policy.ts";
import { checkBudget } from "../compaction/sweep.ts";
import { type ConversationRef, readSources, type StoredSummary } from "../dag.ts";
import { type Frontier, loadFrontier } from "../frontier.ts";
import type { TraceItem } from "../items.ts";
import { type MessageEntry, newestRaw } from "../window.ts";
import { pruneOld, withoutHeartbeats } from "./prune.ts";
import { recallBlock } from "./recall-messages.ts";
import { summaryXml, systemPromptAddition } from "./render-summaries.ts";
import type { ViewSnapshot } from "./view-snapshot.ts";

export interface AssembleOptions {
  budgetTokens: number;
  /** The prompt of the next turn: matching earlier messages are recalled. */
  prompt?: string;
  provider?: HygieneProvider;
  /** The first entry of a session that `/new` opened: earlier messages are in view only as deep summaries. */
  begin?: { seq: number; retainDepth: number };
  /** Whether heartbeats without a reply are left out, once a compaction has passed them. */
  withoutHeartbeats?: boolean;
  /** Notes that earlier views placed after messages; they keep their places. */
  notes?: (from: number) => Promise<ReadonlyMap<number, Note>>;
  /** A snapshot that was read already. */
  snapshot?: ViewSnapshot;
  /** The note after the newest message. */
  fresh?: Note;
  /** The trace of the candidates of that note. */
  freshTrace?: TraceItem[];
}

/** A text after a message that is not part of the log, such as recalled memories. */
export interface Note {
  text: string;
  tokens: number;
}

export interface ContextView {
  messages: Message[];
  estimatedTokens: number;
  systemPromptAddition?: string;
  trace: TraceItem[];
}

/** The shares of the budget for the fresh tail, and for messages that the prompt recalls. */
const tailShare = 0.5;
const recallShare = 0.5;
/** The most recalled tokens, however large the window is: more is noise. */
const recallTokensMax = 8_000;
/** The most messages that are read for a view. */
const rawPageMax = 4000;

/**
 * Assembles what the model sees: summaries, the messages after them, and what the prompt recalls. The cost depends on the
 * budget, not on the length of the history, and the prefix never changes between two compactions.
 */
export async function assemble(
  { store, search }: { store: Store; search: Pick<SearchService, "findMessages"> },
  ref: ConversationRef,
  policy: CompactionPolicy,
  options: AssembleOptions,
): Promise<ContextView> {
  checkBudget(options.budgetTokens);
  const frontier = await loadFrontier(store, ref, undefined, options.snapshot);
  const { fresh } = options;
  const budgetTokens = options.budgetTokens - (fresh?.tokens ?? 0);
  const choice = await choose(store, ref, frontier, policy, { ...options, budgetTokens });
  const trace = [...choice.trace, ...(options.freshTrace ?? [])];
  const inView = new Set(choice.raw.map((one) => one.entry.seq));
  const messages: Message[] = [
    ...choice.summaries.map((summary): Message => ({ role: "user", content: choice.xml.get(summary.id) ?? "" })),
    ...choice.raw.flatMap(({ before = [], message, after = [] }) => [
      ...before.map(noteMessage),
      message,
      ...after.map(noteMessage),
    ]),
    ...choice.alone.map(noteMessage),
    ...(fresh ? [noteMessage(fresh)] : []),
  ];
  let estimatedTokens = choice.tokens + (fresh?.tokens ?? 0);
  // When the whole conversation is in view, there is nothing to recall.
  if (options.prompt !== undefined && !choice.isAll) {
    const left = Math.min(options.budgetTokens - estimatedTokens, recallTokensMax);
    const recalled = await recallBlock(search, ref, { prompt: options.prompt, tokens: left, inView });
    if (recalled) {
      messages.push(recalled.message);
      estimatedTokens += recalled.tokens;
      trace.push(...recalled.trace);
    }
  }
  const cleaned = options.provider ? cleanForProvider(messages, options.provider).messages : messages;
  const addition = systemPromptAddition(choice.summaries);
  return {
    messages: cleaned,
    estimatedTokens,
    ...(addition === undefined ? {} : { systemPromptAddition: addition }),
    trace,
  };
}

function noteMessage({ text }: Note): Message {
  return { role: "user", content: text };
}

/** A message with the notes around it: both are in view, or neither. */
type SeenEntry = MessageEntry & { before?: Note[]; after?: Note[] };

interface Choice {
  summaries: StoredSummary[];
  xml: Map<string, string>;
  raw: SeenEntry[];
  /** Notes of a conversation without messages. */
  alone: Note[];
  tokens: number;
  trace: TraceItem[];
  /** Whether every message of the conversation is in view, word for word. */
  isAll: boolean;
}

async function choose(
  store: Store,
  ref: ConversationRef,
  frontier: Frontier,
  policy: CompactionPolicy,
  options: AssembleOptions,
): Promise<Choice> {
  const budget = options.budgetTokens;
  const begin = options.begin?.seq ?? 0;
  const { raw, complete, alone } = await rawWithin(store, ref, frontier, options);
  const retained = frontier.summaries.filter((one) => isRetained(one, options.begin));
  const tailMax = Math.min(policy.freshTailMaxTokens ?? Number.POSITIVE_INFINITY, Math.floor(budget * tailShare));
  const tailFrom = freshTail(
    raw.map((one) => one.item),
    { ...policy, freshTailMaxTokens: tailMax },
  );
  const xml = await renderSummaries(store, ref, retained);
  const xmlTokens = new Map([...xml].map(([id, text]) => [id, estimateTokens(text)]));
  const all = sum(raw.map((one) => one.item.tokens)) + sum([...xmlTokens.values()]);
  const fits = all <= budget && complete;
  // Tokens are reserved for recall only when not everything is in view.
  const kept = Math.min(Math.floor(budget * recallShare), recallTokensMax);
  const limit = fits || options.prompt === undefined ? budget : budget - kept;
  let tokens = sum(raw.slice(tailFrom).map((one) => one.item.tokens)) + sum(alone.map((one) => one.tokens));
  const trace: TraceItem[] = raw.slice(tailFrom).map((one) => ({ ...traced(one), in: true, why: "fresh tail" }));
  let from = tailFrom;
  for (let index = tailFrom - 1; index >= 0; index -= 1) {
    const one = raw[index];
    if (!one) break;
    if (tokens + one.item.tokens > limit) {
      trace.push(...raw.slice(0, index + 1).map((left) => ({ ...traced(left), in: false, why: "over the budget" })));
      break;
    }
    tokens += one.item.tokens;
    from = index;
    trace.push({ ...traced(one), in: true, why: fits ? "everything fits" : "newest first" });
  }
  const whole = skipOrphanResults(raw, from);
  for (const one of raw.slice(from, whole)) tokens -= one.item.tokens;
  if (begin > 0) trace.push(...traceDropped(frontier.summaries, retained));
  const summaries: StoredSummary[] = [];
  for (const summary of retained.toReversed()) {
    const cost = xmlTokens.get(summary.id) ?? summary.tokens;
    const into = tokens + cost <= limit;
    trace.push({
      kind: "summary",
      id: summary.id,
      tokens: cost,
      in: into,
      why: into ? "stands for what came before" : "over the budget",
    });
    if (!into) continue;
    summaries.unshift(summary);
    tokens += cost;
  }
  const isAll = complete && begin === 0 && frontier.summaries.length === 0 && whole === 0;
  return { summaries, xml, raw: raw.slice(whole), alone, tokens, trace, isAll };
}

/** After `/new`, earlier summaries are retained only from a depth on; -1 retains none. */
function isRetained(summary: StoredSummary, begin: AssembleOptions["begin"]): boolean {
  if (begin === undefined || summary.lastSeq >= begin.seq) return true;
  return begin.retainDepth >= 0 && summary.depth >= begin.retainDepth;
}

function traceDropped(all: readonly StoredSummary[], retained: readonly StoredSummary[]): TraceItem[] {
  return all
    .filter((summary) => !retained.includes(summary))
    .map(({ id, tokens }) => ({ kind: "summary", id, tokens, in: false, why: "before the new session" }));
}

/** Each summary as the model reads it; a condensed one names its sources. */
export async function renderSummaries(
  store: Store,
  ref: ConversationRef,
  summaries: StoredSummary[],
): Promise<Map<string, string>> {
  const xml = new Map<string, string>();
  for (const summary of summaries) {
    const sources = summary.kind === "leaf" ? [] : await readSources(store.db, ref, summary.id);
    const ids = sources.flatMap((source) => ("summary" in source ? [source.summary] : []));
    xml.set(summary.id, summaryXml(summary, ids));
  }
  return xml;
}

/** Skips results whose calls did not fit: the view must not start with a result without its call. */
function skipOrphanResults(raw: MessageEntry[], from: number): number {
  let start = from;
  const calls = new Set<string>();
  for (const one of raw.slice(from)) for (const call of one.item.calls) calls.add(call);
  while (start < raw.length && raw[start]?.item.results.some((result) => !calls.has(result))) start += 1;
  return start;
}

/** The newest messages after the summaries, slightly more than fit the budget. */
async function rawWithin(
  store: Store,
  ref: ConversationRef,
  frontier: Frontier,
  options: AssembleOptions,
): Promise<{ raw: SeenEntry[]; complete: boolean; alone: Note[] }> {
  const begin = options.begin?.seq ?? 0;
  for (let count = 128; ; count *= 2) {
    const newest = await newestRaw(store, ref, frontier, Math.min(count, rawPageMax), options.snapshot?.tail);
    const raw = applyPruning(newest, frontier.prunedSeq, options).filter((one) => one.entry.seq >= begin);
    const tokens = sum(raw.map((one) => one.item.tokens));
    const complete = newest.length < Math.min(count, rawPageMax);
    const enough = begin > 0 && (newest[0]?.entry.seq ?? begin) < begin;
    if (complete || enough || tokens > options.budgetTokens || count >= rawPageMax) {
      const whole = complete || enough;
      const notes = (await options.notes?.(Math.max(begin, frontier.coveredSeq + 1))) ?? new Map<number, Note>();
      return { ...withNotes(raw, notes, whole), complete: whole };
    }
  }
}

/**
 * Places notes where they were before: after the last message up to their entry, or before all messages. Notes of
 * messages that are out of view are left out.
 */
function withNotes(
  raw: MessageEntry[],
  notes: ReadonlyMap<number, Note>,
  isWhole: boolean,
): { raw: SeenEntry[]; alone: Note[] } {
  const ordered = [...notes].sort(([a], [b]) => a - b);
  if (raw.length === 0) return { raw, alone: ordered.map(([, note]) => note) };
  const seen: SeenEntry[] = [...raw];
  for (const [seq, note] of ordered) {
    const index = seen.findLastIndex((one) => one.entry.seq <= seq);
    const one = seen[Math.max(0, index)];
    if (!one || (index === -1 && !isWhole)) continue;
    const item = { ...one.item, tokens: one.item.tokens + note.tokens };
    const around = index === -1 ? { before: [...(one.before ?? []), note] } : { after: [...(one.after ?? []), note] };
    seen[Math.max(0, index)] = { ...one, item, ...around };
  }
  return { raw: seen, alone: [] };
}

/** Truncates old tool results, and removes idle heartbeats that a compaction has passed. */
function applyPruning(entries: MessageEntry[], prunedSeq: number, options: AssembleOptions): MessageEntry[] {
  const pruned = pruneOld(entries, prunedSeq);
  return options.withoutHeartbeats ? withoutHeartbeats(pruned, prunedSeq) : pruned;
}

function traced(one: MessageEntry): Pick<TraceItem, "kind" | "id" | "tokens"> {
  return { kind: "message", id: `msg#${one.entry.seq}`, tokens: one.item.tokens };
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
