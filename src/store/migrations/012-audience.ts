import { sql } from "kysely";
import type { Migration } from "../migrate.ts";
import type { Tx } from "../schema.ts";
import { getEarlierAudience, parseEarlierKey } from "./earlier-keys.ts";

const chunk = 500;

/** Conversations know the person or group they belong to; forks and sub-agents belong to that of their parent. */
export const audience: Migration = {
  version: 12,
  name: "audience",
  async up(db) {
    await sql`alter table conversations add column audience text`.execute(db);
    await sql`alter table sessions add column audience text`.execute(db);
    await rewriteRows(db);
    await sql`create index conversations_by_audience on conversations (agent, audience) where audience is not null`.execute(
      db,
    );
  },
  rewriteRows,
};

async function rewriteRows(db: Tx): Promise<void> {
  for (let after = 0; ; ) {
    const rows = await db
      .selectFrom("conversations")
      .select(["agent", "id", "key"])
      .where("id", ">", after)
      .orderBy("id")
      .limit(chunk)
      .execute();
    for (const { agent, id, key } of rows) {
      const parsed = parseEarlierKey(key);
      const named = parsed && getEarlierAudience(parsed);
      if (named === undefined) continue;
      const place = { audience: named };
      await db.updateTable("conversations").set(place).where("agent", "=", agent).where("id", "=", id).execute();
    }
    after = Number(rows.at(-1)?.id ?? 0);
    if (rows.length < chunk) break;
  }
  // A chain of forks is as deep as its longest one; each pass settles one level.
  for (let changed = 1n; changed > 0n; ) {
    const result = await sql`update conversations set audience = (
          select parents.audience from branches
          join conversations parents on parents.agent = branches.agent and parents.id = branches.parent_conversation
          where branches.agent = conversations.agent and branches.conversation = conversations.id
            and parents.audience is not null and parents.id <> conversations.id limit 1)
        where audience is null and exists (
          select 1 from branches
          join conversations parents on parents.agent = branches.agent and parents.id = branches.parent_conversation
          where branches.agent = conversations.agent and branches.conversation = conversations.id
            and parents.audience is not null and parents.id <> conversations.id)`.execute(db);
    changed = result.numAffectedRows ?? 0n;
  }
  await sql`update sessions set audience = (
      select audience from conversations c where c.agent = sessions.agent and c.id = sessions.conversation)`.execute(
    db,
  );
}
