import { sql } from "kysely";
import { type Db, type InboxTable, prepareQuery, type Store, type Tx } from "../store/index.ts";
import type { TurnResult } from "./events.ts";
import { type Inbound, isFromPerson } from "./inbound.ts";

export type InboxRow = Omit<InboxTable, "num"> & { num: number };

/** A turn that this process may run until the lease expires. */
export interface TurnClaim {
  agent: string;
  turn: string;
  key: string;
  owner: string;
  attempt: number;
  messages: { row: InboxRow; inbound: Inbound & { id: string } }[];
  progress: Progress;
}

/** The steps of an earlier attempt, which must not be repeated. */
export interface Progress {
  sessionId?: string;
  /** The text after the trigger that opened the session. */
  text?: string;
  reset?: "new" | "reset";
}

/** One lock for the whole queue: two processes must not choose the same turn, and choosing takes only a few reads. */
const lockName = "turns";
/**
 * Pending and running rows. Literal, not parameters: the partial index is used only for exactly this condition, and
 * without it every query would scan all answered messages.
 */
export const isOpen = sql<boolean>`state in ('waiting', 'running')`;
const groupMax = 100;

/** The next turn of the queue, and when to look again. */
export interface Look {
  /** The first message of the next turn; absent when there is none. */
  next?: OpenRow;
  /** When the next pending message is due, or the lease of another process ends. */
  dueAt?: number;
}

type OpenRow = Pick<InboxRow, "num" | "agent" | "key" | "state" | "turn" | "ready_at" | "lease_until">;

/** How many rows are read to find a due message; later ones are found when these are done. */
const lookedAtMax = 2_000;

const openRows = prepareQuery((db, { limit }: { limit: number }) =>
  db
    .selectFrom("inbox")
    .select(["num", "agent", "key", "state", "turn", "ready_at", "lease_until"])
    .where(isOpen)
    .orderBy("num")
    .limit(limit),
);

/**
 * Finds the next turn without a lock: an idle process takes none. A turn that runs here is not abandoned, however late
 * its lease is extended.
 */
export async function findNextTurn(
  store: Store,
  isRunningHere: (row: Pick<OpenRow, "agent" | "turn">) => boolean,
): Promise<Look> {
  const now = store.clock.now();
  const [open] = await store.readBatch([openRows(store.db, { limit: lookedAtMax })]);
  const elsewhere = open.filter((row) => row.state === "running" && !isRunningHere(row));
  const abandoned = elsewhere.find((row) => (row.lease_until ?? 0) <= now);
  if (abandoned) return { next: abandoned };
  // Messages of a conversation are answered in order: a running or delayed one blocks the later ones.
  const seen = new Set<string>();
  // A turn of another process may be taken over when its lease ends.
  let dueAt = elsewhere.reduce<number | undefined>(
    (first, { lease_until }) => Math.min(first ?? Number.POSITIVE_INFINITY, lease_until ?? 0),
    undefined,
  );
  for (const row of open) if (row.state === "running") seen.add(conversationName(row));
  for (const row of open) {
    if (row.state !== "waiting" || seen.has(conversationName(row))) continue;
    if (row.ready_at <= now) return { next: row };
    seen.add(conversationName(row));
    dueAt = Math.min(dueAt ?? row.ready_at, row.ready_at);
  }
  return dueAt === undefined ? {} : { dueAt };
}

function conversationName({ agent, key }: OpenRow): string {
  return `${agent} ${key}`;
}

