import type { Db, Store } from "../store/index.ts";
import type { TranscriptRef } from "./append.ts";
import { type HeadRow, readPathFrom, type Segment } from "./path.ts";
import { columns, type Page, type Row, readPage, readTail } from "./read.ts";

/** The newest rows of the head's branch, newest first. */
export function tipQuery(db: Db, ref: Omit<TranscriptRef, "transcript">, limit: number) {
  const head = (column: "head_branch" | "head_seq") =>
    db.selectFrom("conversations").select(column).where("agent", "=", ref.agent).where("id", "=", ref.conversation);
  return db
    .selectFrom("entries")
    .select(columns)
    .where("agent", "=", ref.agent)
    .where("conversation", "=", ref.conversation)
    .where("branch", "=", head("head_branch"))
    .where("seq", "<=", head("head_seq"))
    .orderBy("seq", "desc")
    .limit(limit);
}

/** The session ids of a conversation's own transcripts. */
export function transcriptsQuery(db: Db, ref: Omit<TranscriptRef, "transcript">) {
  return db
    .selectFrom("transcripts")
    .select(["id", "session_id"])
    .where("agent", "=", ref.agent)
    .where("conversation", "=", ref.conversation);
}

/** The path to the head, and the last entries on it. */
export interface Tip {
  path: Segment[];
  /** The last entries of the active branch, like `readTail` returns them. */
  page: Page;
}

/**
 * Combines rows that were read in one batch. Only entries inherited from another branch or conversation need further
 * reads.
 */
export async function readTip(
  store: Store,
  ref: Omit<TranscriptRef, "transcript">,
  place: HeadRow | undefined,
  newest: readonly Row[],
  transcripts: readonly { id: number; session_id: string }[],
  limit: number,
): Promise<Tip> {
  const path = await readPathFrom(store, ref, place);
  const head = path.at(-1);
  if (!head) return { path, page: { entries: [] } };
  // Rows written between two reads of the batch are ignored.
  const rows = newest.filter((row) => row.branch === head.branch && row.seq <= head.upTo);
  if (path.length > 1 && rows.length < limit + 1) {
    const at = { branch: head.branch, seq: head.upTo };
    return { path, page: await readTail(store, ref, { limit, at, content: "reference" }) };
  }
  const sessions = new Map(transcripts.map((row) => [row.id, row.session_id]));
  return { path, page: await readPage(store, ref.agent, rows.toReversed(), limit, "reference", sessions) };
}
