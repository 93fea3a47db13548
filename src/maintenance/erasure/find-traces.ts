import { sql } from "kysely";
import { foldCase, getChannel, type JsonObject, parseSessionKey } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { isSender, listPeers, type Person } from "./person.ts";

/** Where the store has something of a person. */
export interface Traces {
  /** Conversations that belong to the person, with their forks. */
  conversations: { agent: string; id: number; key: string }[];
  /** Messages of the person in conversations of others. */
  messages: { agent: string; conversation: number; seq: number; entryId: string }[];
}

/** Finds the conversations of a person, and their messages elsewhere. `names` are further names they write under. */
export async function findTraces(store: Store, person: Person, names: readonly string[]): Promise<Traces> {
  const conversations = await findConversations(store, person);
  const own = new Set(conversations.map(({ agent, id }) => `${agent} ${id}`));
  const found = await findMessages(store, person, names);
  return { conversations, messages: found.filter(({ agent, conversation }) => !own.has(`${agent} ${conversation}`)) };
}

async function findConversations({ db }: Store, { audiences }: Person): Promise<Traces["conversations"]> {
  const found = await db
    .selectFrom("conversations")
    .select(["agent", "id", "key"])
    .where("audience", "in", audiences)
    .execute();
  const seen = new Set(found.map(({ agent, id }) => `${agent} ${id}`));
  // A fork shares the messages of the conversation that it continues.
  for (let last = found; last.length > 0; ) {
    const forks: typeof found = [];
    for (const { agent, id } of last) {
      const rows = await db
        .selectFrom("branches")
        .innerJoin("conversations", (join) =>
          join
            .onRef("conversations.agent", "=", "branches.agent")
            .onRef("conversations.id", "=", "branches.conversation"),
        )
        .select(["conversations.agent", "conversations.id", "conversations.key"])
        .where("branches.agent", "=", agent)
        .where("branches.parent_conversation", "=", id)
        .execute();
      for (const row of rows) {
        if (seen.has(`${row.agent} ${row.id}`)) continue;
        seen.add(`${row.agent} ${row.id}`);
        forks.push(row);
      }
    }
    found.push(...forks);
    last = forks;
  }
  return found;
}

const pageRows = 1_000;
const namesSomebody = sql<boolean>`(entries.payload like '%"sender":%' or entries.payload like '%"name":%')`;

/** A message names its sender in `meta.sender`; older ones only by the row of the inbox, or by the speaker's name. */
async function findMessages(store: Store, person: Person, names: readonly string[]): Promise<Traces["messages"]> {
  const { db } = store;
  const found = await findAcceptedMessages(store, person);
  const known = new Set(found.map(({ agent, seq }) => `${agent} ${seq}`));
  const speakers = new Set([...listPeers(person), ...names].map((name) => name.toLowerCase()));
  for (let last = 0; ; ) {
    let query = db
      .selectFrom("entries")
      .innerJoin("conversations", (join) =>
        join.onRef("conversations.agent", "=", "entries.agent").onRef("conversations.id", "=", "entries.conversation"),
      )
      .select([
        ...(["entries.agent", "entries.conversation", "entries.seq", "entries.id", "entries.payload"] as const),
        "conversations.key",
      ])
      .where("entries.kind", "=", "user")
      .where("entries.seq", ">", last);
    // The database cannot look into encrypted texts.
    if (store.sealedWith === undefined) query = query.where(namesSomebody);
    const rows = await query.orderBy("entries.seq").limit(pageRows).execute();
    for (const { agent, conversation, seq, id, payload, key } of rows) {
      if (known.has(`${agent} ${seq}`)) continue;
      if (wrote(person, speakers, key, JSON.parse(payload) as JsonObject)) {
        found.push({ agent, conversation, seq, entryId: id });
      }
    }
    last = rows.at(-1)?.seq ?? last;
    if (rows.length < pageRows) return found;
  }
}

function wrote(person: Person, speakers: ReadonlySet<string>, key: string, payload: JsonObject): boolean {
  const meta = (payload.meta ?? {}) as JsonObject;
  const channel = typeof meta.channel === "string" ? meta.channel : getChannel(parseSessionKey(key));
  if (typeof meta.sender === "string") return isSender(person, channel, meta.sender);
  return typeof payload.name === "string" && speakers.has(payload.name.toLowerCase());
}

const idsAtOnce = 500;

/** The messages that the inbox accepted from the person. */
async function findAcceptedMessages({ db }: Store, person: Person): Promise<Traces["messages"]> {
  const rows = await db
    .selectFrom("inbox")
    .select(["agent", "id", "key", "sender"])
    .where((eb) =>
      eb.or([
        eb("sender", "in", listPeers(person)),
        eb(eb.fn<string>("lower", ["sender"]), "in", listPeers(person).map(foldCase)),
      ]),
    )
    .execute();
  const theirs = rows.filter(({ key, sender }) => isSender(person, getChannel(parseSessionKey(key)), sender));
  const found: Traces["messages"] = [];
  for (const agent of new Set(theirs.map((row) => row.agent))) {
    const ids = theirs.filter((row) => row.agent === agent).map(({ id }) => id);
    for (let from = 0; from < ids.length; from += idsAtOnce) {
      const entries = await db
        .selectFrom("entries")
        .select(["agent", "conversation", "seq", "id as entryId"])
        .where("agent", "=", agent)
        .where("kind", "=", "user")
        .where("id", "in", ids.slice(from, from + idsAtOnce))
        .execute();
      found.push(...entries);
    }
  }
  return found;
}
