import { sql } from "kysely";
import { type Audience, agentScope } from "../authorization/index.ts";
import type { Store } from "../store/index.ts";

const chunkRows = 500;

/** A memory in an agent's scope whose evidence lies in a conversation of somebody else. */
export interface MisplacedMemory {
  /** The id of its first version. */
  root: string;
  /** Whose it is, as a scope. */
  belongsTo: Audience;
}

/**
 * The memories in the scope of an agent that were learned in conversations of one other person or group only. Those
 * without evidence, or with evidence of several, stay where they are.
 */
export async function findMisplacedMemories(
  store: Store,
  agent: string,
  isOwners: (audience: Audience) => boolean,
): Promise<MisplacedMemory[]> {
  const { db } = store;
  const sources = await db
    .selectFrom("memories")
    .innerJoin("memory_sources", "memory_sources.memory", "memories.id")
    .select(["memories.root", "memory_sources.seq"])
    .where("memories.scope", "=", agentScope(agent))
    .where("memory_sources.agent", "=", agent)
    .execute();
  if (sources.length === 0) return [];
  const rows = await db.selectFrom("conversations").select(["id", "audience"]).where("agent", "=", agent).execute();
  const audiences = new Map(rows.map(({ id, audience }) => [Number(id), audience]));
  const conversations = await readConversations(store, agent, [...new Set(sources.map(({ seq }) => Number(seq)))]);
  const roots = new Map<string, Set<Audience | null>>();
  for (const { root, seq } of sources) {
    const conversation = conversations.get(Number(seq));
    const audience = conversation === undefined ? null : (audiences.get(conversation) ?? null);
    const found = roots.get(root) ?? new Set();
    found.add(audience !== null && isOwners(audience) ? null : audience);
    roots.set(root, found);
  }
  return [...roots].flatMap(([root, found]) => {
    const [only, ...others] = found;
    return only === undefined || only === null || others.length > 0 ? [] : [{ root, belongsTo: only }];
  });
}

async function readConversations(
  { db }: Store,
  agent: string,
  seqs: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const found = new Map<number, number>();
  for (let from = 0; from < seqs.length; from += chunkRows) {
    const rows = await db
      .selectFrom("entries")
      .select(["seq", "conversation"])
      .where("agent", "=", agent)
      .where("seq", "in", seqs.slice(from, from + chunkRows))
      .execute();
    for (const { seq, conversation } of rows) found.set(Number(seq), Number(conversation));
  }
  return found;
}

/** Moves memories to the scopes of those they are about, with all their versions. Vectors are computed again. */
export async function moveMemories(store: Store, agent: string, misplaced: readonly MisplacedMemory[]): Promise<void> {
  const from = agentScope(agent);
  await store.transaction(async ({ db }) => {
    for (const { root, belongsTo } of misplaced) {
      const versions = await db
        .selectFrom("memories")
        .select("num")
        .where("scope", "=", from)
        .where("root", "=", root)
        .execute();
      const nums = versions.map(({ num }) => num);
      if (nums.length === 0) continue;
      const moved = { scope: belongsTo };
      await db.updateTable("memories").set(moved).where("scope", "=", from).where("num", "in", nums).execute();
      await db.deleteFrom("memory_vectors").where("scope", "=", from).where("num", "in", nums).execute();
      if (store.engine === "postgres") {
        await sql`update memory_text set scope = ${belongsTo} where scope = ${from} and num in (${sql.join(nums)})`.execute(
          db,
        );
      }
    }
  });
}
