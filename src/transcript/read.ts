import { type Entry, VarveError } from "../domain/index.ts";
import { type Db, isOfAgent, type Store } from "../store/index.ts";
import type { TranscriptRef } from "./append.ts";
import { type ContentForm, decodeEntry, readPayloads, type StoredEntry } from "./codec.ts";
import { findParentSegment, readActivePath, readHead, type Segment } from "./path.ts";

export type Row = StoredEntry & { transcript: number; conversation: number; branch: number };

export interface TailOptions {
  /** The maximum number of entries. */
  limit: number;
  /** Only entries before this sequence number: the cursor of the previous page. */
  before?: number;
  /** Only entries of one session id; absent, the whole conversation. */
  transcript?: number;
  /** Start here instead of at the head. */
  at?: { branch: number; seq: number };
  /** Default: `original`. */
  content?: ContentForm;
}

export interface Page {
  /** Oldest first. */
  entries: Entry[];
  /** Pass as `before` to read the previous page; absent on the first page of the conversation. */
  before?: number;
}

const seqsAtOnce = 500;
export const columns = [
  "seq",
  "id",
  "kind",
  "time",
  "tokens",
  "payload",
  "transcript",
  "conversation",
  "branch",
] as const;

/** Reads the last entries of the active branch. Its cost depends on `limit`, not on the length of the history. */
export async function readTail(
  store: Store,
  ref: Omit<TranscriptRef, "transcript">,
  options: TailOptions,
): Promise<Page> {
  const start = options.at ?? (await readHead(store, ref));
  if (!start) return { entries: [] };
  const upTo = options.before === undefined ? start.seq : Math.min(start.seq, options.before - 1);
  const rows: Row[] = [];
  // One extra row gives the parent of the first entry, and tells whether there is a previous page.
  const wanted = options.limit + 1;
  let segment: Segment | undefined = { conversation: ref.conversation, branch: start.branch, upTo };
  while (segment && rows.length < wanted) {
    let query = store.db
      .selectFrom("entries")
      .select(columns)
      .where("agent", "=", ref.agent)
      .where("conversation", "=", segment.conversation)
      .where("branch", "=", segment.branch)
      .where("seq", "<=", segment.upTo);
    if (options.transcript !== undefined) query = query.where("transcript", "=", options.transcript);
    rows.push(
      ...(await query
        .orderBy("seq", "desc")
        .limit(wanted - rows.length)
        .execute()),
    );
    segment = rows.length < wanted ? await findParentSegment(store.db, ref.agent, segment) : undefined;
  }
  return readPage(store, ref.agent, rows.reverse(), options.limit, options.content);
}

/** Decodes rows into a page; a row beyond `limit` only supplies the parent of the first entry. */
export async function readPage(
  store: Store,
  agent: string,
  rows: Row[],
  limit: number,
  content: ContentForm | undefined,
  sessions?: ReadonlyMap<number, string>,
): Promise<Page> {
  const more = rows.length > limit;
  const entries = await decodeAscending(store, agent, rows, { content, sessions });
  if (more) entries.shift();
  const first = entries[0];
  return more && first ? { entries, before: first.seq } : { entries };
}

/** All entries of the active branch, oldest first, in pages; for exports and checks. */
export async function* walkBranch(
  store: Store,
  ref: Omit<TranscriptRef, "transcript">,
  pageSize = 500,
): AsyncGenerator<Entry[]> {
  const path = await readActivePath(store, ref);
  let parentId: string | null = null;
  for (let last = 0; ; ) {
    const page: Entry[] = await readAfter(store, ref.agent, path, { after: last, limit: pageSize, parentId });
    if (page.length === 0) return;
    last = page.at(-1)?.seq ?? last;
    parentId = page.at(-1)?.id ?? parentId;
    yield page;
  }
}

export interface AfterOptions {
  after: number;
  limit: number;
  /** The parent of the first entry, if the caller knows it. */
  parentId?: string | null;
  content?: ContentForm;
  /** The session ids of all transcripts on the path, if the caller knows them. */
  sessions?: ReadonlyMap<number, string>;
}

/** Entries of a path after a sequence number, oldest first. */
export async function readAfter(
  store: Store,
  agent: string,
  path: Segment[],
  { after, limit, ...decoding }: AfterOptions,
): Promise<Entry[]> {
  const rows: Row[] = [];
  for (const segment of path) {
    if (rows.length === limit) break;
    if (segment.upTo <= after) continue;
    const found = await store.db
      .selectFrom("entries")
      .select(columns)
      .where("agent", "=", agent)
      .where("conversation", "=", segment.conversation)
      .where("branch", "=", segment.branch)
      .where("seq", "<=", segment.upTo)
      .where("seq", ">", after)
      .orderBy("seq")
      .limit(limit - rows.length)
      .execute();
    rows.push(...found);
  }
  return decodeAscending(store, agent, rows, decoding);
}

