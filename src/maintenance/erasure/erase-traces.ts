import { localChannel } from "../../authorization/index.ts";
import { discardSummaries } from "../../context/index.ts";
import { readSegment } from "../../domain/index.ts";
import { eraseMemoryScopes, eraseMemoryVersions } from "../../memory/index.ts";
import { removeConversations } from "../../session/index.ts";
import type { StoreTransaction } from "../../store/index.ts";
import { listPlaceholders, redactEntries } from "../../transcript/index.ts";
import type { Traces } from "./find-traces.ts";
import { isSender, listPeers, type Person } from "./person.ts";

/** How much was erased, by kind. */
export interface ErasedCounts {
  /** Sessions of the person's direct chats, and their conversations and entries. */
  sessions: number;
  conversations: number;
  entries: number;
  /** Messages in conversations of others, replaced by a placeholder. */
  messages: number;
  files: number;
  /** Summaries of those conversations; the next compaction rebuilds them without the person. */
  summaries: number;
  /** Versions of memories. */
  memories: number;
  recalls: number;
  reviews: number;
  inbox: number;
  quarantined: number;
  /** Credentials that were taken out of those messages. */
  secrets: number;
}

const placeholder = "[This message was erased at the request of its author.]";

/** Erases what was found, and counts it. */
export async function eraseTraces(
  tx: StoreTransaction,
  person: Person,
  { conversations, messages }: Traces,
): Promise<ErasedCounts> {
  const { db } = tx;
  const agents = [...new Set([...conversations, ...messages].map(({ agent }) => agent))];
  const total = { sessions: 0, conversations: 0, entries: 0, messages: 0, files: 0, summaries: 0, secrets: 0 };
  const erasedSeqs = new Map<string, Set<number>>();
  for (const agent of agents) {
    const own = conversations.filter((one) => one.agent === agent);
    const elsewhere = messages.filter((one) => one.agent === agent);
    const ownIds = own.map(({ id }) => id);
    const seqs = elsewhere.map(({ seq }) => seq);
    const filesBefore = await countRows(tx, "files", agent);
    erasedSeqs.set(agent, new Set([...seqs, ...(await listSeqs(tx, agent, ownIds))]));
    total.secrets += await removeSecrets(tx, agent, [...(erasedSeqs.get(agent) ?? [])]);
    if (seqs.length > 0) {
      const redacted = await redactEntries(tx, { agent, seqs }, placeholder);
      total.messages += redacted.entries;
      const touched = await closeOverForks(tx, agent, [...new Set(elsewhere.map(({ conversation }) => conversation))]);
      total.summaries += await discardSummaries(tx, agent, touched);
      // A title may be the beginning of an erased message.
      await db
        .updateTable("transcripts")
        .set({ title: null })
        .where("agent", "=", agent)
        .where("conversation", "in", touched)
        .execute();
    }
    if (ownIds.length > 0) {
      total.summaries += await discardSummaries(tx, agent, ownIds);
      total.entries += await removeConversations(tx, agent, ownIds);
      total.conversations += ownIds.length;
      total.sessions += await removeSessions(
        tx,
        agent,
        ownIds,
        own.map(({ key }) => key),
      );
    }
    total.files += filesBefore - (await countRows(tx, "files", agent));
  }
  const recalls = await removeRecalls(tx, erasedSeqs);
  const reviews = await removeReviews(tx, person, erasedSeqs);
  const memories = await removeMemories(tx, person, erasedSeqs);
  const inbox = await removeInbox(tx, person, messages);
  await removeOwners(tx, person);
  return { ...total, memories, recalls, reviews, inbox, quarantined: await removeQuarantined(tx, person) };
}

const seqsAtOnce = 500;

/** Removes the credentials whose placeholders are in some messages. */
async function removeSecrets({ db }: StoreTransaction, agent: string, seqs: readonly number[]): Promise<number> {
  const ids = new Set<string>();
  for (let from = 0; from < seqs.length; from += seqsAtOnce) {
    const rows = await db
      .selectFrom("entries")
      .select("payload")
      .where("agent", "=", agent)
      .where("seq", "in", seqs.slice(from, from + seqsAtOnce))
      .execute();
    for (const { payload } of rows) for (const id of listPlaceholders(payload)) ids.add(id);
  }
  let removed = 0;
  for (const id of ids) {
    const { numDeletedRows } = await db
      .deleteFrom("secrets")
      .where("agent", "=", agent)
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    removed += Number(numDeletedRows);
  }
  return removed;
}

