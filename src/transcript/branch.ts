import { type Clock, type JsonValue, VarveError } from "../domain/index.ts";
import type { Store, StoreTransaction } from "../store/index.ts";
import type { TranscriptRef } from "./append.ts";
import { statePrefix } from "./conversation-state.ts";
import { findEntry } from "./read.ts";

type ConversationRef = Omit<TranscriptRef, "transcript">;

/** Makes an entry the head: the next append continues from it, on a new branch if it already has successors. */
export async function moveHead(store: Store, ref: ConversationRef, entryId: string): Promise<void> {
  const found = await findEntry(store, ref.agent, { conversation: ref.conversation, id: entryId });
  await store.transaction((tx) => setHead(tx, ref, { branch: found.branch, seq: found.entry.seq }));
}

export async function setHead(
  tx: StoreTransaction,
  ref: ConversationRef,
  head: { branch: number; seq: number } | undefined,
): Promise<void> {
  await tx.db
    .updateTable("conversations")
    .set({ head_branch: head?.branch ?? null, head_seq: head?.seq ?? null })
    .where("agent", "=", ref.agent)
    .where("id", "=", ref.conversation)
    .execute();
}

export interface BranchInfo {
  branch: number;
  parentBranch: number | null;
  forkSeq: number | null;
  tipSeq: number | null;
  active: boolean;
}

export async function listBranches(store: Store, ref: ConversationRef): Promise<BranchInfo[]> {
  const head = await store.db
    .selectFrom("conversations")
    .select("head_branch")
    .where("agent", "=", ref.agent)
    .where("id", "=", ref.conversation)
    .executeTakeFirst();
  const rows = await store.db
    .selectFrom("branches")
    .select(["branch", "parent_branch", "fork_seq", "tip_seq"])
    .where("agent", "=", ref.agent)
    .where("conversation", "=", ref.conversation)
    .orderBy("branch")
    .execute();
  return rows.map((row) => ({
    branch: row.branch,
    parentBranch: row.parent_branch,
    forkSeq: row.fork_seq,
    tipSeq: row.tip_seq,
    active: row.branch === head?.head_branch,
  }));
}

/** A session that continues a conversation after one of its entries. */
export interface ForkInfo {
  key: string;
  displayName: string | null;
  /** The last entry that both share. */
  forkSeq: number;
}

/** The newest forks of a conversation. */
export async function listForks(store: Store, ref: ConversationRef, limit = 200): Promise<ForkInfo[]> {
  const rows = await store.db
    .selectFrom("branches")
    .innerJoin("sessions", (join) =>
      join.onRef("sessions.agent", "=", "branches.agent").onRef("sessions.conversation", "=", "branches.conversation"),
    )
    .select(["sessions.key", "sessions.display_name", "branches.fork_seq"])
    .where("branches.agent", "=", ref.agent)
    .where("branches.parent_conversation", "=", ref.conversation)
    .where("branches.conversation", "!=", ref.conversation)
    .where("branches.branch", "=", 1)
    .orderBy("branches.conversation", "desc")
    .limit(limit)
    .execute();
  return rows.map((row) => ({ key: row.key, displayName: row.display_name, forkSeq: row.fork_seq ?? 0 }));
}

/** Saves the head under a name, with the data that the caller needs to undo its change. */
export async function saveCheckpoint(
  store: Store,
  ref: ConversationRef,
  name: string,
  clock: Clock,
  data: JsonValue = null,
): Promise<void> {
  await store.transaction(async ({ db }) => {
    const head = await db
      .selectFrom("conversations")
      .select(["head_branch", "head_seq"])
      .where("agent", "=", ref.agent)
      .where("id", "=", ref.conversation)
      .executeTakeFirstOrThrow();
    const kept = { time: clock.now(), ...head, data: JSON.stringify(data) };
    await db
      .insertInto("checkpoints")
      .values({ agent: ref.agent, conversation: ref.conversation, name, ...kept })
      .onConflict((conflict) => conflict.columns(["agent", "conversation", "name"]).doUpdateSet(kept))
      .execute();
  });
}

/** Resets the head to the checkpoint; later entries stay readable on their branch. */
export async function restoreCheckpoint(store: Store, ref: ConversationRef, name: string): Promise<JsonValue> {
  return store.transaction(async (tx) => {
    const found = await tx.db
      .selectFrom("checkpoints")
      .select(["head_branch", "head_seq", "data"])
      .where("agent", "=", ref.agent)
      .where("conversation", "=", ref.conversation)
      .where("name", "=", name)
      .executeTakeFirst();
    if (!found) {
      throw new VarveError("NOT_FOUND", `There is no checkpoint named ${JSON.stringify(name)} in this conversation.`, {
        remedy: "List the checkpoints with `varve sessions show`.",
      });
    }
    const { head_branch: branch, head_seq: seq } = found;
    await setHead(tx, ref, branch === null || seq === null ? undefined : { branch, seq });
    return JSON.parse(found.data) as JsonValue;
  });
}

export async function listCheckpoints(store: Store, ref: ConversationRef): Promise<{ name: string; time: number }[]> {
  return store.db
    .selectFrom("checkpoints")
    .select(["name", "time"])
    .where("agent", "=", ref.agent)
    .where("conversation", "=", ref.conversation)
    .where("name", "not like", `${statePrefix}%`)
    .orderBy("time")
    .execute();
}
