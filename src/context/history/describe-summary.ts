import { VarveError } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { readSources, readSummaries, type StoredSummary, summaryFromRow } from "../dag.ts";

/** A summary with its place in the DAG. */
export interface SummaryDescription {
  summary: StoredSummary;
  /** Its sources in order: citations of messages, or ids of summaries. */
  sources: string[];
  /** The summaries that were made from it. */
  parents: string[];
  /** How much of the subtree fits the budget, and the cost of the rest. */
  subtree: { summaries: number; summaryTokens: number; messages: number; messageTokens: number; fits: boolean };
}

export async function findSummary(store: Store, agent: string, id: string): Promise<StoredSummary> {
  const row = await store.db
    .selectFrom("summaries")
    .selectAll()
    .where("agent", "=", agent)
    .where("id", "=", id)
    .executeTakeFirst();
  if (row) return summaryFromRow(row);
  throw new VarveError("NOT_FOUND", `There is no summary ${JSON.stringify(id)}.`, {
    remedy: "Summary ids look like sum_0123456789abcdef; `varve context tree SESSION` shows those of a session.",
  });
}

export async function describeSummary(
  store: Store,
  agent: string,
  id: string,
  tokenCap: number,
): Promise<SummaryDescription> {
  const summary = await findSummary(store, agent, id);
  const sources = await readSources(store.db, agent, summary);
  const parents = await store.db
    .selectFrom("summary_sources")
    .select("summary")
    .where("agent", "=", agent)
    .where("conversation", "=", summary.conversation)
    .where("source", "=", id)
    .execute();
  return {
    summary,
    sources: sources.map((source) => ("summary" in source ? source.summary : `msg#${source.entrySeq}`)),
    parents: parents.map((row) => row.summary),
    subtree: {
      summaries: summary.descendantCount,
      summaryTokens: summary.descendantTokens,
      messages: summary.sourceMessageCount,
      messageTokens: summary.sourceMessageTokens,
      fits: summary.descendantTokens + summary.sourceMessageTokens <= tokenCap,
    },
  };
}

/** A summary and everything below it, for drawing. */
export interface TreeNode {
  summary: StoredSummary;
  children: TreeNode[];
}

export async function summaryTree(store: Store, agent: string, roots: StoredSummary[]): Promise<TreeNode[]> {
  const nodes: TreeNode[] = [];
  for (const summary of roots) {
    const sources = summary.kind === "leaf" ? [] : await readSources(store.db, agent, summary);
    const ids = sources.flatMap((source) => ("summary" in source ? [source.summary] : []));
    nodes.push({ summary, children: await summaryTree(store, agent, await readSummaries(store.db, agent, ids)) });
  }
  return nodes;
}

/** The leaves that cover some messages, in the order of the messages, without duplicates. */
export async function findLeaves(
  store: Store,
  agent: string,
  messages: { conversation: number; seq: number }[],
  limit: number,
): Promise<string[]> {
  const found: string[] = [];
  for (const { conversation, seq } of messages) {
    if (found.length >= limit) break;
    const rows = await store.db
      .selectFrom("summaries")
      .select("id")
      .where("agent", "=", agent)
      .where("conversation", "=", conversation)
      .where("kind", "=", "leaf")
      .where("first_seq", "<=", seq)
      .where("last_seq", ">=", seq)
      .limit(2)
      .execute();
    for (const { id } of rows) if (!found.includes(id)) found.push(id);
  }
  return found.slice(0, limit);
}

/** The messages under some summaries, at any depth. */
export async function listCoveredEntries(
  store: Store,
  agent: string,
  ids: string[],
  conversations: readonly number[] | undefined,
): Promise<number[]> {
  const seqs = new Set<number>();
  for (const id of ids) {
    const top = await findSummary(store, agent, id);
    if (conversations !== undefined && !conversations.includes(top.conversation)) {
      throw new VarveError("NOT_FOUND", `There is no summary ${id} here.`, { remedy: "Take an id from lcm_grep." });
    }
    const waiting = [top];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const children: string[] = [];
      for (const source of await readSources(store.db, agent, next)) {
        if ("summary" in source) children.push(source.summary);
        else seqs.add(source.entrySeq);
      }
      waiting.push(...(await readSummaries(store.db, agent, children)));
    }
  }
  return [...seqs].sort((a, b) => a - b);
}
