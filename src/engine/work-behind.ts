import {
  type ConversationSnapshot,
  readViewSnapshot,
  takeConversationSnapshot,
  viewSnapshotQueries,
} from "../context/index.ts";
import type { Message } from "../domain/index.ts";
import { extractionCursorQuery, isWorthReading } from "../memory/index.ts";
import type { Session } from "../session/index.ts";
import type { NewJob } from "../store/index.ts";
import { estimateMessageTokens } from "../tokens/index.ts";
import type { TurnFacts } from "./compaction.ts";
import { contextSettings, mayCompact } from "./context-settings.ts";
import type { EngineHost } from "./host.ts";
import { extractJob, mayExtract } from "./memory-settings.ts";
import { refOf } from "./transcripts.ts";
import { compactJob } from "./work.ts";

/** The work a turn leaves behind. It errs towards yes; most turns surely leave none, and no job is made for them. */
export async function workBehind(
  host: EngineHost,
  session: Session,
  messages: readonly Message[],
  /** With how the conversation stood, where the turn has just looked at it. */
  { stood: known, ...facts }: TurnFacts & { stood?: ConversationSnapshot },
): Promise<NewJob[]> {
  const { config } = host.loaded;
  const may = { compact: mayCompact(config, session).may, extract: mayExtract(config, session) };
  if (!may.compact && !may.extract) return [];
  const stood = known ?? (await readStood(host, session));
  const every = config.memory.extractEveryMessages;
  const compacts = may.compact && (!stood || mayBeFull(host, session, messages, facts, stood.tokens));
  const extracts = may.extract && (!stood || stood.isLong || isWorthReading([...stood.unseen, ...messages], every));
  return [
    ...(compacts ? [compactJob(host, session, { because: "turn", ...facts })] : []),
    ...(extracts ? [extractJob(host, session, "turn")] : []),
  ];
}

async function readStood({ store }: EngineHost, session: Session): Promise<ConversationSnapshot | undefined> {
  const ref = refOf(session);
  const [cursors, ...rows] = await store.readBatch([
    extractionCursorQuery(store.db, ref),
    ...viewSnapshotQueries(store.db, ref),
  ]);
  return takeConversationSnapshot(await readViewSnapshot(store, ref, rows), cursors[0]?.seq ?? 0);
}

/** Only a conversation that holds less altogether than one leaf and the threshold surely has nothing to compact. */
function mayBeFull(
  { loaded: { config } }: EngineHost,
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

/** Estimates of what is about to be written and of what is stored may differ a little. */
const certainShare = 0.8;