async function countRows({ db }: StoreTransaction, table: "files", agent: string): Promise<number> {
  const row = await db
    .selectFrom(table)
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("agent", "=", agent)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

async function listSeqs({ db }: StoreTransaction, agent: string, conversations: readonly number[]): Promise<number[]> {
  if (conversations.length === 0) return [];
  const rows = await db
    .selectFrom("entries")
    .select("seq")
    .where("agent", "=", agent)
    .where("conversation", "in", conversations)
    .execute();
  return rows.map(({ seq }) => seq);
}

/** Conversations with those that continue them: their summaries may cover the same messages. */
async function closeOverForks({ db }: StoreTransaction, agent: string, ids: readonly number[]): Promise<number[]> {
  const all = new Set(ids);
  for (let last: readonly number[] = ids; last.length > 0; ) {
    const forks = await db
      .selectFrom("branches")
      .select("conversation")
      .where("agent", "=", agent)
      .where("parent_conversation", "in", last)
      .execute();
    last = forks.map(({ conversation }) => conversation).filter((one) => !all.has(one));
    for (const one of last) all.add(one);
  }
  return [...all];
}

async function removeSessions(
  { db }: StoreTransaction,
  agent: string,
  conversations: readonly number[],
  keys: readonly string[],
): Promise<number> {
  for (const table of ["jobs", "inbox", "notices"] as const) {
    await db.deleteFrom(table).where("agent", "=", agent).where("key", "in", keys).execute();
  }
  const { numDeletedRows } = await db
    .deleteFrom("sessions")
    .where("agent", "=", agent)
    .where("conversation", "in", conversations)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** Recorded recalls quote messages by their citations. */
async function removeRecalls(
  { db }: StoreTransaction,
  erased: ReadonlyMap<string, ReadonlySet<number>>,
): Promise<number> {
  let removed = 0;
  for (const [agent, seqs] of erased) {
    const rows = await db
      .selectFrom("memory_recalls")
      .select(["conversation", "seq", "block"])
      .where("agent", "=", agent)
      .execute();
    const quoting = rows.filter(({ block }) =>
      [...block.matchAll(/msg#(\d+)/g)].some(([, seq]) => seqs.has(Number(seq))),
    );
    for (const { conversation, seq } of quoting) {
      await db
        .deleteFrom("memory_recalls")
        .where("agent", "=", agent)
        .where("conversation", "=", conversation)
        .where("seq", "=", seq)
        .execute();
    }
    removed += quoting.length;
  }
  return removed;
}

async function removeReviews(
  { db }: StoreTransaction,
  person: Person,
  erased: ReadonlyMap<string, ReadonlySet<number>>,
): Promise<number> {
  const rows = await db.selectFrom("memory_reviews").select(["id", "scope", "candidate"]).execute();
  const theirs = rows.filter(({ scope, candidate }) => {
    const { sources = [] } = JSON.parse(candidate) as { sources?: { agent: string; seq: number }[] };
    return person.audiences.includes(scope) || sources.some(({ agent, seq }) => erased.get(agent)?.has(seq));
  });
  for (const { id } of theirs) await db.deleteFrom("memory_reviews").where("id", "=", id).execute();
  return theirs.length;
}

/** Memories of the person's own scopes, and those whose evidence is only theirs. Others lose the evidence. */
async function removeMemories(
  tx: StoreTransaction,
  person: Person,
  erased: ReadonlyMap<string, ReadonlySet<number>>,
): Promise<number> {
  const { memories } = await eraseMemoryScopes(tx, person.audiences);
  const sources = await tx.db.selectFrom("memory_sources").select(["memory", "agent", "seq"]).execute();
  const evidence = new Map<string, { theirs: number; others: number }>();
  for (const { memory, agent, seq } of sources) {
    const counts = evidence.get(memory) ?? { theirs: 0, others: 0 };
    counts[erased.get(agent)?.has(seq) ? "theirs" : "others"] += 1;
    evidence.set(memory, counts);
  }
  const only = [...evidence].flatMap(([id, { theirs, others }]) => (theirs > 0 && others === 0 ? [id] : []));
  await eraseMemoryVersions(tx, only);
  const theirs = sources.filter(({ agent, seq }) => erased.get(agent)?.has(seq));
  for (const { memory, agent, seq } of theirs) {
    const query = tx.db.deleteFrom("memory_sources").where("memory", "=", memory);
    await query.where("agent", "=", agent).where("seq", "=", seq).execute();
  }
  return memories + only.length;
}

/** Messages of the person that wait for an answer, or whose answers are still kept. */
async function removeInbox({ db }: StoreTransaction, person: Person, messages: Traces["messages"]): Promise<number> {
  const rows = await db
    .selectFrom("inbox")
    .select(["num", "agent", "id", "key", "sender"])
    .where((eb) => eb(eb.fn<string>("lower", ["sender"]), "in", listPeers(person)))
    .execute();
  const known = new Set(messages.map(({ agent, entryId }) => `${agent} ${entryId}`));
  const theirs = rows.filter(
    ({ agent, id, key, sender }) => known.has(`${agent} ${id}`) || isSender(person, channelOfKey(key), sender),
  );
  for (const { num } of theirs) await db.deleteFrom("inbox").where("num", "=", num).execute();
  return theirs.length;
}

export function channelOfKey(key: string): string | undefined {
  const parts = key.split(":");
  return parts[0] === "agent" && parts.length > 3 ? readSegment(parts[2] ?? "").id : undefined;
}

/** An owner who is forgotten is nobody any more. */
async function removeOwners({ db }: StoreTransaction, person: Person): Promise<void> {
  for (const { agent, channel, peer } of await db.selectFrom("owners").select(["agent", "channel", "peer"]).execute()) {
    if (!isSender(person, channel === localChannel ? undefined : channel, peer)) continue;
    await db
      .deleteFrom("owners")
      .where("agent", "=", agent)
      .where("channel", "=", channel)
      .where("peer", "=", peer)
      .execute();
  }
}

/** Lines that an import could not read are removed when they name the person. */
async function removeQuarantined({ db }: StoreTransaction, person: Person): Promise<number> {
  const rows = await db.selectFrom("quarantine").select(["agent", "id", "raw"]).execute();
  const names = listPeers(person).map((name) => name.toLowerCase());
  const theirs = rows.filter(({ raw }) => names.some((name) => raw.toLowerCase().includes(`"${name}"`)));
  for (const { agent, id } of theirs) {
    await db.deleteFrom("quarantine").where("agent", "=", agent).where("id", "=", id).execute();
  }
  return theirs.length;
}
