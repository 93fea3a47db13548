import type { ConversationSnapshot } from "../context/index.ts";
import { type Message, VarveError } from "../domain/index.ts";
import type { Session } from "../session/index.ts";
import type { AppendResult, AttachedStatement } from "../store/index.ts";
import { appendEntries, toMessageDraft } from "../transcript/index.ts";
import type { TurnFacts } from "./compaction.ts";
import { describeLater } from "./describe-files.ts";
import type { EngineHost } from "./host.ts";
import { noteTokens } from "./token-ratio.ts";
import { refOf } from "./transcripts.ts";
import { workBehind } from "./work-behind.ts";

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
  facts: TurnFacts & { stood?: ConversationSnapshot } = {},
  /** What else belongs to the turn, written with it or not at all; not for a turn that is known. */
  also: AttachedStatement[] = [],
): Promise<CommittedTurn> {
  checkKey(key);
  const jobs = await workBehind(host, session, messages, facts);
  const result = await appendEntries(host.store, refOf(session), messages.map(toMessageDraft), host, jobs, {
    idempotencyKey: key,
    attached: also,
  });
  const { repeated, ...written } = result;
  if (!repeated) {
    await noteTokens(host, facts);
    await describeLater(host, session, written);
  }
  if (jobs.length > 0) host.workSoon();
  return { ...written, status: repeated ? "duplicate" : "committed" };
}

function checkKey(key: string): void {
  if (typeof key === "string" && key !== "" && key.length <= keyLengthMax && !key.includes("\u0000")) return;
  throw new VarveError("BAD_REQUEST", "A turn needs a key of its own.", {
    remedy: `Send a string of 1 to ${keyLengthMax} characters that names this turn and no other.`,
  });
}
