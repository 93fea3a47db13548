import { prepareQuery, type Store } from "../store/index.ts";
import type { Inbound } from "./inbound.ts";
import { type InboxRow, isOpen, leasedAs, type TurnClaim } from "./inbox.ts";

export interface NewMessage {
  id: string;
  agent: string;
  key: string;
  sender: string;
  source: string;
  inbound: Inbound & { id: string };
  waitMs: number;
}

/** A message is answered after at most this many debounce intervals, however fast the sender types. */
const debounceRoundsMax = 10;

interface NewRow extends Pick<NewMessage, "agent" | "id" | "source" | "key" | "sender"> {
  payload: string;
  now: number;
  readyAt: number;
}

const inserted = prepareQuery((db, { agent, id, source, key, sender, payload, now, readyAt }: NewRow) =>
  db
    .insertInto("inbox")
    .values({
      ...{ agent, id, source, key, sender, payload, state: "waiting", attempts: 0 },
      ...{ ready_at: readyAt, accepted_at: now, updated_at: now },
    })
    .onConflict((conflict) => conflict.columns(["agent", "source"]).doNothing())
    .returningAll(),
);

type Leased = ReturnType<typeof leasedAs> & Pick<NewMessage, "agent" | "id" | "key">;

/** Claims the turn of a message when nothing else of its conversation is pending or running. */
const taken = prepareQuery((db, given: Leased) => {
  const { agent, id, key, state, turn, attempts, lease_owner, lease_until, updated_at } = given;
  const others = db
    .selectFrom("inbox")
    .select("num")
    .where("agent", "=", agent)
    .where("key", "=", key)
    .where(isOpen)
    .where("id", "!=", id);
  return db
    .updateTable("inbox")
    .set({ state, turn, attempts, lease_owner, lease_until, updated_at })
    .where("agent", "=", agent)
    .where("id", "=", id)
    .where(({ not, exists }) => not(exists(others)))
    .returning("num");
});

/** Delays the pending messages of the same sender until this one is due; a duplicate delays nothing. */
const putOff = prepareQuery((db, { agent, id, key, sender, readyAt, since }: NewRow & { since: number }) =>
  db
    .updateTable("inbox")
    .set({ ready_at: readyAt })
    .where("agent", "=", agent)
    .where("key", "=", key)
    .where("sender", "=", sender)
    .where(isOpen)
    .where("state", "=", "waiting")
    .where("accepted_at", ">", since)
    .where(({ exists, selectFrom }) =>
      exists(selectFrom("inbox as own").select("own.num").where("own.agent", "=", agent).where("own.id", "=", id)),
    ),
);

/**
 * Accepts a message durably; a known one is left alone. When its conversation is idle, the caller may claim its turn in
 * the same round trip.
 */
export async function acceptMessage(
  store: Store,
  message: NewMessage,
  taker?: { owner: string; leaseMs: number },
): Promise<{ row: InboxRow; duplicate: boolean; claim?: TurnClaim }> {
  const { agent, id, source, key, sender, inbound, waitMs } = message;
  const now = store.clock.now();
  const row = {
    agent,
    id,
    source,
    key,
    sender,
    payload: store.seal(JSON.stringify(inbound)),
    now,
    readyAt: now + waitMs,
  };
  const leased = leasedAs(id, 1, taker?.owner ?? "", now, taker?.leaseMs ?? 0);
  const insert = inserted(store.db, row);
  const lock = `inbox ${agent} ${key}`;
  const [made, mine] = await (waitMs > 0
    ? store.writeBatch([insert, putOff(store.db, { ...row, since: now - debounceRoundsMax * waitMs })], { lock })
    : taker
      ? store.writeBatch([insert, taken(store.db, { ...leased, agent, id, key })], { lock })
      : store.writeBatch([insert], { lock }));
  const [written] = made.rows;
  if (!written) {
    const known = store.db.selectFrom("inbox").selectAll().where("agent", "=", agent).where("source", "=", source);
    return { row: await known.executeTakeFirstOrThrow(), duplicate: true };
  }
  if (!taker || (mine?.rows.length ?? 0) === 0) return { row: written, duplicate: false };
  const messages = [{ row: { ...written, ...leased }, inbound }];
  const claim = { agent, turn: id, key, owner: taker.owner, attempt: 1, messages, progress: {} };
  return { row: written, duplicate: false, claim };
}
