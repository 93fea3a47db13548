import type { Store } from "../store/index.ts";
import { estimateTokens } from "../tokens/index.ts";
import type { LcmDag, LcmSummary } from "../transcript/index.ts";
import { type StoredSummary, type SummarySource, writeSummary } from "./dag.ts";

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
  const nodes = new Map<string, { node: StoredSummary; sources: SummarySource[] }>();
  const notes: string[] = [];
  for (const summary of dag.summaries) {
    const built = buildNode(summary, ref.conversation, entries, nodes);
    if (built) nodes.set(summary.id, built);
    else notes.push(`${summary.id}: some of its sources are missing`);
  }
  const context = orderContext(dag.context, nodes);
  return store.transaction(async ({ db }) => {
    const known = await db
      .selectFrom("context_states")
      .select("version")
      .where("agent", "=", agent)
      .where("conversation", "=", ref.conversation)
      .executeTakeFirst();
    if (known) return { summaries: 0, notes: [] };
    for (const { node, sources } of nodes.values()) await writeSummary(db, agent, node, sources);
    const coveredSeq = context.at(-1)?.lastSeq ?? 0;
    const state = { covered_seq: coveredSeq, version: 1, compacted_at: store.clock.now() };
    await db
      .insertInto("context_states")
      .values({ ...ref, ...state })
      .execute();
    for (const [position, { id: summary }] of context.entries()) {
      await db
        .insertInto("context_items")
        .values({ ...ref, position, summary })
        .execute();
    }
    return { summaries: nodes.size, notes };
  });
}

/** The summaries of the context, as long as they follow each other without a gap in reverse. */
function orderContext(ids: readonly string[], nodes: ReadonlyMap<string, { node: StoredSummary }>): StoredSummary[] {
  const found = ids.flatMap((id) => nodes.get(id)?.node ?? []).sort((a, b) => a.firstSeq - b.firstSeq);
  return found.filter((node, index) => index === 0 || node.firstSeq > (found[index - 1]?.lastSeq ?? 0));
}

function buildNode(
  { id, kind, depth, content, createdAt, messageIds, summaryIds }: LcmSummary,
  conversation: number,
  entries: ReadonlyMap<string, EntryFacts>,
  nodes: ReadonlyMap<string, { node: StoredSummary }>,
): { node: StoredSummary; sources: SummarySource[] } | undefined {
  const messages = kind === "leaf" ? messageIds.flatMap((message) => entries.get(message) ?? []) : [];
  const children = kind === "leaf" ? [] : summaryIds.flatMap((child) => nodes.get(child)?.node ?? []);
  const isWhole = kind === "leaf" ? messages.length === messageIds.length : children.length === summaryIds.length;
  if (!isWhole || messages.length + children.length === 0) return undefined;
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
  return { node, sources };
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
