import { createHash } from "node:crypto";
import { type Entry, getParts } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { estimateTokens } from "../../text/index.ts";
import { findEntryFiles, getEntryText } from "../../transcript/index.ts";
import type { ConversationRef, StoredSummary, SummarySource } from "../dag.ts";
import type { Summarise, SummaryTurn } from "../summary/summary-request.ts";
import type { MessageEntry } from "../window.ts";

export interface MadeSummary {
  node: StoredSummary;
  sources: SummarySource[];
  calls: number;
  faults: string[];
}

interface MakeOptions {
  summarise: Summarise;
  instructions?: string;
  /** Whether a view may not open the summary again. */
  isSealed?: boolean;
  signal?: AbortSignal;
}

/** A message as the summarisers read it. */
export function toSummaryTurn({ entry, message }: MessageEntry): SummaryTurn {
  const calls = getParts(message).flatMap((part) => (part.type === "tool_call" ? [part.name] : []));
  return {
    time: entry.time,
    seq: entry.seq,
    message,
    speaker: message.name ?? message.role,
    role: message.role,
    text: getEntryText(entry),
    ...(calls.length > 0 ? { toolNames: calls } : {}),
  };
}

/** Summarises a run of messages as a leaf. The previous summary is passed along, so that nothing is repeated. */
export async function leafNode(
  store: Store,
  ref: ConversationRef,
  messages: MessageEntry[],
  previous: StoredSummary | undefined,
  options: MakeOptions,
): Promise<MadeSummary> {
  const turns = messages.map(toSummaryTurn);
  const request = lastRequest(messages.map((one) => one.entry));
  const written = await options.summarise({
    depth: 0,
    turns,
    sourceTokens: messages.reduce((sum, one) => sum + one.item.tokens, 0),
    previousSummary: previous?.content,
    latestUserRequest: request,
    instructions: options.instructions,
    range: {
      firstSeq: messages[0]?.entry.seq ?? 0,
      lastSeq: messages.at(-1)?.entry.seq ?? 0,
      messageCount: messages.length,
    },
    signal: options.signal,
  });
  const sources: SummarySource[] = messages.map(({ entry }) => ({ entrySeq: entry.seq }));
  const times = messages.map(({ entry }) => entry.time);
  const node: StoredSummary = {
    id: summaryId({
      conversation: String(ref.conversation),
      depth: 0,
      sources: messages.map(({ entry }) => String(entry.seq)),
      content: written.content,
    }),
    kind: "leaf",
    depth: 0,
    content: written.content,
    tokens: estimateTokens(written.content),
    earliestAt: Math.min(...times),
    latestAt: Math.max(...times),
    descendantCount: 0,
    descendantTokens: 0,
    sourceMessageTokens: messages.reduce((sum, one) => sum + one.item.tokens, 0),
    sourceMessageCount: messages.length,
    fileIds: await findEntryFiles(
      store,
      ref.agent,
      messages.map(({ entry }) => entry.seq),
    ),
    ...(written.model === undefined ? {} : { model: written.model }),
    promptVersion: written.promptVersion,
    level: written.level,
    createdAt: store.clock.now(),
    conversation: ref.conversation,
    firstSeq: messages[0]?.entry.seq ?? 0,
    lastSeq: messages.at(-1)?.entry.seq ?? 0,
    quality: { faults: written.faults, ...(options.isSealed === true ? { isSealed: true } : {}) },
  };
  return { node, sources, calls: written.calls, faults: written.faults };
}

/** Summarises a run of summaries of one depth as one summary of the next depth. */
export async function condensedNode(
  store: Store,
  ref: ConversationRef,
  children: StoredSummary[],
  previous: StoredSummary | undefined,
  options: MakeOptions,
): Promise<MadeSummary> {
  const depth = (children[0]?.depth ?? 0) + 1;
  const turns = children.map(
    (child): SummaryTurn => ({
      time: child.earliestAt,
      until: child.latestAt,
      speaker: "summary",
      role: "user",
      text: child.content,
    }),
  );
  const written = await options.summarise({
    depth,
    turns,
    sourceTokens: children.reduce((sum, child) => sum + child.sourceMessageTokens, 0),
    previousSummary: previous?.content,
    instructions: options.instructions,
    range: {
      firstSeq: children[0]?.firstSeq ?? 0,
      lastSeq: children.at(-1)?.lastSeq ?? 0,
      messageCount: children.reduce((total, child) => total + child.sourceMessageCount, 0),
    },
    signal: options.signal,
  });
  const sum = (pick: (child: StoredSummary) => number) => children.reduce((total, child) => total + pick(child), 0);
  const node: StoredSummary = {
    id: summaryId({
      conversation: String(ref.conversation),
      depth,
      sources: children.map((child) => child.id),
      content: written.content,
    }),
    kind: "condensed",
    depth,
    content: written.content,
    tokens: estimateTokens(written.content),
    earliestAt: Math.min(...children.map((child) => child.earliestAt)),
    latestAt: Math.max(...children.map((child) => child.latestAt)),
    descendantCount: sum((child) => child.descendantCount + 1),
    descendantTokens: sum((child) => child.descendantTokens + child.tokens),
    sourceMessageTokens: sum((child) => child.sourceMessageTokens),
    sourceMessageCount: sum((child) => child.sourceMessageCount),
    fileIds: [...new Set(children.flatMap((child) => child.fileIds))],
    ...(written.model === undefined ? {} : { model: written.model }),
    promptVersion: written.promptVersion,
    level: written.level,
    createdAt: store.clock.now(),
    conversation: ref.conversation,
    firstSeq: children[0]?.firstSeq ?? 0,
    lastSeq: children.at(-1)?.lastSeq ?? 0,
    quality: { faults: written.faults, ...(options.isSealed === true ? { isSealed: true } : {}) },
  };
  return {
    node,
    sources: children.map((child) => ({ summary: child.id })),
    calls: written.calls,
    faults: written.faults,
  };
}

function lastRequest(entries: Entry[]): string | undefined {
  const last = entries.findLast((entry) => entry.type === "message" && entry.message.role === "user");
  return last && getEntryText(last);
}

/** The identity of a summary. */
export interface SummaryIdentity {
  conversation: string;
  depth: number;
  /** The ids of its sources, in order. */
  sources: readonly string[];
  content: string;
}

/** The same identity gives the same id, so that a retried write is idempotent. */
export function summaryId({ conversation, depth, sources, content }: SummaryIdentity): string {
  // A JSON array separates the parts: two identities never have the same text.
  const text = JSON.stringify([conversation, depth, sources, content]);
  return `sum_${createHash("sha256").update(text).digest("hex").slice(0, 16)}`;
}
