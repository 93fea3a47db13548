import { type Message, VarveError } from "../domain/index.ts";
import type { Session } from "../session/index.ts";
import type { AppendResult, StoreTransaction } from "../store/index.ts";
import { estimateMessageTokens } from "../tokens/index.ts";
import { appendEntries, messageDraft } from "../transcript/index.ts";
import type { TurnFacts } from "./compaction.ts";
import { contextSettings, mayCompact } from "./context-settings.ts";
import { describeLater } from "./describe-files.ts";
import type { EngineHost } from "./host.ts";
import { extractJob, mayExtract } from "./memory-settings.ts";
import { noteTokens } from "./token-ratio.ts";
import { refOf } from "./transcripts.ts";
import { compactJob } from "./work.ts";

export interface CommittedTurn extends AppendResult {
  /** `duplicate`: a turn with this key was committed before; nothing was written, and the figures are of that one. */
  status: "committed" | "duplicate";
}

const keyLengthMax = 512;

/**
 * Writes a whole turn with the work it causes: all of it, once. The key is what makes it one turn: a second call with it
 * changes nothing, also when its messages are others.
 */
export async function commitTurn(
  host: EngineHost,
  session: Session,
  key: string,
  messages: Message[],
  facts: TurnFacts = {},
  /** What else belongs to the turn, written with it or not at all. It is not called for a turn that is known. */
  also?: (tx: StoreTransaction) => Promise<void>,
): Promise<CommittedTurn> {
  checkKey(key);
  const { agent, conversation } = session;
  const { config } = host.loaded;
  const compacts = mayCompact(config, session).may && (await isPossiblyDue(host, session, messages, facts));
  const jobs = [
    ...(compacts ? [compactJob(host, session, { because: "turn", ...facts })] : []),
    ...(mayExtract(config, session) ? [extractJob(host, session, "turn")] : []),
  ];
  const committed = await host.store.transaction(async (tx): Promise<CommittedTurn> => {
    await tx.lock(`turn ${agent} ${conversation} ${key}`);
    const known = await tx.db
      .selectFrom("turns")
      .select("result")
      .where("agent", "=", agent)
      .where("conversation", "=", conversation)
      .where("key", "=", key)
      .executeTakeFirst();
    if (known) return { ...(JSON.parse(known.result) as AppendResult), status: "duplicate" };
    await also?.(tx);
    const result = await appendEntries(tx, refOf(session), messages.map(messageDraft), host, jobs);
    await tx.db
      .insertInto("turns")
      .values({ agent, conversation, key, result: JSON.stringify(result), created_at: host.clock.now() })
      .execute();
    return { ...result, status: "committed" };
  });
  if (committed.status === "committed") {
    await noteTokens(host, facts);
    await describeLater(host, session, committed);
  }
  if (jobs.length > 0) host.workSoon();
  return committed;
}

/**
 * Whether there can be anything to compact behind a turn. It errs towards yes: only a conversation that holds less
 * altogether than one leaf and the threshold surely has nothing.
 */
async function isPossiblyDue(
  { store, loaded: { config } }: EngineHost,
  session: Session,
  messages: readonly Message[],
  facts: TurnFacts,
): Promise<boolean> {
  const { agent, conversation } = session;
  const row = await store.db
    .selectFrom("conversations")
    .select("tokens")
    .select(({ selectFrom }) =>
      selectFrom("branches")
        .select("parent_conversation")
        .where("branches.agent", "=", agent)
        .where("branches.conversation", "=", conversation)
        .where("parent_conversation", "is not", null)
        .where("parent_conversation", "!=", conversation)
        .limit(1)
        .as("parent"),
    )
    .where("agent", "=", agent)
    .where("id", "=", conversation)
    .executeTakeFirst();
  // A fork holds what its parent does beside what is its own.
  if (!row || row.parent !== null) return true;
  const { leafChunkTokens, contextThreshold, windowTokens } = contextSettings(config, { session, ...facts });
  const threshold = Math.floor(contextThreshold * windowTokens);
  const tokens = row.tokens + messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0);
  return Math.max(tokens, facts.observedTokens ?? 0) >= Math.min(leafChunkTokens, threshold) * certainShare;
}

/** Estimates of what is about to be written and of what is stored may differ a little. */
const certainShare = 0.8;

function checkKey(key: string): void {
  if (typeof key === "string" && key !== "" && key.length <= keyLengthMax && !key.includes("\u0000")) return;
  throw new VarveError("BAD_REQUEST", "A turn needs a key of its own.", {
    remedy: `Send a string of 1 to ${keyLengthMax} characters that names this turn and no other.`,
  });
}
