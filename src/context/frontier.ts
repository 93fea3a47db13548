import { type InferResult, sql } from "kysely";
import type { Db, Store, Tx } from "../store/index.ts";
import { readActivePath, type Segment } from "../transcript/index.ts";
import {
  type ConversationRef,
  readSources,
  readSummaries,
  type StoredSummary,
  type SummarySource,
  writeSummary,
} from "./dag.ts";
import { openAcrossBoundary, type SessionBoundary } from "./session-boundary.ts";

/**
 * The context of a conversation: summaries in order, then the messages of the active branch after the last entry that
 * they cover. Nothing is written for a message, so ingest costs nothing here.
 */
export interface Frontier {
  summaries: StoredSummary[];
  /** The last entry that the summaries cover; 0 when there are none. */
  coveredSeq: number;
  /** The version of the stored state this was read from; 0 before the first compaction. */
  version: number;
  /** Tool results up to this entry are shown truncated. */
  prunedSeq: number;
  /** True when the active branch has left the stored state, so that some summaries are no longer valid. */
  moved: boolean;
  path: Segment[];
}

export interface FrontierOptions {
  /** Summaries that were read before: nodes never change, so only new ones are read. */
  known?: Map<string, StoredSummary>;
  /** The path and the stored state, if they were read already. */
  opening?: { path: Segment[]; state: StateRow | undefined };
  /** The session to load it for: no summary that its context does not retain covers messages of it. */
  boundary?: SessionBoundary;
}

export async function loadFrontier(
  store: Store,
  ref: ConversationRef,
  { known = new Map(), opening, boundary }: FrontierOptions = {},
): Promise<Frontier> {
  const path = opening?.path ?? (await readActivePath(store, ref));
  const state = opening ? opening.state : await stateQuery(store.db, ref).executeTakeFirst();
  const stored = await storedFrontier(store.db, ref, known, state);
  const onBranch = await validPrefix(store, ref, path, stored.summaries);
  const valid = boundary === undefined ? onBranch : await openAcrossBoundary(store, ref.agent, onBranch, boundary);
  const moved =
    valid.length !== stored.summaries.length || valid.some((one, index) => one.id !== stored.summaries[index]?.id);
  return {
    summaries: valid,
    coveredSeq: valid.at(-1)?.lastSeq ?? 0,
    version: stored.version,
    prunedSeq: stored.prunedSeq,
    moved,
    path,
  };
}

/** The state that the last compaction stored. */
export function stateQuery(db: Db, ref: ConversationRef) {
  return db
    .selectFrom("context_states")
    .select(["version", "pruned_seq", "covered_seq"])
    .where("agent", "=", ref.agent)
    .where("conversation", "=", ref.conversation);
}

export type StateRow = InferResult<ReturnType<typeof stateQuery>>[number];

async function storedFrontier(
  db: Db | Tx,
  ref: ConversationRef,
  known: Map<string, StoredSummary>,
  state: StateRow | undefined,
): Promise<{ summaries: StoredSummary[]; version: number; prunedSeq: number }> {
  if (!state) return { summaries: [], version: 0, prunedSeq: 0 };
  const items = await db
    .selectFrom("context_items")
    .select("summary")
    .where("agent", "=", ref.agent)
    .where("conversation", "=", ref.conversation)
    .orderBy("position")
    .execute();
  const missing = items.map((row) => row.summary).filter((id) => !known.has(id));
  for (const summary of await readSummaries(db, ref.agent, missing)) known.set(summary.id, summary);
  return {
    summaries: items.flatMap((row) => known.get(row.summary) ?? []),
    version: state.version,
    prunedSeq: state.pruned_seq,
  };
}

/**
 * The summaries that are valid on the active branch. The messages of a summary are a run of one branch's history, so it
 * is valid exactly when its last message is on the path. One that goes further is replaced by its valid sources.
 */
async function validPrefix(
  store: Store,
  ref: ConversationRef,
  path: Segment[],
  summaries: StoredSummary[],
): Promise<StoredSummary[]> {
  const last = summaries.at(-1);
  if (!last || (await onPath(store, ref, path, last.lastSeq))) return summaries;
  const kept: StoredSummary[] = [];
  for (const summary of summaries) {
    if (await onPath(store, ref, path, summary.lastSeq)) {
      kept.push(summary);
      continue;
    }
    const sources = await readSources(store.db, ref.agent, summary);
    const ids = sources.flatMap((source) => ("summary" in source ? [source.summary] : []));
    const children = await readSummaries(store.db, ref.agent, ids);
    kept.push(...(await validPrefix(store, ref, path, children)));
    break;
  }
  return kept;
}

async function onPath(store: Store, ref: ConversationRef, path: Segment[], seq: number): Promise<boolean> {
  const entry = await store.db
    .selectFrom("entries")
    .select(["conversation", "branch"])
    .where("agent", "=", ref.agent)
    .where("seq", "=", seq)
    .executeTakeFirst();
  return path.some((one) => one.conversation === entry?.conversation && one.branch === entry.branch && seq <= one.upTo);
}

/** Replaces the list of summaries if its version has not changed; false when another process was faster. */
export async function writeFrontier(
  tx: Tx,
  ref: ConversationRef,
  summaries: StoredSummary[],
  version: number,
  now: number,
): Promise<boolean> {
  const coveredSeq = summaries.at(-1)?.lastSeq ?? 0;
  const taken = await sql<{ version: number }>`
    insert into context_states (agent, conversation, covered_seq, version, compacted_at)
    values (${ref.agent}, ${ref.conversation}, ${coveredSeq}, ${version + 1}, ${now})
    on conflict (agent, conversation) do update set covered_seq = excluded.covered_seq, version = excluded.version,
      compacted_at = excluded.compacted_at where context_states.version = ${version} returning version`.execute(tx);
  if (taken.rows.length === 0) return false;
  await replaceItems(tx, ref, summaries);
  return true;
}

/** Rewrites the list from the first difference: a new summary at the end costs one row. */
async function replaceItems(tx: Tx, ref: ConversationRef, summaries: StoredSummary[]): Promise<void> {
  const { agent, conversation } = ref;
  const before = await tx
    .selectFrom("context_items")
    .select("summary")
    .where("agent", "=", agent)
    .where("conversation", "=", conversation)
    .orderBy("position")
    .execute();
  const changed = summaries.findIndex((summary, index) => before[index]?.summary !== summary.id);
  const from = changed === -1 ? summaries.length : changed;
  await tx
    .deleteFrom("context_items")
    .where("agent", "=", agent)
    .where("conversation", "=", conversation)
    .where("position", ">=", from)
    .execute();
  for (let start = from; start < summaries.length; start += 500) {
    const rows = summaries
      .slice(start, start + 500)
      .map((summary, index) => ({ agent, conversation, position: start + index, summary: summary.id }));
    await tx.insertInto("context_items").values(rows).execute();
  }
}

/**
 * Replaces a run of items by one summary, in one short transaction. Returns false, and writes nothing, when the state is
 * no longer the one that the pass was planned on.
 */
export async function publish(
  store: Store,
  ref: ConversationRef,
  frontier: Frontier,
  made: { node: StoredSummary; sources: SummarySource[]; summaries: StoredSummary[] },
): Promise<boolean> {
  return store.transaction(async (tx) => {
    await tx.lock(`context ${ref.agent} ${ref.conversation}`);
    if (!(await writeFrontier(tx.db, ref, made.summaries, frontier.version, store.clock.now()))) return false;
    await writeSummary(tx.db, ref.agent, made.node, made.sources);
    return true;
  });
}
