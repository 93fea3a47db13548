import { type RawBuilder, sql } from "kysely";
import type { Migration } from "../migrate.ts";
import type { EngineName } from "../port.ts";
import { protectTables } from "../postgres/row-security.ts";
import type { Tx } from "../schema.ts";
import {
  getEarlierAudience,
  isEarlierProgram,
  nameConversation,
  parseEarlierKey,
  respellAudience,
  respellKey,
  respellScope,
} from "./earlier-keys.ts";

const chunk = 500;
/** The console needs the owner's login. */
const consoleChannel = "console";

/**
 * Owners are rows, sessions note the way by which they came in, and keys, audiences and scopes escape what they are made
 * of. It is not additive: a program of the version before would look for sessions under their earlier keys. A key that does
 * not parse, becomes too long or is taken keeps its spelling, and `varve doctor` lists it.
 */
export const people: Migration = {
  version: 20,
  name: "people",
  async up(db, engine) {
    const int = sql.raw(engine === "postgres" ? "bigint" : "integer");
    await sql`create table owners (
      agent text not null, channel text not null, peer text not null, added_by text not null, added_at ${int} not null,
      primary key (agent, channel, peer))`.execute(db);
    await sql`alter table sessions add column door text`.execute(db);
    if (engine === "postgres") await protectTables(db, ["owners"]);
    await rewriteRows(db, engine);
  },
  rewriteRows,
};

async function rewriteRows(db: Tx, engine: EngineName): Promise<void> {
  const audiences = await respellAudiences(db);
  await claimPrograms(db);
  await sql`update sessions set audience = (
      select c.audience from conversations c where c.agent = sessions.agent and c.id = sessions.conversation)`.execute(
    db,
  );
  await respellKeys(db);
  await respellReferences(db);
  const tables = ["memories", "memory_vectors", "memory_reviews", "memory_files"];
  for (const table of engine === "postgres" ? [...tables, "memory_text"] : tables) {
    await respellScopes(db, table, audiences);
  }
  await respellTokens(db, audiences);
  await noteUnknownOwners(db);
}

/** Rewrites the audiences of conversations; returns the new form of each earlier one. */
async function respellAudiences(db: Tx): Promise<ReadonlyMap<string, string>> {
  const audiences = new Map<string, string>();
  for await (const { agent, id, key, audience } of readConversations(db)) {
    if (audience === null) continue;
    const parsed = parseEarlierKey(key);
    if (parsed?.kind === "direct" && parsed.channel === consoleChannel) {
      await setAudience(db, agent, id, null);
      continue;
    }
    // A fork has the audience of the conversation it comes from.
    const isOwn = parsed !== undefined && getEarlierAudience(parsed) === audience;
    const next = (isOwn ? respellAudience(parsed) : audiences.get(audience)) ?? respellScope(audience);
    audiences.set(audience, next);
    if (next !== audience) await setAudience(db, agent, id, next);
  }
  return audiences;
}

/**
 * Sessions of the owner's programs were recognised by the name of their channel, which anybody may give. Those stay the
 * owner's that have the session id of a program's own file, or were recorded for its session. A thread of LangGraph was
 * taken for a person.
 */
async function claimPrograms(db: Tx): Promise<void> {
  for await (const { agent, id, key, audience } of readConversations(db)) {
    const parsed = parseEarlierKey(key);
    if (parsed?.kind !== "direct" || parsed.channel === undefined) continue;
    const isGraph = parsed.channel.startsWith("langgraph");
    if (!isGraph && (audience !== null || !isEarlierProgram(parsed))) continue;
    const state = await readProgramState(db, agent, id);
    const isThread = isGraph && state.fields.includes("langgraph");
    const isKnown = state.fields.some((field) => field === "recordedFor" || field === "agentSdk");
    if (isGraph ? !isThread : isKnown || state.ids.includes(parsed.peer)) continue;
    await setAudience(db, agent, id, nameConversation(parsed.channel, parsed.peer));
  }
  // What sub-agents of such a session said is its own, level by level.
  for (let changed = 1n; changed > 0n; ) {
    const result = await sql`update conversations set audience = (
        select p.audience from sessions s
        join sessions ps on ps.agent = s.agent and ps.key = s.parent_key
        join conversations p on p.agent = ps.agent and p.id = ps.conversation
        where s.agent = conversations.agent and s.conversation = conversations.id and p.audience like 'session:%' limit 1)
      where audience is null and exists (
        select 1 from sessions s
        join sessions ps on ps.agent = s.agent and ps.key = s.parent_key
        join conversations p on p.agent = ps.agent and p.id = ps.conversation
        where s.agent = conversations.agent and s.conversation = conversations.id and p.audience like 'session:%')`.execute(
      db,
    );
    changed = result.numAffectedRows ?? 0n;
  }
}

/** The session ids of a conversation as parts of keys, and the metadata that programs keep with it. */
async function readProgramState(db: Tx, agent: string, id: number): Promise<{ ids: string[]; fields: string[] }> {
  const transcripts = await db
    .selectFrom("transcripts")
    .select("session_id")
    .where("agent", "=", agent)
    .where("conversation", "=", id)
    .execute();
  const sessions = await db
    .selectFrom("sessions")
    .select("metadata")
    .where("agent", "=", agent)
    .where("conversation", "=", id)
    .execute();
  return {
    ids: transcripts.map((row) => row.session_id.replace(/[^\p{L}\p{N}._@+-]+/gu, "-").toLowerCase()),
    fields: sessions.flatMap((row) => Object.keys(readObject(row.metadata) ?? {})),
  };
}

