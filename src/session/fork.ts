import { newUuid, parseSessionKey, printStoredKey, type SessionKey, VarveError } from "../domain/index.ts";
import type { Store } from "../store/index.ts";
import { findParentSegment } from "../transcript/index.ts";
import { createSession, findSessionRow, newConversation, resolveAgent } from "./rows.ts";
import { type Session, sessionFromRow } from "./session.ts";

export interface ForkOptions {
  /** The child's key; a new sub-agent of the parent's agent when absent. */
  key?: string;
  /** The entry to fork at; the head of the active branch when absent. */
  atEntry?: string;
  /** Above this many tokens on the parent's branch the child starts with isolated context. */
  maxTokens: number;
  cwd?: string;
}

export interface Forked {
  session: Session;
  /** True when the parent's branch was too large, so that the child does not see it. */
  isolated: boolean;
  reason?: string;
}

const pageRows = 500;

/** Creates a child conversation that continues the parent without copying it: its first branch points into the parent. */
export async function forkSession(store: Store, parent: Session, options: ForkOptions): Promise<Forked> {
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
  const at = await forkPoint(store, parent, options.atEntry);
  const size = at ? await tokensUpTo(store, agent, { conversation: parent.conversation, ...at }, options.maxTokens) : 0;
  const isolated = size > options.maxTokens;
  const session = await store.transaction(async (tx) => {
    if (await findSessionRow(tx.db, agent, keyText)) {
      throw new VarveError("CONFLICT", `There is a session ${keyText} already.`, {
        remedy: "Choose another key for the fork.",
      });
    }
    const conversation = await newConversation(tx, agent, keyText);
    if (at && !isolated) {
      await tx.db
        .insertInto("branches")
        .values({
          agent,
          conversation,
          branch: 1,
          parent_conversation: parent.conversation,
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
    const transcript = { parentSession: parent.sessionId, cwd: options.cwd };
    return sessionFromRow(await createSession(tx, { agent, key, keyText, conversation, transcript }));
  });
  if (!isolated) return { session, isolated };
  const reason = `the parent's branch holds more than ${options.maxTokens} tokens`;
  return { session, isolated, reason };
}

async function forkPoint(
  store: Store,
  parent: Session,
  entryId?: string,
): Promise<{ branch: number; seq: number } | undefined> {
  const { db } = store;
  if (entryId !== undefined) {
    const entry = await db
      .selectFrom("entries")
      .select(["branch", "seq"])
      .where("agent", "=", parent.agent)
      .where("conversation", "=", parent.conversation)
      .where("id", "=", entryId)
      .executeTakeFirst();
    if (entry) return entry;
    throw new VarveError("ENTRY_NOT_FOUND", `The session ${parent.key} has no entry ${entryId}.`, {
      remedy: "`varve sessions show` lists the entries with their ids.",
    });
  }
  const head = await db
    .selectFrom("conversations")
    .select(["head_branch", "head_seq"])
    .where("agent", "=", parent.agent)
    .where("id", "=", parent.conversation)
    .executeTakeFirst();
  return head?.head_branch == null || head.head_seq === null
    ? undefined
    : { branch: head.head_branch, seq: head.head_seq };
}

/** The tokens from an entry back to its root; stops counting above the limit. */
async function tokensUpTo(
  store: Store,
  agent: string,
  from: { conversation: number; branch: number; seq: number },
  limit: number,
): Promise<number> {
  const { db } = store;
  let total = 0;
  let at: typeof from | undefined = from;
  while (at && total <= limit) {
    let upTo: number = at.seq;
    for (;;) {
      const rows: { seq: number; tokens: number }[] = await db
        .selectFrom("entries")
        .select(["seq", "tokens"])
        .where("agent", "=", agent)
        .where("conversation", "=", at.conversation)
        .where("branch", "=", at.branch)
        .where("seq", "<=", upTo)
        .orderBy("seq", "desc")
        .limit(pageRows)
        .execute();
      for (const row of rows) total += row.tokens;
      if (rows.length < pageRows || total > limit) break;
      upTo = (rows.at(-1)?.seq ?? 0) - 1;
    }
    const parent = await findParentSegment(db, agent, { ...at, upTo: at.seq });
    at = parent && { conversation: parent.conversation, branch: parent.branch, seq: parent.upTo };
  }
  return total;
}
