import type { Entry } from "../domain/index.ts";
import type { Store } from "../store/index.ts";
import { findEntry } from "../transcript/index.ts";
import { type ConversationRef, readSources, readSummaries, type StoredSummary } from "./dag.ts";

export interface ExpandOptions {
  /** How many levels down; 3 when absent. */
  maxDepth?: number;
  /** How many tokens of content at most. */
  tokenCap: number;
  /** Whether to go down to the messages themselves. */
  includeMessages?: boolean;
}

/** A summary with what it was made from, as far as depth and tokens allowed. */
export interface ExpandedNode {
  summary: StoredSummary;
  children: ExpandedNode[];
  messages: Entry[];
}

export interface Expansion {
  nodes: ExpandedNode[];
  tokens: number;
  /** What was left out, in words; absent when nothing was. */
  cut?: string;
}

interface Walk {
  store: Store;
  ref: ConversationRef;
  options: ExpandOptions;
  tokens: number;
  leftOut: { messages: number; summaries: number };
}

/** Opens summaries down to their sources, breadth within each node in order, until the cap is reached. */
export async function expandSummaries(
  store: Store,
  ref: ConversationRef,
  ids: string[],
  options: ExpandOptions,
): Promise<Expansion> {
  const walk: Walk = { store, ref, options, tokens: 0, leftOut: { messages: 0, summaries: 0 } };
  const nodes: ExpandedNode[] = [];
  for (const summary of await readSummaries(store.db, ref, ids)) {
    const node = await expandNode(walk, summary, options.maxDepth ?? 3);
    if (node) nodes.push(node);
  }
  const { messages, summaries } = walk.leftOut;
  if (messages + summaries === 0) return { nodes, tokens: walk.tokens };
  const cut = `${summaries} summaries and ${messages} messages below were left out; raise tokenCap or maxDepth, or expand them by id`;
  return { nodes, tokens: walk.tokens, cut };
}

async function expandNode(walk: Walk, summary: StoredSummary, depth: number): Promise<ExpandedNode | undefined> {
  if (!take(walk, summary.tokens)) {
    walk.leftOut.summaries += 1 + summary.descendantCount;
    walk.leftOut.messages += walk.options.includeMessages ? summary.sourceMessageCount : 0;
    return undefined;
  }
  const node: ExpandedNode = { summary, children: [], messages: [] };
  const sources = await readSources(walk.store.db, walk.ref, summary.id);
  if (summary.kind === "leaf") {
    if (walk.options.includeMessages) node.messages = await openMessages(walk, sources);
    return node;
  }
  const ids = sources.flatMap((source) => ("summary" in source ? [source.summary] : []));
  if (depth <= 0) {
    walk.leftOut.summaries += summary.descendantCount;
    return node;
  }
  for (const child of await readSummaries(walk.store.db, walk.ref, ids)) {
    const opened = await expandNode(walk, child, depth - 1);
    if (opened) node.children.push(opened);
  }
  return node;
}

async function openMessages(walk: Walk, sources: Awaited<ReturnType<typeof readSources>>): Promise<Entry[]> {
  const messages: Entry[] = [];
  for (const source of sources) {
    if (!("entrySeq" in source)) continue;
    const { entry } = await findEntry(walk.store, walk.ref.agent, { seq: source.entrySeq });
    if (take(walk, entry.tokens)) messages.push(entry);
    else walk.leftOut.messages += 1;
  }
  return messages;
}

function take(walk: Walk, tokens: number): boolean {
  if (walk.tokens + tokens > walk.options.tokenCap) return false;
  walk.tokens += tokens;
  return true;
}
