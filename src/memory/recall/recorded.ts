import { type InferResult, sql } from "kysely";
import type { Db, Store } from "../../store/index.ts";

/** A recall block that was added to the context of a message. */
export interface RecordedRecall {
  agent: string;
  conversation: number;
  /** The entry that it follows. */
  seq: number;
  time: number;
  prompt: string;
  block: string;
  tokens: number;
  /** The ids of memories and notes. */
  memories: string[];
}

const promptCharsMax = 2_000;

/** Stores the recall of a prompt; a recall for the same entry is replaced. */
export async function recordRecall(store: Store, recalled: RecordedRecall): Promise<void> {
  const { agent, conversation, seq, memories, prompt, ...rest } = recalled;
  const row = { ...rest, prompt: toStoredPrompt(prompt), memories: JSON.stringify(memories) };
  await store.transaction(({ db }) =>
    db
      .insertInto("memory_recalls")
      .values({ agent, conversation, seq, ...row })
      .onConflict((conflict) => conflict.columns(["agent", "conversation", "seq"]).doUpdateSet(row))
      .execute(),
  );
}

/** The recalls from an entry on, the newest first. */
export async function readRecallsSince(
  store: Store,
  ref: { agent: string; conversation: number },
  seq: number,
  limit = 1_000,
): Promise<RecordedRecall[]> {
  const rows = await store.db
    .selectFrom("memory_recalls")
    .selectAll()
    .where("agent", "=", ref.agent)
    .where("conversation", "=", ref.conversation)
    .where("seq", ">=", seq)
    .orderBy("seq", "desc")
    .limit(limit)
    .execute();
  return rows.map(toRecordedRecall);
}

/** The newest recalls after the compacted part of a conversation; a query, so that callers can batch it. */
export function recallsQuery(db: Db, ref: { agent: string; conversation: number }) {
  return db
    .selectFrom("memory_recalls")
    .selectAll()
    .where("agent", "=", ref.agent)
    .where("conversation", "=", ref.conversation)
    .where(
      "seq",
      ">",
      sql<number>`coalesce((select covered_seq from context_states
        where agent = ${ref.agent} and conversation = ${ref.conversation}), 0)`,
    )
    .orderBy("seq", "desc")
    .limit(1_000);
}

export function toRecordedRecall(row: InferResult<ReturnType<typeof recallsQuery>>[number]): RecordedRecall {
  return { ...row, memories: JSON.parse(row.memories) as string[] };
}

/** The first entry of the last `turns` turns of a branch; 0 when it has fewer. */
export async function findTurnStart(
  store: Store,
  ref: { agent: string; conversation: number; branch: number },
  turns: number,
): Promise<number> {
  if (turns < 1) return Number.MAX_SAFE_INTEGER;
  const row = await store.db
    .selectFrom("entries")
    .select("seq")
    .where("agent", "=", ref.agent)
    .where("conversation", "=", ref.conversation)
    .where("branch", "=", ref.branch)
    .where("kind", "=", "user")
    .orderBy("seq", "desc")
    .offset(turns - 1)
    .limit(1)
    .executeTakeFirst();
  return row?.seq ?? 0;
}

export function isSamePrompt(recorded: Pick<RecordedRecall, "prompt">, prompt: string): boolean {
  return recorded.prompt === toStoredPrompt(prompt);
}

/** Truncates a prompt and replaces characters that databases reject. */
function toStoredPrompt(prompt: string): string {
  return prompt.slice(0, promptCharsMax).toWellFormed().replaceAll("\u0000", "\ufffd");
}