/** All entries of a conversation in the order of writing, including inactive branches. */
export async function* walkConversation(
  store: Store,
  ref: Omit<TranscriptRef, "transcript">,
  pageSize = 500,
): AsyncGenerator<Entry[]> {
  const forks = new Map<number, { conversation: number | null; seq: number | null }>();
  const branches = await store.db
    .selectFrom("branches")
    .select(["branch", "parent_conversation", "fork_seq"])
    .where("agent", "=", ref.agent)
    .where("conversation", "=", ref.conversation)
    .execute();
  for (const row of branches) forks.set(row.branch, { conversation: row.parent_conversation, seq: row.fork_seq });
  const lastId = new Map<number, string>();
  const idBySeq = new Map<number, string>();
  const forkPoints = new Set(branches.flatMap((row) => (row.fork_seq === null ? [] : [row.fork_seq])));
  for (let last = 0; ; ) {
    const rows: Row[] = await store.db
      .selectFrom("entries")
      .select(columns)
      .where("agent", "=", ref.agent)
      .where("conversation", "=", ref.conversation)
      .where("seq", ">", last)
      .orderBy("seq")
      .limit(pageSize)
      .execute();
    if (rows.length === 0) return;
    last = rows.at(-1)?.seq ?? last;
    const sessions = await readSessionIds(store.db, ref.agent, rows);
    const payloads = await readPayloads(store, ref.agent, rows, "original");
    yield rows.map((row, index) => {
      const fork = forks.get(row.branch);
      const parentId = lastId.get(row.branch) ?? (fork?.seq ? (idBySeq.get(fork.seq) ?? null) : null);
      lastId.set(row.branch, row.id);
      if (forkPoints.has(row.seq)) idBySeq.set(row.seq, row.id);
      return decodeEntry(row, payloads[index] ?? {}, parentId, sessions.get(row.transcript) ?? "");
    });
  }
}

export async function findEntry(
  store: Store,
  agent: string,
  by: { conversation: number; id: string } | { seq: number },
): Promise<{ entry: Entry; conversation: number; branch: number }> {
  let query = store.db.selectFrom("entries").select(columns).where("agent", "=", agent);
  if ("seq" in by) query = query.where("seq", "=", by.seq);
  else query = query.where("conversation", "=", by.conversation).where("id", "=", by.id);
  const row = await query.executeTakeFirst();
  if (!row) {
    const name = "seq" in by ? `msg#${by.seq}` : by.id;
    throw new VarveError("ENTRY_NOT_FOUND", `There is no entry ${name}.`, {
      remedy: "Take an id from `varve sessions show` or from a search result.",
    });
  }
  const before = await readTail(
    store,
    { agent, conversation: row.conversation },
    { limit: 1, at: { branch: row.branch, seq: row.seq } },
  );
  const entry = before.entries[0];
  if (!entry) throw new VarveError("ENTRY_NOT_FOUND", `The entry ${row.id} was deleted while it was being read.`);
  return { entry, conversation: row.conversation, branch: row.branch };
}

/** The sequence numbers of entries of a conversation, by their ids. Missing ones are absent. */
export async function findSeqs(
  store: Store,
  ref: Omit<TranscriptRef, "transcript">,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (let from = 0; from < ids.length; from += seqsAtOnce) {
    const rows = await store.db
      .selectFrom("entries")
      .select(["id", "seq"])
      .where("agent", "=", ref.agent)
      .where("conversation", "=", ref.conversation)
      .where("id", "in", ids.slice(from, from + seqsAtOnce))
      .execute();
    for (const row of rows) found.set(row.id, row.seq);
  }
  return found;
}

/** Reads entries by sequence number, in log order. Missing ones are skipped, and `parentId` is not set. */
export async function readEntries(
  store: Store,
  agent: string,
  seqs: readonly number[],
  content: ContentForm = "original",
): Promise<(Entry & { conversation: number })[]> {
  const rows: Row[] = [];
  for (let from = 0; from < seqs.length; from += seqsAtOnce) {
    const found = await store.db
      .selectFrom("entries")
      .select(columns)
      .where("seq", "in", seqs.slice(from, from + seqsAtOnce))
      .where(isOfAgent(store, agent))
      .execute();
    rows.push(...found);
  }
  rows.sort((a, b) => a.seq - b.seq);
  const sessions = await readSessionIds(store.db, agent, rows);
  const payloads = await readPayloads(store, agent, rows, content);
  return rows.map((row, index) => ({
    ...decodeEntry(row, payloads[index] ?? {}, null, sessions.get(row.transcript) ?? ""),
    conversation: row.conversation,
  }));
}

async function decodeAscending(
  store: Store,
  agent: string,
  rows: Row[],
  options: { parentId?: string | null; content?: ContentForm; sessions?: ReadonlyMap<number, string> },
): Promise<Entry[]> {
  const sessions = options.sessions ?? (await readSessionIds(store.db, agent, rows));
  const payloads = await readPayloads(store, agent, rows, options.content ?? "original");
  let parent = options.parentId ?? null;
  return rows.map((row, index) => {
    const entry = decodeEntry(row, payloads[index] ?? {}, parent, sessions.get(row.transcript) ?? "");
    parent = row.id;
    return entry;
  });
}

async function readSessionIds(db: Db, agent: string, rows: Row[]): Promise<Map<number, string>> {
  const ids = [...new Set(rows.map((row) => row.transcript))];
  if (ids.length === 0) return new Map();
  const found = await db
    .selectFrom("transcripts")
    .select(["id", "session_id"])
    .where("agent", "=", agent)
    .where("id", "in", ids)
    .execute();
  return new Map(found.map((row) => [row.id, row.session_id]));
}
