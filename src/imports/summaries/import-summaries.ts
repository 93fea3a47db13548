import {
  type ConversationRef,
  getEntryMessage,
  type StoredSummary,
  type SummarySource,
  writeSummary,
} from "../../context/index.ts";
import type { Store } from "../../store/index.ts";
import { estimateTokens } from "../../text/index.ts";
import { readActivePath, readAfter } from "../../transcript/index.ts";
import type { LcmDag, LcmSummary } from "../transcripts/lossless-claw/lcm-store.ts";

interface BuiltSummary {
  node: StoredSummary;
  sources: SummarySource[];
  /** The messages that it stands for, in order. */
  seqs: number[];
}

interface EntryFacts {
  seq: number;
  time: number;
  tokens: number;
}

export interface ImportedDag {
  summaries: number;
  /** Why summaries were left out. */
  notes: string[];
}

/**
 * Stores the summaries of another program for a conversation that was imported before, with the same ids and the same
 * sources. A conversation that has summaries already keeps them.
 */
export async function importSummaries(store: Store, agent: string, dag: LcmDag): Promise<ImportedDag> {
  const place = await store.db
    .selectFrom("transcripts")
    .select("conversation")
    .where("agent", "=", agent)
    .where("session_id", "=", dag.sessionId)
    .executeTakeFirst();
  if (dag.summaries.length === 0) return { summaries: 0, notes: [] };
  if (!place) return { summaries: 0, notes: [`${dag.sessionId}: its messages were not imported`] };
  const ref = { agent, conversation: place.conversation };
  const entries = await readEntryFacts(store, ref, [...new Set(dag.summaries.flatMap(({ messageIds }) => messageIds))]);
  const nodes = new Map<string, BuiltSummary>();
  const notes: string[] = [];
  for (const summary of dag.summaries) {
    const built = buildNode(summary, ref.conversation, entries, nodes);
    if (typeof built === "string") notes.push(`${summary.id}: ${built}`);
    else nodes.set(summary.id, built);
  }
  const ordered = orderContext(dag.context, nodes);
  const context = await selectCovering(store, ref, ordered);
  if (context.length < ordered.length) {
    const [first] = ordered.slice(context.length);
    notes.push(`${first?.node.id}: it and later ones do not cover the messages before them without a gap`);
  }
  return store.transaction(async ({ db }) => {
    const known = await db
      .selectFrom("context_states")
      .select("version")
      .where("agent", "=", agent)
      .where("conversation", "=", ref.conversation)
      .executeTakeFirst();
    if (known) return { summaries: 0, notes: [] };
    for (const { node, sources } of nodes.values()) await writeSummary(db, agent, node, sources);
    const coveredSeq = context.at(-1)?.node.lastSeq ?? 0;
    const state = { covered_seq: coveredSeq, version: 1, compacted_at: store.clock.now() };
    await db
      .insertInto("context_states")
      .values({ ...ref, ...state })
      .execute();
    for (const [position, { id: summary }] of context.map(({ node }) => node).entries()) {
      await db
        .insertInto("context_items")
        .values({ ...ref, position, summary })
        .execute();
    }
    return { summaries: nodes.size, notes };
  });
}

/** The summaries of the context in the order of their messages. */
function orderContext(ids: readonly string[], nodes: ReadonlyMap<string, BuiltSummary>): BuiltSummary[] {
  return [...new Set(ids)].flatMap((id) => nodes.get(id) ?? []).sort((a, b) => a.node.firstSeq - b.node.firstSeq);
}

