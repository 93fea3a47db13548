import type { Config } from "../config/index.ts";
import { type Message, VarveError } from "../domain/index.ts";
import type { Session } from "../session/index.ts";
import type { AppendResult, AttachedStatement, Store } from "../store/index.ts";
import { type TranscriptWriter, toMessageDraft } from "../transcript/index.ts";
import { createAfterTurnJobs } from "./after-turn-jobs.ts";
import type { TurnFacts } from "./compaction/compactor.ts";
import { recordTokens } from "./token-ratio.ts";
import type { ConversationSnapshot } from "./view/view-snapshot.ts";

export interface CommittedTurn extends AppendResult {
  /** `duplicate`: a turn with this key was committed before; nothing was written, and the figures are of that one. */
  status: "committed" | "duplicate";
}

const keyLengthMax = 512;

/**
 * Writes a whole turn and its jobs atomically. The key makes it idempotent: a second call with the same key changes
 * nothing, even with other messages.
 */
export async function commitTurn(
  { store, config, transcripts }: { store: Store; config: Config; transcripts: TranscriptWriter },
  session: Session,
  key: string,
  messages: Message[],
  facts: TurnFacts & { snapshot?: ConversationSnapshot } = {},
  /** Further statements of the same transaction; skipped for a duplicate. */
  attached: AttachedStatement[] = [],
): Promise<CommittedTurn> {
  checkKey(key);
  const jobs = await createAfterTurnJobs(store, config, session, messages, facts);
  const options = { jobs, idempotencyKey: key, attached };
  const { repeated, ...written } = await transcripts.write(session, messages.map(toMessageDraft), options);
  if (!repeated) await recordTokens(store, facts);
  return { ...written, status: repeated ? "duplicate" : "committed" };
}

function checkKey(key: string): void {
  if (typeof key === "string" && key !== "" && key.length <= keyLengthMax && !key.includes("\u0000")) return;
  throw new VarveError("BAD_REQUEST", "A turn needs a key of its own.", {
    remedy: `Send a string of 1 to ${keyLengthMax} characters that names this turn and no other.`,
  });
}
