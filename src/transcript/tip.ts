import type { Db, Store } from "../store/index.ts";
import type { TranscriptRef } from "./append.ts";
import { type PlaceRow, pathFrom, type Segment } from "./path.ts";
import { columns, type Page, type Row, readPage, readTail } from "./read.ts";

/** The newest rows of the branch the head is on, the newest first. */
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

/** The session ids of a conversation's own transcripts: few, however long it is. */
export function transcriptsQuery(db: Db, ref: Omit<TranscriptRef, "transcript">) {
  return db
    .selectFrom("transcripts")
    .select(["id", "session_id"])
    .where("agent", "=", ref.agent)
    .where("conversation", "=", ref.conversation);
}

/** What those three found. */
export interface Tip {
  path: Segment[];
  /** The last entries of the active branch, as `readTail` gives them. */
  page: Page;
}

/** Puts together what was read at once; only what a branch or another conversation holds of it is read beside. */
export async function readTip(
  store: Store,
  ref: Omit<TranscriptRef, "transcript">,
  place: PlaceRow | undefined,
  newest: readonly Row[],
  transcripts: readonly { id: number; session_id: string }[],
  limit: number,
): Promise<Tip> {
  const path = await pathFrom(store, ref, place);
  const head = path.at(-1);
  if (!head) return { path, page: { entries: [] } };
  // What was written between two of the reads is no part of this.
  const rows = newest.filter((row) => row.branch === head.branch && row.seq <= head.upTo);
  if (path.length > 1 && rows.length < limit + 1) {
    const at = { branch: head.branch, seq: head.upTo };
    return { path, page: await readTail(store, ref, { limit, at, content: "reference" }) };
  }
  const sessions = new Map(transcripts.map((row) => [row.id, row.session_id]));
  return { path, page: await readPage(store, ref.agent, rows.toReversed(), limit, "reference", sessions) };
}
