import type { InferResult } from "kysely";
import type { ConversationSpan, Db, Store } from "../store/index.ts";
import type { TranscriptRef } from "./append.ts";

/** A stretch of the way from an entry to its root: one branch, up to an entry. */
export interface Segment {
  conversation: number;
  branch: number;
  upTo: number;
}

/** Where a conversation stands, and what the branch of its head comes from. */
export function placeQuery(db: Db, ref: Omit<TranscriptRef, "transcript">) {
  return db
    .selectFrom("conversations as c")
    .leftJoin("branches as b", (join) =>
      join
        .onRef("b.agent", "=", "c.agent")
        .onRef("b.conversation", "=", "c.id")
        .onRef("b.branch", "=", "c.head_branch"),
    )
    .select(["c.head_branch", "c.head_seq", "c.branch_count", "c.tokens"])
    .select(["b.parent_conversation", "b.parent_branch", "b.fork_seq"])
    .where("c.agent", "=", ref.agent)
    .where("c.id", "=", ref.conversation);
}

export type PlaceRow = InferResult<ReturnType<typeof placeQuery>>[number];

/** The way from the root to the head, oldest stretch first. */
export async function activePath(store: Store, ref: Omit<TranscriptRef, "transcript">): Promise<Segment[]> {
  return pathFrom(store, ref, await placeQuery(store.db, ref).executeTakeFirst());
}

/** The same from where a conversation stands. */
export async function pathFrom(
  store: Store,
  ref: Omit<TranscriptRef, "transcript">,
  place: PlaceRow | undefined,
): Promise<Segment[]> {
  if (place?.head_branch == null || place.head_seq === null) return [];
  const head = { conversation: ref.conversation, branch: place.head_branch, upTo: place.head_seq };
  const path: Segment[] = [head];
  for (let segment = segmentBefore(place, head); segment; ) {
    path.unshift(segment);
    segment = await parentSegment(store.db, ref.agent, segment);
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

/** Whether a conversation is this one, or one that it was forked from. */
export async function isInherited(
  store: Store,
  ref: Omit<TranscriptRef, "transcript">,
  from: number,
): Promise<boolean> {
  return ref.conversation === from || (await listAncestors(store, ref)).includes(from);
}

/** The conversations that one was forked from, the nearest first. */
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

export async function parentSegment(db: Db, agent: string, segment: Segment): Promise<Segment | undefined> {
  const row = await db
    .selectFrom("branches")
    .select(["parent_conversation", "parent_branch", "fork_seq"])
    .where("agent", "=", agent)
    .where("conversation", "=", segment.conversation)
    .where("branch", "=", segment.branch)
    .executeTakeFirst();
  return row && segmentBefore(row, segment);
}

type ParentRow = Pick<PlaceRow, "parent_conversation" | "parent_branch" | "fork_seq">;

function segmentBefore(row: ParentRow, { upTo }: Segment): Segment | undefined {
  const { parent_conversation: conversation, parent_branch: branch, fork_seq: forkSeq } = row;
  if (conversation === null || branch === null || forkSeq === null) return undefined;
  return { conversation, branch, upTo: Math.min(forkSeq, upTo) };
}
