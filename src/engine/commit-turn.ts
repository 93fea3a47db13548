import { type Message, VarveError } from "../domain/index.ts";
import type { Session } from "../session/index.ts";
import type { AppendResult, StoreTransaction } from "../store/index.ts";
import { appendEntries, messageDraft } from "../transcript/index.ts";
import type { TurnFacts } from "./compaction.ts";
import { mayCompact } from "./context-settings.ts";
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
  const jobs = [
    ...(mayCompact(config, session).may ? [compactJob(host, session, { because: "turn", ...facts })] : []),
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

function checkKey(key: string): void {
  if (typeof key === "string" && key !== "" && key.length <= keyLengthMax && !key.includes("\u0000")) return;
  throw new VarveError("BAD_REQUEST", "A turn needs a key of its own.", {
    remedy: `Send a string of 1 to ${keyLengthMax} characters that names this turn and no other.`,
  });
}
