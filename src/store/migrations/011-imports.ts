import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

/** Sub-agents know the session that started them, so that lists can fold them under it. */
export const imports: Migration = {
  version: 11,
  name: "imports",
  async up(db) {
    await sql`alter table sessions add column parent_key text`.execute(db);
    await sql`update sessions set parent_key = (
        select parents.key from transcripts own
        join transcripts before on before.agent = own.agent and before.session_id = own.parent_session
        join conversations parents on parents.agent = before.agent and parents.id = before.conversation
        where own.agent = sessions.agent and own.session_id = sessions.session_id)
      where key like 'agent:%:subagent:%'`.execute(db);
    await sql`create index sessions_by_parent on sessions (agent, parent_key) where parent_key is not null`.execute(db);
  },
};
