import { type InferResult, sql } from "kysely";
import type { Db, Store } from "../../store/index.ts";

/** What was put beside a message, and why. */
export interface RecordedRecall {
  agent: string;
  conversation: number;
  /** The entry it stands behind. */
  seq: number;
  time: number;
  prompt: string;
  block: string;
  tokens: number;
  /** The ids of memories, and the places of parts of notes and files. */
  memories: string[];
}

const promptCharsMax = 2_000;

/** Writes down what a prompt brought up. The same place is written once for each prompt. */
export async function recordRecall(store: Store, recalled: RecordedRecall): Promise<void> {
  const { memories, prompt, ...rest } = recalled;
  const row = { ...rest, prompt: keptOf(prompt), memories: JSON.stringify(memories) };
  await store.transaction(({ db }) =>
    db
      .insertInto("memory_recalls")
      .values(row)
      .onConflict((conflict) => conflict.columns(["agent", "conversation", "seq"]).doUpdateSet(row))
      .execute(),
  );
}

/** What stands behind the entries from one on, the newest first. */
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
  return rows.map(recallFromRow);
}

/** The newest of them behind what a compaction has covered, for whoever reads more with it. */
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

export function recallFromRow(row: InferResult<ReturnType<typeof recallsQuery>>[number]): RecordedRecall {
  return { ...row, memories: JSON.parse(row.memories) as string[] };
}

/** The entry of a branch that its last so many turns begin with; 0 when it had fewer. */
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
  return recorded.prompt === keptOf(prompt);
}

/** Its beginning, without what no database takes. */
function keptOf(prompt: string): string {
  return prompt.slice(0, promptCharsMax).toWellFormed().replaceAll("\u0000", "\ufffd");
}
