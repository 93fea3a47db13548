import { sql } from "kysely";
import type { Store } from "../store/index.ts";
import { decodeBody } from "./codec.ts";

export interface Finding {
  check: string;
  /** Empty when the check passed. */
  faults: string[];
  /** Information without a fault, or a decision for somebody. */
  notes?: string[];
  /** The number of items checked. */
  checked: number;
  /** Whether `doctor --fix` can repair it. */
  fixable: boolean;
}

const pageRows = 2000;
const faultsShown = 20;

/** Decodes every entry and follows every reference of the log. */
export async function checkLog(store: Store): Promise<Finding[]> {
  return [await checkReadable(store), await checkReferences(store), await checkCounters(store)];
}

async function checkReadable(store: Store): Promise<Finding> {
  const faults: string[] = [];
  let checked = 0;
  for (let last = 0; ; ) {
    const rows = await store.db
      .selectFrom("entries")
      .select(["seq", "kind", "payload"])
      .where("seq", ">", last)
      .orderBy("seq")
      .limit(pageRows)
      .execute();
    if (rows.length === 0) return { check: "every entry can be read", faults, checked, fixable: false };
    for (const row of rows) {
      checked += 1;
      try {
        decodeBody(row.kind, row.payload);
      } catch (error) {
        if (faults.length < faultsShown)
          faults.push(`msg#${row.seq}: ${error instanceof Error ? error.message : error}`);
      }
    }
    last = rows.at(-1)?.seq ?? last;
  }
}

const referenceChecks: [what: string, query: ReturnType<typeof sql>][] = [
  [
    "entries without a conversation",
    sql`select e.seq as id from entries e where not exists
      (select 1 from conversations c where c.agent = e.agent and c.id = e.conversation) limit 20`,
  ],
  [
    "entries without a transcript",
    sql`select e.seq as id from entries e where not exists
      (select 1 from transcripts t where t.agent = e.agent and t.id = e.transcript) limit 20`,
  ],
  [
    "entries without a branch",
    sql`select e.seq as id from entries e where not exists
      (select 1 from branches b where b.agent = e.agent and b.conversation = e.conversation and b.branch = e.branch) limit 20`,
  ],
  [
    "branches whose parent is gone",
    sql`select b.conversation as id from branches b where b.parent_conversation is not null and not exists
      (select 1 from branches p where p.agent = b.agent and p.conversation = b.parent_conversation and p.branch = b.parent_branch) limit 20`,
  ],
  [
    "sessions without a transcript",
    sql`select s.key as id from sessions s where not exists
      (select 1 from transcripts t where t.agent = s.agent and t.session_id = s.session_id) limit 20`,
  ],
  [
    "conversations whose head is not an entry",
    sql`select c.id as id from conversations c where c.head_seq is not null and not exists
      (select 1 from entries e where e.agent = c.agent and e.seq = c.head_seq) limit 20`,
  ],
];

async function checkReferences(store: Store): Promise<Finding> {
  const faults: string[] = [];
  for (const [what, query] of referenceChecks) {
    const found = (await query.execute(store.db)).rows as { id: unknown }[];
    if (found.length > 0) faults.push(`${what}: ${found.map((row) => row.id).join(", ")}`);
  }
  return { check: "every reference has a target", faults, checked: referenceChecks.length, fixable: false };
}

const roleList = sql`('system', 'user', 'assistant', 'tool')`;

async function checkCounters(store: Store): Promise<Finding> {
  const wrong = await sql<{ id: number }>`select c.id as id from conversations c left join (
      select agent, conversation, count(*) as entries, sum(tokens) as tokens,
        sum(case when kind in ${roleList} then 1 else 0 end) as messages
      from entries group by agent, conversation) e on e.agent = c.agent and e.conversation = c.id
    where c.entry_count != coalesce(e.entries, 0) or c.message_count != coalesce(e.messages, 0)
      or c.tokens != coalesce(e.tokens, 0) limit 20`.execute(store.db);
  const faults = wrong.rows.map((row) => `conversation ${row.id}: its counters do not match the log`);
  const all = await store.db
    .selectFrom("conversations")
    .select((eb) => eb.fn.countAll<number>().as("n"))
    .executeTakeFirst();
  return { check: "counters match the log", faults, checked: Number(all?.n ?? 0), fixable: true };
}

/** Recomputes the counters of conversations from the log. */
export async function fixCounters(store: Store): Promise<void> {
  await store.transaction(async ({ db }) => {
    await sql`update conversations set
      entry_count = (select count(*) from entries e where e.agent = conversations.agent and e.conversation = conversations.id),
      message_count = (select count(*) from entries e where e.agent = conversations.agent and e.conversation = conversations.id
        and e.kind in ${roleList}),
      tokens = (select coalesce(sum(e.tokens), 0) from entries e where e.agent = conversations.agent
        and e.conversation = conversations.id)`.execute(db);
  });
}
