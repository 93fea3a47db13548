import type { Config } from "../config/index.ts";
import { type EntryDraft, getParts, getToolResults, type Message, VarveError } from "../domain/index.ts";
import { canExtract, createExtractionJob, extractionCursorQuery, isWorthReading } from "../memory/index.ts";
import type { Session } from "../session/index.ts";
import { type AppendResult, type AttachedStatement, attachStatement, type NewJob, type Store } from "../store/index.ts";
import { estimateMessageTokens } from "../text/index.ts";
import { getPartsText, makeTitle, type TranscriptWriter, toMessageDraft } from "../transcript/index.ts";
import { compactionJob, type TurnFacts } from "./compaction/compactor.ts";
import { canCompact, contextSettings } from "./context-settings.ts";
import { recordTokens } from "./token-ratio.ts";
import {
  type ConversationSnapshot,
  readViewSnapshot,
  takeConversationSnapshot,
  viewSnapshotQueries,
} from "./view/view-snapshot.ts";

export interface CommittedTurn extends AppendResult {
  /** `duplicate`: a turn with this key was committed before; nothing was written, and the figures are of that one. */
  status: "committed" | "duplicate";
}

/** Rows that are written in the transaction of a turn in addition to its messages. */
export interface TurnExtras {
  /** Further statements; skipped for a duplicate. */
  attached?: AttachedStatement[];
  /** Entries that should be there already, before the messages; those with a known id are skipped. */
  recorded?: EntryDraft[];
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
  { attached = [], recorded = [] }: TurnExtras = {},
): Promise<CommittedTurn> {
  checkKey(key);
  const jobs = await createAfterTurnJobs(store, config, session, messages, facts);
  const request = messages.find((message) => message.role === "user" && getToolResults(message).length === 0);
  const title = request === undefined ? [] : createTitleUpdate(store, session, getPartsText(getParts(request)));
  const options = { jobs, idempotencyKey: key, attached: [...attached, ...title] };
  const { repeated, ...written } = await transcripts.write(
    session,
    [...recorded, ...messages.map(toMessageDraft)],
    options,
  );
  if (!repeated) await recordTokens(store, facts);
  return { ...written, status: repeated ? "duplicate" : "committed" };
}

/** Names a session without a title by what was asked in it. */
export function createTitleUpdate(store: Store, session: Session, request: string): AttachedStatement[] {
  const title = session.displayName === undefined ? makeTitle(request) : undefined;
  if (title === undefined) return [];
  return [
    attachStatement(
      store.db
        .updateTable("sessions")
        .set({ display_name: title })
        .where("agent", "=", session.agent)
        .where("key", "=", session.key)
        .where("display_name", "is", null),
    ),
  ];
}

function checkKey(key: string): void {
  if (typeof key === "string" && key !== "" && key.length <= keyLengthMax && !key.includes("\u0000")) return;
  throw new VarveError("BAD_REQUEST", "A turn needs a key of its own.", {
    remedy: `Send a string of 1 to ${keyLengthMax} characters that names this turn and no other.`,
  });
}

/** Estimates of new messages and stored figures may differ slightly. */
const certainShare = 0.8;

/** The jobs after a turn. Most turns need none; when in doubt, a job is created. */
async function createAfterTurnJobs(
  store: Store,
  config: Config,
  session: Session,
  messages: readonly Message[],
  /** With a snapshot of the conversation, where the turn has just taken one. */
  { snapshot: known, ...facts }: TurnFacts & { snapshot?: ConversationSnapshot },
): Promise<NewJob[]> {
  const allows = { compaction: canCompact(config, session), extraction: canExtract(config, session.key) };
  if (!allows.compaction && !allows.extraction) return [];
  const snapshot = known ?? (await readSnapshot(store, session));
  const every = config.memory.extractEveryMessages;
  const compacts = allows.compaction && (!snapshot || mayBeFull(config, session, messages, facts, snapshot.tokens));
  const extracts =
    allows.extraction && (!snapshot || snapshot.isLong || isWorthReading([...snapshot.unseen, ...messages], every));
  return [
    ...(compacts ? [compactionJob(store, session, "turn", facts)] : []),
    ...(extracts ? [createExtractionJob(store, session, "turn")] : []),
  ];
}

async function readSnapshot(store: Store, session: Session): Promise<ConversationSnapshot | undefined> {
  const [cursors, ...rows] = await store.readBatch([
    extractionCursorQuery(store.db, session),
    ...viewSnapshotQueries(store.db, session),
  ]);
  return takeConversationSnapshot(await readViewSnapshot(store, session, rows), cursors[0]?.seq ?? 0);
}

/** False only when the whole conversation is clearly smaller than one leaf and the threshold. */
function mayBeFull(
  config: Config,
  session: Session,
  messages: readonly Message[],
  facts: TurnFacts,
  stored: number,
): boolean {
  const { leafChunkTokens, contextThreshold, windowTokens } = contextSettings(config, { session, ...facts });
  const threshold = Math.floor(contextThreshold * windowTokens);
  const tokens = stored + messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0);
  return Math.max(tokens, facts.observedTokens ?? 0) >= Math.min(leafChunkTokens, threshold) * certainShare;
}