/** The first summaries, as long as they stand for exactly the messages of the active branch, in order. */
async function selectCovering(
  store: Store,
  ref: ConversationRef,
  ordered: readonly BuiltSummary[],
): Promise<BuiltSummary[]> {
  const path = await readActivePath(store, ref);
  const last = Math.max(0, ...ordered.map(({ node }) => node.lastSeq));
  const onBranch: number[] = [];
  for (let after = 0; after < last; ) {
    const page = await readAfter(store, ref.agent, path, { after, limit: 1000, content: "reference" });
    if (page.length === 0) break;
    onBranch.push(...page.filter((entry) => getEntryMessage(entry)).map((entry) => entry.seq));
    after = page.at(-1)?.seq ?? after;
  }
  let covered = 0;
  const gap = ordered.findIndex(({ seqs }) => {
    const isNext = seqs.every((seq, index) => seq === onBranch[covered + index]);
    covered += seqs.length;
    return !isNext;
  });
  return gap === -1 ? [...ordered] : ordered.slice(0, gap);
}

/** A summary with its sources, or why it is left out. */
function buildNode(
  { id, kind, depth, content, createdAt, messageIds, summaryIds }: LcmSummary,
  conversation: number,
  entries: ReadonlyMap<string, EntryFacts>,
  nodes: ReadonlyMap<string, BuiltSummary>,
): BuiltSummary | string {
  const messages = kind === "leaf" ? messageIds.flatMap((message) => entries.get(message) ?? []) : [];
  const built = kind === "leaf" ? [] : summaryIds.flatMap((child) => nodes.get(child) ?? []);
  const children = built.map((child) => child.node);
  const isWhole = kind === "leaf" ? messages.length === messageIds.length : children.length === summaryIds.length;
  if (!isWhole || messages.length + children.length === 0) return "some of its sources are missing";
  if (nodes.has(id)) return "another summary has its id";
  if (new Set(kind === "leaf" ? messageIds : summaryIds).size < messages.length + children.length) {
    return "it names a source twice";
  }
  if (children.some((child) => child.depth !== depth - 1)) return "its depth is not one more than that of its sources";
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
  const spans = [
    ...messages.map(({ seq, time }) => ({ firstSeq: seq, lastSeq: seq, earliestAt: time, latestAt: time })),
    ...children,
  ];
  const messageTokens = sum(messages.map(({ tokens }) => tokens)) + sum(children.map((one) => one.sourceMessageTokens));
  const node: StoredSummary = {
    id,
    kind,
    depth,
    content,
    tokens: estimateTokens(content),
    earliestAt: Math.min(...spans.map(({ earliestAt }) => earliestAt)),
    latestAt: Math.max(...spans.map(({ latestAt }) => latestAt)),
    descendantCount: sum(children.map((one) => one.descendantCount + 1)),
    descendantTokens: sum(children.map((one) => one.descendantTokens + one.tokens)),
    sourceMessageTokens: messageTokens,
    sourceMessageCount: messages.length + sum(children.map((one) => one.sourceMessageCount)),
    fileIds: [],
    model: "lossless-claw",
    promptVersion: 0,
    level: "normal",
    createdAt,
    conversation,
    firstSeq: Math.min(...spans.map(({ firstSeq }) => firstSeq)),
    lastSeq: Math.max(...spans.map(({ lastSeq }) => lastSeq)),
    quality: { faults: [] },
  };
  const sources: SummarySource[] =
    kind === "leaf" ? messages.map(({ seq }) => ({ entrySeq: seq })) : summaryIds.map((summary) => ({ summary }));
  return { node, sources, seqs: [...messages.map(({ seq }) => seq), ...built.flatMap((child) => child.seqs)] };
}

async function readEntryFacts(
  store: Store,
  ref: { agent: string; conversation: number },
  ids: readonly string[],
): Promise<Map<string, EntryFacts>> {
  const found = new Map<string, EntryFacts>();
  for (let from = 0; from < ids.length; from += 500) {
    const rows = await store.db
      .selectFrom("entries")
      .select(["id", "seq", "time", "tokens"])
      .where("agent", "=", ref.agent)
      .where("conversation", "=", ref.conversation)
      .where("id", "in", ids.slice(from, from + 500))
      .execute();
    for (const { id, ...facts } of rows) found.set(id, facts);
  }
  return found;
}
