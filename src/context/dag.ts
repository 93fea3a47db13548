import type { EscalationLevel, SummaryNode } from "../domain/index.ts";
import type { Db, SummaryTable, Tx } from "../store/index.ts";

/** A summary with the range of the log it covers. */
export interface StoredSummary extends SummaryNode {
  conversation: number;
  firstSeq: number;
  lastSeq: number;
  quality: SummaryQuality;
}

export interface SummaryQuality {
  faults: string[];
  /** Made by a compaction that a person asked for: a view does not open it, however much room there is. */
  isSealed?: boolean;
}

/** A source of a summary: a message or another summary. */
export type SummarySource = { entrySeq: number } | { summary: string };

export interface ConversationRef {
  agent: string;
  conversation: number;
}

export function summaryFromRow(row: SummaryTable): StoredSummary {
  return {
    id: row.id,
    kind: row.kind as SummaryNode["kind"],
    depth: row.depth,
    content: row.content,
    tokens: row.tokens,
    earliestAt: row.earliest_at,
    latestAt: row.latest_at,
    descendantCount: row.descendant_count,
    descendantTokens: row.descendant_tokens,
    sourceMessageTokens: row.source_message_tokens,
    sourceMessageCount: row.source_message_count,
    fileIds: JSON.parse(row.file_ids) as string[],
    ...(row.model === null ? {} : { model: row.model }),
    promptVersion: row.prompt_version,
    level: row.level as EscalationLevel,
    createdAt: row.created_at,
    conversation: row.conversation,
    firstSeq: row.first_seq,
    lastSeq: row.last_seq,
    quality: JSON.parse(row.quality) as SummaryQuality,
  };
}

/** Summaries by their ids, in the order of the ids. A fork uses those of the conversations it was forked from. */
export async function readSummaries(db: Db | Tx, agent: string, ids: readonly string[]): Promise<StoredSummary[]> {
  if (ids.length === 0) return [];
  const found = new Map<string, StoredSummary>();
  for (let from = 0; from < ids.length; from += 500) {
    const rows = await db
      .selectFrom("summaries")
      .selectAll()
      .where("agent", "=", agent)
      .where("id", "in", ids.slice(from, from + 500))
      .execute();
    for (const row of rows) found.set(row.id, summaryFromRow(row));
  }
  return ids.flatMap((id) => found.get(id) ?? []);
}

/** Names a summary with the conversation that it was made in. */
type SummaryRef = Pick<StoredSummary, "id" | "conversation">;

export async function readSources(db: Db | Tx, agent: string, summary: SummaryRef): Promise<SummarySource[]> {
  const rows = await db
    .selectFrom("summary_sources")
    .select(["entry_seq", "source"])
    .where("agent", "=", agent)
    .where("conversation", "=", summary.conversation)
    .where("summary", "=", summary.id)
    .orderBy("position")
    .execute();
  return rows.map((row) => (row.source === null ? { entrySeq: row.entry_seq ?? 0 } : { summary: row.source }));
}

/** The ids of the summaries that condensed summaries were made from, in order, by the id of the condensed one. */
export async function readSourceIds(
  db: Db | Tx,
  agent: string,
  parents: readonly SummaryRef[],
): Promise<Map<string, string[]>> {
  const ids = new Map<string, string[]>();
  for (let from = 0; from < parents.length; from += 500) {
    const page = parents.slice(from, from + 500);
    const rows = await db
      .selectFrom("summary_sources")
      .select(["summary", "source"])
      .where("agent", "=", agent)
      .where("conversation", "in", [...new Set(page.map(({ conversation }) => conversation))])
      .where(
        "summary",
        "in",
        page.map(({ id }) => id),
      )
      .orderBy("summary")
      .orderBy("position")
      .execute();
    for (const { summary, source } of rows) {
      if (source !== null) ids.set(summary, [...(ids.get(summary) ?? []), source]);
    }
  }
  return ids;
}

/** Writes a node. It is idempotent: a retried write changes nothing. */
export async function writeSummary(
  tx: Tx,
  agent: string,
  node: StoredSummary,
  sources: SummarySource[],
): Promise<void> {
  const { conversation } = node;
  await tx
    .insertInto("summaries")
    .values({
      agent,
      conversation,
      id: node.id,
      kind: node.kind,
      depth: node.depth,
      content: node.content,
      tokens: node.tokens,
      earliest_at: node.earliestAt,
      latest_at: node.latestAt,
      descendant_count: node.descendantCount,
      descendant_tokens: node.descendantTokens,
      source_message_tokens: node.sourceMessageTokens,
      source_message_count: node.sourceMessageCount,
      first_seq: node.firstSeq,
      last_seq: node.lastSeq,
      file_ids: JSON.stringify(node.fileIds),
      model: node.model ?? null,
      prompt_version: node.promptVersion,
      level: node.level,
      quality: JSON.stringify(node.quality),
      created_at: node.createdAt,
    })
    .onConflict((conflict) => conflict.columns(["agent", "conversation", "id"]).doNothing())
    .execute();
  const rows = sources.map((source, position) => ({
    agent,
    conversation,
    summary: node.id,
    position,
    entry_seq: "entrySeq" in source ? source.entrySeq : null,
    source: "summary" in source ? source.summary : null,
  }));
  for (let from = 0; from < rows.length; from += 500) {
    await tx
      .insertInto("summary_sources")
      .values(rows.slice(from, from + 500))
      .onConflict((conflict) => conflict.columns(["agent", "conversation", "summary", "position"]).doNothing())
      .execute();
  }
}