async function* readConversations(db: Tx) {
  for (let after = 0; ; ) {
    const rows = await db
      .selectFrom("conversations")
      .select(["agent", "id", "key", "audience"])
      .where("id", ">", after)
      .orderBy("id")
      .limit(chunk)
      .execute();
    yield* rows;
    after = Number(rows.at(-1)?.id ?? 0);
    if (rows.length < chunk) return;
  }
}

async function setAudience(db: Tx, agent: string, id: number, audience: string | null): Promise<void> {
  await db.updateTable("conversations").set({ audience }).where("agent", "=", agent).where("id", "=", id).execute();
}

/** A session and its conversations keep one key: where the session's cannot change, theirs stay too. */
async function respellKeys(db: Tx): Promise<void> {
  const rows = await readKeys(db, "conversations", "key");
  for (const { agent, key } of [...rows, ...(await readKeys(db, "sessions", "key"))]) {
    const next = respellKey(key);
    if (next === undefined) continue;
    const taken = await sql`select 1 from sessions where agent = ${agent} and key = ${next}`.execute(db);
    if (taken.rows.length > 0) continue;
    for (const table of ["conversations", "sessions", "notices", "inbox"]) {
      await sql`update ${sql.table(table)} set key = ${next} where agent = ${agent} and key = ${key}`.execute(db);
    }
    await sql`update sessions set parent_key = ${next} where agent = ${agent} and parent_key = ${key}`.execute(db);
    await sql`update grants set origin_key = ${next} where agent = ${agent} and origin_key = ${key}`.execute(db);
  }
}

async function readKeys(db: Tx, table: string, column: string): Promise<{ agent: string; key: string }[]> {
  const found: { agent: string; key: string }[] = [];
  let after: RawBuilder<unknown> = sql`true`;
  for (;;) {
    const name = sql.ref(column);
    const { rows } = await sql<{ agent: string; key: string }>`select distinct agent, ${name} as key
      from ${sql.table(table)} where ${after} order by agent, ${name} limit ${sql.lit(chunk)}`.execute(db);
    found.push(...rows.filter(({ key }) => respellKey(key) !== undefined));
    const last = rows.at(-1);
    if (!last || rows.length < chunk) return found;
    after = sql`(agent, ${name}) > (${last.agent}, ${last.key})`;
  }
}

/** Keys within jobs and the metadata of sessions. */
async function respellReferences(db: Tx): Promise<void> {
  const jobs = await db.selectFrom("jobs").select(["agent", "id", "kind", "key", "payload"]).execute();
  const names = new Set(jobs.map(({ agent, kind, key }) => JSON.stringify([agent, kind, key])));
  for (const { agent, id, kind, key, payload } of jobs) {
    const next = respellKey(key);
    const isFree = next !== undefined && !names.has(JSON.stringify([agent, kind, next]));
    const content = respellField(payload, "key");
    if (!isFree && content === undefined) continue;
    await db
      .updateTable("jobs")
      .set({ ...(isFree ? { key: next } : {}), ...(content === undefined ? {} : { payload: content }) })
      .where("agent", "=", agent)
      .where("id", "=", id)
      .execute();
  }
  const continued = await db
    .selectFrom("sessions")
    .select(["agent", "key", "metadata"])
    .where("metadata", "like", '%"continues"%')
    .execute();
  for (const { agent, key, metadata } of continued) {
    const next = respellField(metadata, "continues");
    if (next === undefined) continue;
    await db
      .updateTable("sessions")
      .set({ metadata: next })
      .where("agent", "=", agent)
      .where("key", "=", key)
      .execute();
  }
}

function respellField(text: string, field: string): string | undefined {
  const value = readObject(text);
  const key = value?.[field];
  const next = typeof key === "string" ? respellKey(key) : undefined;
  return next === undefined ? undefined : JSON.stringify({ ...value, [field]: next });
}

function readObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    // Not JSON: nothing refers to a key there.
    return undefined;
  }
}

async function respellScopes(db: Tx, table: string, audiences: ReadonlyMap<string, string>): Promise<void> {
  const { rows } = await sql<{ scope: string }>`select distinct scope from ${sql.table(table)}
    where scope like 'user:%' or scope like 'group:%'`.execute(db);
  for (const { scope } of rows) {
    const next = audiences.get(scope) ?? respellScope(scope);
    if (next !== scope) await sql`update ${sql.table(table)} set scope = ${next} where scope = ${scope}`.execute(db);
  }
}

async function respellTokens(db: Tx, audiences: ReadonlyMap<string, string>): Promise<void> {
  for (const { id, scopes } of await db.selectFrom("tokens").select(["id", "scopes"]).execute()) {
    if (scopes === null) continue;
    const given = JSON.parse(scopes) as string[];
    const next = JSON.stringify(given.map((scope) => audiences.get(scope) ?? respellScope(scope)));
    if (next !== scopes) await db.updateTable("tokens").set({ scopes: next }).where("id", "=", id).execute();
  }
}

/** Everybody's direct chats may have been one conversation: who is the owner is found out when the first person writes. */
async function noteUnknownOwners(db: Tx): Promise<void> {
  const rows = await db
    .selectFrom("conversations")
    .select(["agent", "key"])
    .distinct()
    .where("message_count", ">", 0)
    .where("audience", "is", null)
    .where("key", "like", "agent:%")
    .execute();
  const agents = rows.filter(({ key }) => parseEarlierKey(key)?.kind === "main").map(({ agent }) => agent);
  for (const agent of new Set(agents)) {
    const name = `owner_unknown ${agent}`;
    await db.deleteFrom("meta").where("name", "=", name).execute();
    await db.insertInto("meta").values({ name, value: "1" }).execute();
  }
}
