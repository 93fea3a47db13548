import { chooseAudience } from "../authorization/index.ts";
import { newUuid, parseSessionKey, printStoredKey, type SessionKey, VarveError } from "../domain/index.ts";
import type { Store, StoreTransaction } from "../store/index.ts";
import { listForkSpans } from "../transcript/index.ts";
import { createSession, findSessionRow, newConversation, resolveAgent, sessionStartQuery } from "./rows.ts";
import { type Session, sessionFromRow } from "./session.ts";

export interface ForkOptions {
  /** The child's key; a new sub-agent of the parent's agent when absent. */
  key?: string;
  /** The entry to fork at, by its id or as `msg#12`; the head of the active branch when absent. */
  atEntry?: string;
  /** Above this many tokens in the parent's view the child starts with isolated context. */
  maxTokens: number;
  cwd?: string;
}

export interface Forked {
  session: Session;
  /** True when the parent's view was too large, so that the child does not see it. */
  isolated: boolean;
  reason?: string;
}

/** An entry that a fork continues from. */
export interface ForkPoint {
  conversation: number;
  branch: number;
  seq: number;
}

/** The view of a session at an entry: what a fork starts from. */
export interface ParentView {
  tokens: number;
  /** Gives the child the same view, in the transaction that creates it. */
  inherit(tx: StoreTransaction, child: { agent: string; conversation: number }): Promise<void>;
}

/** Reads the view of a session at an entry; `beginSeq` is the boundary of the session id that the entry belongs to. */
export type ReadParentView = (parent: Session, point: ForkPoint, beginSeq: number | undefined) => Promise<ParentView>;

/**
 * Creates a child conversation that continues the parent without copying it: its first branch points into the parent, and
 * it sees what the parent sees at that entry, summaries and session boundary included.
 */
export async function forkSession(
  store: Store,
  parent: Session,
  options: ForkOptions,
  readParentView: ReadParentView,
): Promise<Forked> {
  const { agent } = parent;
  const key: SessionKey = options.key
    ? parseSessionKey(options.key)
    : { kind: "subagent", agent, id: newUuid(store.random) };
  const keyText = printStoredKey(key);
  if (resolveAgent(key, agent) !== agent) {
    throw new VarveError("REFUSED", `A fork of agent ${agent} cannot become the session ${keyText} of another agent.`, {
      remedy: `Choose a key that starts with agent:${agent}:.`,
    });
  }
  const at = await findForkPoint(store, parent, options.atEntry);
  const beginSeq = at && (await readBeginAt(store, agent, at));
  const view = at && (await readParentView(parent, at, beginSeq));
  const isolated = view !== undefined && view.tokens > options.maxTokens;
  const session = await store.transaction(async (tx) => {
    if (await findSessionRow(tx.db, agent, keyText)) {
      throw new VarveError("CONFLICT", `There is a session ${keyText} already.`, {
        remedy: "Choose another key for the fork.",
      });
    }
    const audience = chooseAudience(key, "owner") ?? parent.audience;
    const conversation = await newConversation(tx, agent, keyText, audience ?? null);
    const inherits = at !== undefined && view !== undefined && !isolated;
    if (inherits) {
      await pointInto(tx, agent, conversation, at);
      await view.inherit(tx, { agent, conversation });
    }
    const inheritedBeginSeq = inherits ? beginSeq : undefined;
    const transcript = { parentSession: parent.sessionId, cwd: options.cwd, inheritedBeginSeq };
    const who = { audience, isOwners: audience === undefined, door: "library" as const };
    return sessionFromRow(await createSession(tx, { agent, key, keyText, conversation, transcript, ...who }));
  });
  if (!isolated) return { session, isolated };
  const reason = `the parent's view has more than ${options.maxTokens} tokens (${view.tokens})`;
  return { session, isolated, reason };
}

/** Makes an entry of another conversation the head of a new one. */
async function pointInto(tx: StoreTransaction, agent: string, conversation: number, at: ForkPoint): Promise<void> {
  await tx.db
    .insertInto("branches")
    .values({
      agent,
      conversation,
      branch: 1,
      parent_conversation: at.conversation,
      parent_branch: at.branch,
      fork_seq: at.seq,
      tip_seq: null,
    })
    .execute();
  await tx.db
    .updateTable("conversations")
    .set({ head_branch: 1, head_seq: at.seq, branch_count: 1 })
    .where("agent", "=", agent)
    .where("id", "=", conversation)
    .execute();
}

async function findForkPoint(store: Store, parent: Session, entryName?: string): Promise<ForkPoint | undefined> {
  const { db } = store;
  if (entryName === undefined) {
    const head = await db
      .selectFrom("conversations")
      .select(["head_branch", "head_seq"])
      .where("agent", "=", parent.agent)
      .where("id", "=", parent.conversation)
      .executeTakeFirst();
    if (head?.head_branch == null || head.head_seq === null) return undefined;
    // The head of a fork without entries of its own is an entry of its parent.
    const entry = await findEntryAt(store, parent.agent, head.head_seq);
    return entry ?? { conversation: parent.conversation, branch: head.head_branch, seq: head.head_seq };
  }
  const entry = await findNamedEntry(store, parent, entryName);
  if (entry) return entry;
  throw new VarveError("ENTRY_NOT_FOUND", `The session ${parent.key} has no entry ${entryName}.`, {
    remedy: "`varve sessions show` lists the entries as msg#12; --json shows their ids.",
  });
}

/** An entry of the session, or of those it was forked from, by its id or its citation. */
async function findNamedEntry(store: Store, parent: Session, name: string): Promise<ForkPoint | undefined> {
  const cited = /^msg#(\d{1,15})$/i.exec(name.trim())?.[1];
  const spans = await listForkSpans(store, parent);
  if (cited !== undefined) {
    const entry = await findEntryAt(store, parent.agent, Number(cited));
    const span = spans.find(({ conversation }) => conversation === entry?.conversation);
    if (entry && span && entry.seq <= (span.upTo ?? entry.seq)) return entry;
  }
  for (const { conversation, upTo } of spans) {
    let query = store.db
      .selectFrom("entries")
      .select(["conversation", "branch", "seq"])
      .where("agent", "=", parent.agent)
      .where("conversation", "=", conversation)
      .where("id", "=", name);
    if (upTo !== undefined) query = query.where("seq", "<=", upTo);
    const entry = await query.executeTakeFirst();
    if (entry) return entry;
  }
  return undefined;
}

async function findEntryAt(store: Store, agent: string, seq: number): Promise<ForkPoint | undefined> {
  return store.db
    .selectFrom("entries")
    .select(["conversation", "branch", "seq"])
    .where("agent", "=", agent)
    .where("seq", "=", seq)
    .executeTakeFirst();
}

/** The boundary of the session id that an entry belongs to. */
async function readBeginAt(store: Store, agent: string, { seq }: ForkPoint): Promise<number | undefined> {
  const entry = await store.db
    .selectFrom("entries")
    .select("transcript")
    .where("agent", "=", agent)
    .where("seq", "=", seq)
    .executeTakeFirst();
  if (!entry) return undefined;
  return (
    (await sessionStartQuery(store.db, { agent, transcript: entry.transcript }).executeTakeFirst())?.seq ?? undefined
  );
}
