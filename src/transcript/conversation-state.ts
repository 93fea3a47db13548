import type { JsonValue } from "../domain/index.ts";
import type { Store, StoreTransaction } from "../store/index.ts";
import type { TranscriptRef } from "./append.ts";

type ConversationRef = Omit<TranscriptRef, "transcript">;

/** The start of the names of states in the table of checkpoints, which they share with the saved heads. */
export const statePrefix = "state:";

/** Values by name; undefined removes one. */
export type StateChange = Readonly<Record<string, JsonValue | undefined>>;

const namesAtOnce = 500;

/** Reads the states with these names; missing ones are absent from the result. */
export async function readStates(
  store: Pick<Store | StoreTransaction, "db">,
  ref: ConversationRef,
  names: readonly string[],
): Promise<Map<string, JsonValue>> {
  const found = new Map<string, JsonValue>();
  for (let from = 0; from < names.length; from += namesAtOnce) {
    const wanted = names.slice(from, from + namesAtOnce).map((name) => statePrefix + name);
    const rows = await store.db
      .selectFrom("checkpoints")
      .select(["name", "data"])
      .where("agent", "=", ref.agent)
      .where("conversation", "=", ref.conversation)
      .where("name", "in", wanted)
      .execute();
    for (const row of rows) found.set(row.name.slice(statePrefix.length), JSON.parse(row.data) as JsonValue);
  }
  return found;
}

/** The names of the states that start with `prefix`, in no particular order. */
export async function listStates(store: Store, ref: ConversationRef, prefix: string): Promise<string[]> {
  const start = statePrefix + prefix;
  const rows = await store.db
    .selectFrom("checkpoints")
    .select("name")
    .where("agent", "=", ref.agent)
    .where("conversation", "=", ref.conversation)
    .where((eb) => eb(eb.fn<string>("substr", ["name", eb.val(1), eb.val(start.length)]), "=", start))
    .execute();
  return rows.map((row) => row.name.slice(statePrefix.length));
}

/**
 * Reads states, and writes what `change` makes of them, in one transaction: concurrent changes of a conversation run one
 * after the other. It is durable when it returns.
 */
export async function changeStates(
  store: Store,
  ref: ConversationRef,
  names: readonly string[],
  change: (current: ReadonlyMap<string, JsonValue>) => StateChange,
): Promise<void> {
  await store.transaction(async (tx) => {
    const conversation = tx.db
      .selectFrom("conversations")
      .select(["head_branch", "head_seq"])
      .where("agent", "=", ref.agent)
      .where("id", "=", ref.conversation);
    const head = await (store.engine === "postgres"
      ? conversation.forUpdate()
      : conversation
    ).executeTakeFirstOrThrow();
    const changes = Object.entries(change(await readStates(tx, ref, names)));
    for (const [name, value] of changes) await writeState(tx, ref, statePrefix + name, value, head);
  });
}

async function writeState(
  { db, clock }: StoreTransaction,
  { agent, conversation }: ConversationRef,
  name: string,
  value: JsonValue | undefined,
  head: { head_branch: number | null; head_seq: number | null },
): Promise<void> {
  if (value === undefined) {
    await db
      .deleteFrom("checkpoints")
      .where("agent", "=", agent)
      .where("conversation", "=", conversation)
      .where("name", "=", name)
      .execute();
    return;
  }
  const row = { time: clock.now(), ...head, data: JSON.stringify(value) };
  await db
    .insertInto("checkpoints")
    .values({ agent, conversation, name, ...row })
    .onConflict((conflict) => conflict.columns(["agent", "conversation", "name"]).doUpdateSet(row))
    .execute();
}
