import type { Entry } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { findEntryFiles, readEntries, readFileMetadata } from "../../transcript/index.ts";
import { type ConversationRef, readSources, readSummaries, type StoredSummary } from "../dag.ts";

export interface ExpandOptions {
  /** The number of levels to expand; 3 when absent. */
  maxDepth?: number;
  /** The most tokens of content. */
  tokenCap: number;
  /** Whether to expand down to the messages themselves. */
  includeMessages?: boolean;
}

/** A summary with its sources, as far as depth and tokens allow. */
export interface ExpandedNode {
  summary: StoredSummary;
  children: ExpandedNode[];
  messages: Entry[];
}

export interface Expansion {
  nodes: ExpandedNode[];
  tokens: number;
  /** A note about omitted content; absent when nothing was omitted. */
  cut?: string;
}

interface Walk {
  store: Store;
  ref: ConversationRef;
  options: ExpandOptions;
  tokens: number;
  leftOut: { messages: number; summaries: number };
  /** Files that are shown as references because they exceed the cap. */
  referred: string[];
}

/** Expands summaries to their sources in order, until the token cap is reached. */
export async function expandSummaries(
  store: Store,
  ref: ConversationRef,
  ids: string[],
  options: ExpandOptions,
): Promise<Expansion> {
  const walk: Walk = { store, ref, options, tokens: 0, leftOut: { messages: 0, summaries: 0 }, referred: [] };
  const nodes: ExpandedNode[] = [];
  const tooLarge: StoredSummary[] = [];
  for (const summary of await readSummaries(store.db, ref.agent, ids)) {
    const node = await expandNode(walk, summary, options.maxDepth ?? 3);
    if (node) nodes.push(node);
    else if (summary.tokens > options.tokenCap) tooLarge.push(summary);
  }
  const { messages, summaries } = walk.leftOut;
  const cuts = [
    ...tooLarge.map(
      ({ id, tokens }) =>
        `${id} has ${tokens} tokens, more than the cap of ${options.tokenCap}; raise tokenCap to open it`,
    ),
    ...(messages + summaries === 0
      ? []
      : [
          `${summaries} summaries and ${messages} messages below were left out; raise tokenCap or maxDepth, or expand them by id`,
        ]),
    ...(walk.referred.length === 0 ? [] : [`${walk.referred.join(", ")} stand as references; read them by line range`]),
  ];
  if (cuts.length === 0) return { nodes, tokens: walk.tokens };
  const cut = cuts.join("; ");
  return { nodes, tokens: walk.tokens, cut };
}

async function expandNode(walk: Walk, summary: StoredSummary, depth: number): Promise<ExpandedNode | undefined> {
  if (!take(walk, summary.tokens)) {
    walk.leftOut.summaries += 1 + summary.descendantCount;
    walk.leftOut.messages += walk.options.includeMessages ? summary.sourceMessageCount : 0;
    return undefined;
  }
  const node: ExpandedNode = { summary, children: [], messages: [] };
  const sources = await readSources(walk.store.db, walk.ref.agent, summary);
  if (summary.kind === "leaf") {
    if (walk.options.includeMessages) node.messages = await openMessages(walk, sources);
    return node;
  }
  const ids = sources.flatMap((source) => ("summary" in source ? [source.summary] : []));
  if (depth <= 0) {
    walk.leftOut.summaries += summary.descendantCount;
    return node;
  }
  for (const child of await readSummaries(walk.store.db, walk.ref.agent, ids)) {
    const opened = await expandNode(walk, child, depth - 1);
    if (opened) node.children.push(opened);
  }
  return node;
}

async function openMessages(walk: Walk, sources: Awaited<ReturnType<typeof readSources>>): Promise<Entry[]> {
  const seqs = sources.flatMap((source) => ("entrySeq" in source ? [source.entrySeq] : []));
  const messages: Entry[] = [];
  for (const { conversation: _conversation, ...entry } of await readEntries(
    walk.store,
    walk.ref.agent,
    seqs,
    "reference",
  )) {
    const whole = await openWhole(walk, entry);
    if (whole) messages.push(whole);
    else walk.leftOut.messages += 1;
  }
  return messages;
}

/** The message, with references for content above the cap; undefined when even that exceeds it. */
async function openWhole(walk: Walk, entry: Entry): Promise<Entry | undefined> {
  const { store, ref } = walk;
  const files = [
    ...(await readFileMetadata(store.db, ref.agent, await findEntryFiles(store, ref.agent, [entry.seq]))).values(),
  ];
  const tokens = files.reduce((sum, file) => sum + file.tokens, entry.tokens);
  if (files.length > 0 && take(walk, tokens)) {
    const [original] = await readEntries(store, ref.agent, [entry.seq]);
    return original && { ...original, parentId: entry.parentId };
  }
  if (!take(walk, entry.tokens)) return undefined;
  walk.referred.push(...files.map((file) => file.id));
  return entry;
}

function take(walk: Walk, tokens: number): boolean {
  if (walk.tokens + tokens > walk.options.tokenCap) return false;
  walk.tokens += tokens;
  return true;
}
