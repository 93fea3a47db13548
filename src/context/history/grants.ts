import { newId, VarveError } from "../../domain/index.ts";
import { dropLease, type GrantTable, type Lease, type Store, takeLease } from "../../store/index.ts";

/** The rights of a delegated reader: some conversations, a number of tokens, until a time. */
export interface Grant {
  agent: string;
  id: string;
  originKey: string;
  conversations: number[];
  tokenCap: number;
  tokensRead: number;
  reads: number;
  state: "active" | "done" | "revoked" | "expired";
  expiresAt: number;
}

export interface NewGrant {
  agent: string;
  /** The session that delegates. */
  originKey: string;
  conversations: number[];
  tokenCap: number;
  ttlMs: number;
}

/** Creates a grant. It survives a restart, and expires unless it is ended before. */
export async function createGrant(store: Store, given: NewGrant): Promise<Grant> {
  const now = store.clock.now();
  const grant: Grant = {
    agent: given.agent,
    id: `grant_${newId(store.clock, store.random)}`,
    originKey: given.originKey,
    conversations: [...new Set(given.conversations)],
    tokenCap: given.tokenCap,
    tokensRead: 0,
    reads: 0,
    state: "active",
    expiresAt: now + given.ttlMs,
  };
  await store.transaction(({ db }) =>
    db
      .insertInto("grants")
      .values({
        agent: grant.agent,
        id: grant.id,
        origin_key: grant.originKey,
        conversations: JSON.stringify(grant.conversations),
        token_cap: grant.tokenCap,
        tokens_read: 0,
        reads: 0,
        state: grant.state,
        expires_at: grant.expiresAt,
        created_at: now,
        ended_at: null,
      })
      .execute(),
  );
  return grant;
}

function grantFromRow(row: GrantTable): Grant {
  return {
    agent: row.agent,
    id: row.id,
    originKey: row.origin_key,
    conversations: JSON.parse(row.conversations) as number[],
    tokenCap: row.token_cap,
    tokensRead: row.tokens_read,
    reads: row.reads,
    state: row.state as Grant["state"],
    expiresAt: row.expires_at,
  };
}

/** A grant by its id, in whatever state. */
export async function readGrant(store: Store, agent: string, id: string): Promise<Grant | undefined> {
  const row = await store.db
    .selectFrom("grants")
    .selectAll()
    .where("agent", "=", agent)
    .where("id", "=", id)
    .executeTakeFirst();
  return row && grantFromRow(row);
}

/** The grants of an agent, the newest first. */
export async function readGrants(
  store: Store,
  agent: string,
  { state, limit }: { state?: Grant["state"]; limit: number },
): Promise<Grant[]> {
  let query = store.db.selectFrom("grants").selectAll().where("agent", "=", agent);
  if (state !== undefined) query = query.where("state", "=", state);
  const rows = await query.orderBy("created_at", "desc").orderBy("id", "desc").limit(limit).execute();
  return rows.map(grantFromRow);
}

/** A grant by its id; throws the reason when it cannot be used now. */
export async function checkGrant(store: Store, agent: string, id: string): Promise<Grant> {
  const grant = await readGrant(store, agent, id);
  if (!grant) throw refused(`There is no grant ${id}.`);
  if (grant.state !== "active") throw refused(`The grant ${id} has ended: it is ${grant.state}.`);
  if (grant.expiresAt <= store.clock.now()) throw refused(`The grant ${id} has expired.`);
  if (grant.tokensRead >= grant.tokenCap) throw refused(`The ${grant.tokenCap} tokens of the grant ${id} are read.`);
  return grant;
}

function refused(what: string): VarveError {
  return new VarveError("REFUSED", what, {
    remedy: "Ask the session that delegated for another one (`varve grants create`, POST /api/grants).",
  });
}

/** Takes tokens from a grant before they are returned, so that concurrent reads cannot exceed it. */
export async function spendGrant(store: Store, grant: Grant, tokens: number): Promise<boolean> {
  return store.transaction(async ({ db }) => {
    const spent = await db
      .updateTable("grants")
      .set((eb) => ({ tokens_read: eb("tokens_read", "+", tokens), reads: eb("reads", "+", 1) }))
      .where("agent", "=", grant.agent)
      .where("id", "=", grant.id)
      .where("state", "=", "active")
      .where("expires_at", ">", store.clock.now())
      .where((where) => where(where("tokens_read", "+", tokens), "<=", where.ref("token_cap")))
      .executeTakeFirst();
    return Number(spent.numUpdatedRows) === 1;
  });
}

export async function endGrant(
  store: Store,
  grant: Pick<Grant, "agent" | "id">,
  state: "done" | "revoked",
): Promise<void> {
  await store.transaction(({ db }) =>
    db
      .updateTable("grants")
      .set({ state, ended_at: store.clock.now() })
      .where("agent", "=", grant.agent)
      .where("id", "=", grant.id)
      .where("state", "=", "active")
      .execute(),
  );
}

/** Ends the expired grants; returns how many there were. */
export async function expireGrants(store: Store): Promise<number> {
  return store.transaction(async ({ db }) => {
    const ended = await db
      .updateTable("grants")
      .set({ state: "expired", ended_at: store.clock.now() })
      .where("state", "=", "active")
      .where("expires_at", "<=", store.clock.now())
      .executeTakeFirst();
    return Number(ended.numUpdatedRows);
  });
}

/** One expansion at a time for a session: the second one is refused, not queued. */
export async function holdExpansion(store: Store, agent: string, originKey: string, ttlMs: number): Promise<Lease> {
  const owner = newId(store.clock, store.random);
  const lease = await takeLease(store, `expansion ${agent} ${originKey}`, owner, store.clock.now(), ttlMs);
  if (lease) return lease;
  throw new VarveError("CONFLICT", "An expansion for this session is under way.", {
    remedy: "Wait for its answer before asking the next question.",
  });
}

export function releaseExpansion(store: Store, lease: Lease): Promise<void> {
  return dropLease(store, lease);
}
