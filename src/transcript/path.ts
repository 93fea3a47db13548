import type { InferResult } from "kysely";
import type { ConversationSpan, Db, Store } from "../store/index.ts";
import type { TranscriptRef } from "./append.ts";

/** One step of the path from the root to an entry: a branch, up to one of its entries. */
export interface Segment {
  conversation: number;
  branch: number;
  upTo: number;
}

/** The head of a conversation, and the parent of the head's branch. */
export function headQuery(db: Db, ref: Omit<TranscriptRef, "transcript">) {
  return db
    .selectFrom("conversations as c")
    .leftJoin("branches as b", (join) =>
      join
        .onRef("b.agent", "=", "c.agent")
        .onRef("b.conversation", "=", "c.id")
        .onRef("b.branch", "=", "c.head_branch"),
    )
    .select(["c.head_branch", "c.head_seq", "c.branch_count", "c.tokens", "c.message_count"])
    .select(["b.parent_conversation", "b.parent_branch", "b.fork_seq", "b.tip_seq"])
    .where("c.agent", "=", ref.agent)
    .where("c.id", "=", ref.conversation);
}

export type HeadRow = InferResult<ReturnType<typeof headQuery>>[number];

/**
 * Whether the counters of a conversation are those of the path to its head: it has one branch, was not forked from another
 * conversation, and its head was not moved back.
 */
export function isUnbranched(place: HeadRow | undefined): place is HeadRow {
  return place?.branch_count === 1 && place.parent_conversation === null && place.tip_seq === place.head_seq;
}

/** The path from the root to the head, oldest segment first. */
export async function readActivePath(store: Store, ref: Omit<TranscriptRef, "transcript">): Promise<Segment[]> {
  return readPathFrom(store, ref, await headQuery(store.db, ref).executeTakeFirst());
}

/** Builds the path from a row that `headQuery` returned. */
export async function readPathFrom(
  store: Store,
  ref: Omit<TranscriptRef, "transcript">,
  place: HeadRow | undefined,
): Promise<Segment[]> {
  if (place?.head_branch == null || place.head_seq === null) return [];
  const head = { conversation: ref.conversation, branch: place.head_branch, upTo: place.head_seq };
  const path: Segment[] = [head];
  for (let segment = toParentSegment(place, head); segment; ) {
    path.unshift(segment);
    segment = await findParentSegment(store.db, ref.agent, segment);
  }
  return path;
}

/** The path from the root to the tip of a branch. */
export async function readBranchPath(
  store: Store,
  ref: Omit<TranscriptRef, "transcript">,
  branch: number,
): Promise<Segment[]> {
  const path: Segment[] = [];
  const tip: Segment = { conversation: ref.conversation, branch, upTo: Number.MAX_SAFE_INTEGER };
  for (let segment: Segment | undefined = tip; segment; ) {
    path.unshift(segment);
    segment = await findParentSegment(store.db, ref.agent, segment);
  }
  return path;
}

export async function readHead(
  store: Store,
  ref: Omit<TranscriptRef, "transcript">,
): Promise<{ branch: number; seq: number } | undefined> {
  const row = await store.db
    .selectFrom("conversations")
    .select(["head_branch", "head_seq"])
    .where("agent", "=", ref.agent)
    .where("id", "=", ref.conversation)
    .executeTakeFirst();
  return row?.head_branch == null || row.head_seq === null ? undefined : { branch: row.head_branch, seq: row.head_seq };
}

/** Whether `from` is this conversation or one that it was forked from. */
export async function isInherited(
  store: Store,
  ref: Omit<TranscriptRef, "transcript">,
  from: number,
): Promise<boolean> {
  return ref.conversation === from || (await listAncestors(store, ref)).includes(from);
}

/** The conversations that this one was forked from, nearest first. */
export async function listAncestors(store: Store, ref: Omit<TranscriptRef, "transcript">): Promise<number[]> {
  return (await listForkSpans(store, ref)).slice(1).map(({ conversation }) => conversation);
}

/** A conversation and those it was forked from, the nearest first, each up to the entry the fork starts at. */
export async function listForkSpans(
  store: Store,
  { agent, conversation }: Omit<TranscriptRef, "transcript">,
): Promise<ConversationSpan[]> {
  const spans: ConversationSpan[] = [{ conversation }];
  for (let at = conversation; ; ) {
    const first = await store.db
      .selectFrom("branches")
      .select(["parent_conversation", "fork_seq"])
      .where("agent", "=", agent)
      .where("conversation", "=", at)
      .where("branch", "=", 1)
      .executeTakeFirst();
    const parent = first?.parent_conversation;
    if (parent == null || first?.fork_seq == null || spans.some((span) => span.conversation === parent)) return spans;
    spans.push({ conversation: parent, upTo: Math.min(first.fork_seq, spans.at(-1)?.upTo ?? first.fork_seq) });
    at = parent;
  }
}

export async function findParentSegment(db: Db, agent: string, segment: Segment): Promise<Segment | undefined> {
  const row = await db
    .selectFrom("branches")
    .select(["parent_conversation", "parent_branch", "fork_seq"])
    .where("agent", "=", agent)
    .where("conversation", "=", segment.conversation)
    .where("branch", "=", segment.branch)
    .executeTakeFirst();
  return row && toParentSegment(row, segment);
}

type ParentRow = Pick<HeadRow, "parent_conversation" | "parent_branch" | "fork_seq">;

function toParentSegment(row: ParentRow, { upTo }: Segment): Segment | undefined {
  const { parent_conversation: conversation, parent_branch: branch, fork_seq: forkSeq } = row;
  if (conversation === null || branch === null || forkSeq === null) return undefined;
  return { conversation, branch, upTo: Math.min(forkSeq, upTo) };
}
