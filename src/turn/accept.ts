import type { Db } from "../store/index.ts";
import type { Inbound } from "./inbound.ts";
import { type Claimed, type InboxHost, type InboxRow, isOpen, leasedAs } from "./inbox.ts";

export interface NewMessage {
  id: string;
  agent: string;
  key: string;
  sender: string;
  source: string;
  inbound: Inbound & { id: string };
  waitMs: number;
}

/** However fast somebody types, what they began is answered within so many times the wait. */
const debounceRoundsMax = 10;

/**
 * Takes a message in, durably. One that is known is left alone. Where its conversation has nothing else to do, whoever
 * accepts it may take its turn with the same stroke.
 */
export async function acceptMessage(
  { store, clock }: InboxHost,
  message: NewMessage,
  taker?: { owner: string; leaseMs: number },
): Promise<{ row: InboxRow; duplicate: boolean; claimed?: Claimed }> {
  const { agent, id, source, key, sender, inbound, waitMs } = message;
  const now = clock.now();
  const insert = store.db
    .insertInto("inbox")
    .values({
      agent,
      id,
      source,
      key,
      sender,
      payload: JSON.stringify(inbound),
      state: "waiting",
      attempts: 0,
      ready_at: now + waitMs,
      accepted_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.columns(["agent", "source"]).doNothing())
    .returningAll();
  const leased = leasedAs(id, 1, taker?.owner ?? "", now, taker?.leaseMs ?? 0);
  const take = store.db
    .updateTable("inbox")
    .set(leased)
    .where("agent", "=", agent)
    .where("id", "=", id)
    .where(({ not, exists }) => not(exists(others(store.db, message))))
    .returning("num");
  const wait = store.db
    .updateTable("inbox")
    .set({ ready_at: now + waitMs })
    .where("agent", "=", agent)
    .where("key", "=", key)
    .where("sender", "=", sender)
    .where(isOpen)
    .where("state", "=", "waiting")
    .where("accepted_at", ">", now - debounceRoundsMax * waitMs)
    // What was known before puts nobody off.
    .where(({ exists, selectFrom }) =>
      exists(selectFrom("inbox as own").select("own.num").where("own.agent", "=", agent).where("own.id", "=", id)),
    );
  const lock = `inbox ${agent} ${key}`;
  const [made, taken] = await (waitMs > 0
    ? store.writeTogether([insert, wait], { lock })
    : taker
      ? store.writeTogether([insert, take], { lock })
      : store.writeTogether([insert], { lock }));
  const [row] = made.rows;
  if (!row) {
    const known = store.db.selectFrom("inbox").selectAll().where("agent", "=", agent).where("source", "=", source);
    return { row: await known.executeTakeFirstOrThrow(), duplicate: true };
  }
  if (!taker || (taken?.rows.length ?? 0) === 0) return { row, duplicate: false };
  const messages = [{ row: { ...row, ...leased }, inbound }];
  const claimed = { agent, turn: id, key, owner: taker.owner, attempt: 1, messages, progress: {} };
  return { row, duplicate: false, claimed };
}

/** What else of a conversation waits or runs. */
function others(db: Db, { agent, id, key }: NewMessage) {
  return db
    .selectFrom("inbox")
    .select("num")
    .where("agent", "=", agent)
    .where("key", "=", key)
    .where(isOpen)
    .where("id", "!=", id);
}