/** Claims a turn; undefined when another process was faster. */
export async function claimTurn(
  store: Store,
  seen: OpenRow,
  owner: string,
  leaseMs: number,
): Promise<TurnClaim | undefined> {
  const now = store.clock.now();
  const claim = await store.transaction(
    async (tx) => {
      await tx.lock(lockName);
      const rows = seen.turn === null ? await readGroup(tx.db, seen, now) : await readTurnRows(tx.db, seen);
      const [first] = rows;
      if (!first) return undefined;
      const leased = leasedAs(first.turn ?? first.id, first.attempts + 1, owner, now, leaseMs);
      // The turn may have ended since it was found: rows that changed are left alone.
      const taken = await tx.db
        .updateTable("inbox")
        .set(leased)
        .where(
          "num",
          "in",
          rows.map((row) => row.num),
        )
        .where((where) =>
          where.or([
            where("state", "=", "waiting"),
            where.and([where("state", "=", "running"), where("lease_until", "<=", now)]),
          ]),
        )
        .executeTakeFirst();
      return Number(taken.numUpdatedRows) === 0 ? undefined : { rows, leased, first };
    },
    // A lease that is lost in a power failure is taken again.
    { sync: false },
  );
  if (!claim) return undefined;
  const { rows, leased, first } = claim;
  return {
    agent: first.agent,
    turn: leased.turn,
    key: first.key,
    owner,
    attempt: leased.attempts,
    messages: rows.map((row) => ({
      row: { ...row, ...leased },
      inbound: JSON.parse(row.payload) as Inbound & { id: string },
    })),
    progress: first.progress === null ? {} : (JSON.parse(first.progress) as Progress),
  };
}

export function leasedAs(turn: string, attempts: number, owner: string, now: number, leaseMs: number) {
  return { state: "running", turn, attempts, lease_owner: owner, lease_until: now + leaseMs, updated_at: now };
}

async function readTurnRows(db: Tx, { agent, turn }: OpenRow): Promise<InboxRow[]> {
  return db
    .selectFrom("inbox")
    .selectAll()
    .where("agent", "=", agent)
    .where("turn", "=", turn)
    .where("state", "=", "running")
    .orderBy("num")
    .execute();
}

/** The first messages of one sender; none when the conversation has a running turn by now. */
async function readGroup(db: Tx, seen: OpenRow, now: number): Promise<InboxRow[]> {
  const open = await db
    .selectFrom("inbox")
    .selectAll()
    .where("agent", "=", seen.agent)
    .where("key", "=", seen.key)
    .where(isOpen)
    .orderBy("num")
    .limit(groupMax)
    .execute();
  const [first] = open;
  if (first?.num !== seen.num || open.some((row) => row.state === "running")) return [];
  const end = open.findIndex((row, index) => index > 0 && !belongsTo(row, first, now));
  return end === -1 ? open : open.slice(0, end);
}

/** A command, a message that does not address the agent, a heartbeat and a scheduled run are turns of their own. */
function belongsTo(row: InboxRow, first: InboxRow, now: number): boolean {
  return row.sender === first.sender && row.ready_at <= now && !standsAlone(row) && !standsAlone(first);
}

function standsAlone({ payload }: InboxRow): boolean {
  const inbound = JSON.parse(payload) as Inbound;
  return inbound.mentioned === false || !isFromPerson(inbound) || /^\s*\//.test(inbound.text);
}

/** Extends the lease of a turn; false when another process has taken it over. */
export async function extendTurn(store: Store, claim: TurnClaim, leaseMs: number): Promise<boolean> {
  const lease = { lease_until: store.clock.now() + leaseMs };
  const [held] = await store.writeBatch([heldRows(store.db, claim).set(lease)], { sync: false });
  return held.changes > 0;
}

export async function recordProgress(store: Store, claim: TurnClaim, progress: Progress): Promise<void> {
  await store.writeBatch([heldRows(store.db, claim).set({ progress: JSON.stringify(progress) })]);
}

/** An update of the rows of a turn, as long as this process holds their lease. */
function heldRows(db: Db | Tx, { messages, turn, owner }: TurnClaim) {
  return db
    .updateTable("inbox")
    .where(
      "num",
      "in",
      messages.map(({ row }) => row.num),
    )
    .where("turn", "=", turn)
    .where("state", "=", "running")
    .where("lease_owner", "=", owner);
}

