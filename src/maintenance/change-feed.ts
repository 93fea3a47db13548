/** Notices what any process changes in the database, by polling with queries whose cost does not depend on its size. */
import { sql } from "kysely";
import { runAsEngine } from "../authorization/index.ts";
import type { Store } from "../store/index.ts";

/** A change in the database. */
export type Change =
  | { type: "messages"; agent: string; key: string; sessionId: string; seqs: number[] }
  | { type: "compaction"; agent: string; key: string; sessionId: string; seqs: number[] }
  | { type: "session"; agent: string; key: string; sessionId: string }
  | { type: "memories" }
  | { type: "jobs"; agent: string };

/** Reads what changed since it was read last; the first call only takes the state. */
export interface ChangeFeed {
  read(): Promise<Change[]>;
}

const roles = ["user", "assistant", "tool", "system"];
/** More entries at once are told as one change of each conversation without their numbers. */
const entriesMax = 5_000;
const sessionsMax = 200;
/** PostgreSQL may make an entry visible after later ones; so many numbers back are looked at again. */
const lookBack = 500;
/** A query over all memories that takes longer is repeated less often. */
const slowMs = 50;
const slowPolls = 30;

interface EntryRow {
  seq: number;
  agent: string;
  conversation: number;
  kind: string;
}

export function createChangeFeed(store: Store): ChangeFeed {
  const { db } = store;
  let lastSeq: number | undefined;
  let seen = new Set<number>();
  let sessionsAt = store.clock.now();
  const known = { memories: "", jobs: "" };
  let skipPolls = 0;

  const readEntries = async (): Promise<Change[]> => {
    const top = await db.selectFrom("entries").select("seq").orderBy("seq", "desc").limit(1).executeTakeFirst();
    const newest = top?.seq ?? 0;
    if (lastSeq === undefined) {
      lastSeq = newest;
      const before = await selectEntries(newest - lookBack);
      seen = new Set(before.map(({ seq }) => seq));
      return [];
    }
    const rows = (await selectEntries(Math.min(lastSeq, newest) - lookBack)).filter(({ seq }) => !seen.has(seq));
    if (rows.length === 0 && newest === lastSeq) return [];
    lastSeq = newest;
    const kept = [...seen, ...rows.map(({ seq }) => seq)].filter((seq) => seq > newest - 2 * lookBack);
    seen = new Set(kept);
    return describeEntries(rows);
  };
  const selectEntries = (after: number): Promise<EntryRow[]> =>
    db
      .selectFrom("entries")
      .select(["seq", "agent", "conversation", "kind"])
      .where("seq", ">", after)
      .where("kind", "in", [...roles, "compaction"])
      .orderBy("seq", "desc")
      .limit(entriesMax)
      .execute();
  const describeEntries = async (rows: readonly EntryRow[]): Promise<Change[]> => {
    const groups = Map.groupBy(rows, ({ agent, conversation, kind }) =>
      JSON.stringify([agent, conversation, kind === "compaction"]),
    );
    const changes: Change[] = [];
    for (const [name, group] of groups) {
      const [agent, conversation, isCompaction] = JSON.parse(name) as [string, number, boolean];
      const session = await db
        .selectFrom("sessions")
        .select(["key", "session_id"])
        .where("agent", "=", agent)
        .where("conversation", "=", conversation)
        .limit(1)
        .executeTakeFirst();
      // The messages of an archived conversation are in no list that a reader follows.
      if (!session) continue;
      const seqs = group.map(({ seq }) => seq).sort((a, b) => a - b);
      const type = isCompaction ? "compaction" : "messages";
      changes.push({ type, agent, key: session.key, sessionId: session.session_id, seqs });
    }
    return changes;
  };

  const readSessions = async (): Promise<Change[]> => {
    const from = sessionsAt;
    const agents = await readAgents(store);
    const changes: Change[] = [];
    for (const agent of agents) {
      const rows = await db
        .selectFrom("sessions")
        .select(["key", "session_id", "updated_at"])
        .where("agent", "=", agent)
        .where("updated_at", ">", from)
        .orderBy("updated_at", "desc")
        .limit(sessionsMax)
        .execute();
      for (const row of rows) {
        // A time in the future, from an import, would hide later changes.
        if (row.updated_at <= store.clock.now()) sessionsAt = Math.max(sessionsAt, row.updated_at);
        changes.push({ type: "session", agent, key: row.key, sessionId: row.session_id });
      }
    }
    return changes;
  };

  const readMemories = async (): Promise<Change[]> => {
    if (skipPolls > 0) {
      skipPolls -= 1;
      return [];
    }
    const started = performance.now();
    const { rows } = await sql<Record<string, number>>`
      select count(*) as n, max(created_at) as c, max(forgotten_at) as f, max(invalidated_at) as i,
        (select count(*) from memory_reviews) as r from memories`.execute(db);
    if (performance.now() - started > slowMs) skipPolls = slowPolls;
    return compare("memories", JSON.stringify(rows), [{ type: "memories" }]);
  };

  const readJobs = async (): Promise<Change[]> => {
    const rows = await db
      .selectFrom("jobs")
      .select((eb) => ["agent", "state", eb.fn.countAll<number>().as("n"), eb.fn.max("updated_at").as("at")])
      .groupBy(["agent", "state"])
      .orderBy("agent")
      .orderBy("state")
      .execute();
    const agents = [...new Set(rows.map(({ agent }) => agent))];
    return compare(
      "jobs",
      JSON.stringify(rows),
      agents.map((agent) => ({ type: "jobs", agent })),
    );
  };

  const compare = (name: keyof typeof known, now: string, changes: Change[]): Change[] => {
    const before = known[name];
    known[name] = now;
    return before === "" || before === now ? [] : changes;
  };

  return {
    read: () =>
      runAsEngine(async () => [
        ...(await readEntries()),
        ...(await readSessions()),
        ...(await readMemories()),
        ...(await readJobs()),
      ]),
  };
}

/** The agents that have sessions: one index lookup for each. */
async function readAgents(store: Store): Promise<string[]> {
  const agents: string[] = [];
  for (let last = ""; ; ) {
    const row = await store.db
      .selectFrom("sessions")
      .select("agent")
      .where("agent", ">", last)
      .orderBy("agent")
      .limit(1)
      .executeTakeFirst();
    if (!row || agents.length >= 1_000) return agents;
    agents.push(row.agent);
    last = row.agent;
  }
}