/** Adds messages that arrived while the turn runs to it. */
export async function joinTurn(store: Store, claim: TurnClaim, leaseMs: number): Promise<TurnClaim["messages"]> {
  const { agent, key, turn, owner, attempt } = claim;
  const now = store.clock.now();
  const leased = leasedAs(turn, attempt, owner, now, leaseMs);
  const rows = await store.transaction(async (tx) => {
    await tx.lock(lockName);
    const waiting = await tx.db
      .selectFrom("inbox")
      .selectAll()
      .where("agent", "=", agent)
      .where("key", "=", key)
      .where(isOpen)
      .where("state", "=", "waiting")
      .orderBy("num")
      .limit(groupMax)
      .execute();
    const end = waiting.findIndex(standsAlone);
    const taken = end === -1 ? waiting : waiting.slice(0, end);
    if (taken.length === 0) return [];
    const nums = taken.map((row) => row.num);
    await tx.db.updateTable("inbox").set(leased).where("num", "in", nums).execute();
    return taken;
  });
  return rows.map((row) => ({
    row: { ...row, ...leased },
    inbound: JSON.parse(row.payload) as Inbound & { id: string },
  }));
}

/** Whether a message is pending for a conversation whose turn runs. */
export async function isAwaited(store: Store, { agent, key }: TurnClaim): Promise<boolean> {
  const waiting = await store.db
    .selectFrom("inbox")
    .select("num")
    .where("agent", "=", agent)
    .where("key", "=", key)
    .where(isOpen)
    .where("state", "=", "waiting")
    .limit(1)
    .executeTakeFirst();
  return waiting !== undefined;
}

/**
 * The statement that ends a turn, to be written with its reply. It changes no row when another process has taken the
 * turn over: then nothing may be written.
 */
export function endOfTurn(db: Db | Tx, claim: TurnClaim, result: TurnResult, now: number, input?: RecordedInput) {
  const end = heldRows(db, claim).set({
    state: "done",
    payload: "",
    progress: null,
    lease_owner: null,
    lease_until: null,
    result: JSON.stringify(result),
    updated_at: now,
  });
  if (input === undefined) return end;
  return end.where(({ exists, selectFrom }) =>
    exists(
      selectFrom("entries")
        .select("entries.seq")
        .where("entries.agent", "=", claim.agent)
        .where("entries.conversation", "=", input.conversation)
        .where("entries.id", "=", input.id),
    ),
  );
}

/** The last entry of the input of a turn. With it, the statement changes no row when the entry is not in the log. */
export interface RecordedInput {
  conversation: number;
  id: string;
}

/** Ends a turn without a reply; false when another process has taken it over, or the input is not in the log. */
export async function endTurn(
  store: Store,
  claim: TurnClaim,
  result: TurnResult,
  input?: RecordedInput,
): Promise<boolean> {
  const [ended] = await store.writeBatch([endOfTurn(store.db, claim, result, store.clock.now(), input)]);
  return ended.changes > 0;
}

/** Releases a turn for any process to start it again; without a delay this attempt is not counted. */
export async function handOver(store: Store, claim: TurnClaim, waitMs = 0): Promise<void> {
  const now = store.clock.now();
  const given = heldRows(store.db, claim).set((eb) => ({
    lease_owner: null,
    lease_until: now + waitMs,
    attempts: eb("attempts", "-", waitMs === 0 ? 1 : 0),
    updated_at: now,
  }));
  await store.writeBatch([given]);
}

export async function readMessage(store: Store, agent: string, id: string): Promise<InboxRow | undefined> {
  return store.db.selectFrom("inbox").selectAll().where("agent", "=", agent).where("id", "=", id).executeTakeFirst();
}

export async function countInbox(store: Store): Promise<Record<string, number>> {
  const rows = await store.db
    .selectFrom("inbox")
    .select((eb) => ["state", eb.fn.countAll<number>().as("count")])
    .groupBy("state")
    .execute();
  return Object.fromEntries(rows.map((row) => [row.state, Number(row.count)]));
}
