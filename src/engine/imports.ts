import { isJsonObject, parseSessionKey, printSessionKey, type SessionKey, VarveError } from "../domain/index.ts";
import { createSession, findSessionRow, openTranscript } from "../session/index.ts";
import { enqueueJob, type StoreTransaction } from "../store/index.ts";
import {
  type ImportedSession,
  type ImportOptions,
  type ImportReport,
  importPaths,
  type LegacySession,
  type OpenedSession,
} from "../transcript/index.ts";
import type { EngineHost } from "./host.ts";
import { compactJob } from "./work.ts";

/** By then most of a file is there; what comes later is compacted as turns are. */
const bootstrapDelayMs = 60_000;

export type ImportRequest = Partial<Omit<ImportOptions, "batchSize">>;

/** Reads transcripts of other programs, and Varve's own exports, into the log. */
export function importInto(host: EngineHost, paths: string[], request: ImportRequest = {}): Promise<ImportReport> {
  const { config } = host.loaded;
  const options = {
    ...request,
    source: request.source ?? "auto",
    agent: request.agent ?? config.agent,
    batchSize: config.import.batchSize,
  };
  const importHost = {
    ...host,
    openSession: (found: ImportedSession, agent: string, legacy?: LegacySession) =>
      host.store.transaction((tx) => openIn(tx, host, found, agent, legacy)),
    describeSession: (found: ImportedSession, ref: OpenedSession) => describe(host, found, ref),
  };
  return importPaths(importHost, paths, options);
}

/**
 * The place of a conversation that was found in a file. A session id that is known is where it was; a new one gets the
 * key it had, and when that key is in use by another conversation it is archived beside it, never mixed into it.
 */
async function openIn(
  tx: StoreTransaction,
  host: EngineHost,
  found: ImportedSession,
  agent: string,
  legacy?: LegacySession,
): Promise<OpenedSession> {
  await tx.lock(`import ${agent} ${found.sessionId}`);
  const known = await knownTranscript(tx, agent, found.sessionId);
  if (known) return known;
  const own = ownKey(found);
  const sibling = own && (await openOwnSibling(tx, host, found, agent));
  if (sibling) return sibling;
  const key = own ?? (legacy ? parseSessionKey(legacy.key) : keyFor(found, agent));
  const keyText = printSessionKey(key);
  const transcript = {
    sessionId: found.sessionId,
    parentSession: found.parentSessionId,
    cwd: found.cwd,
    title: found.title,
    startedAt: found.startedAt,
  };
  // An export of Varve brings the entry that opens it along.
  const firstEntry = own === undefined;
  const taken = await findSessionRow(tx.db, agent, keyText);
  if (taken) return openBeside(tx, host, agent, keyText, transcript, firstEntry);
  const { varve: _own, ...metadata } = found.meta ?? {};
  const row = await createSession(tx, host, {
    agent,
    key,
    keyText,
    transcript,
    displayName: found.title,
    metadata: { ...metadata, ...(legacy ? { legacy: legacy.fields } : {}) },
    lastInteractionAt: found.startedAt ?? 0,
    firstEntry,
  });
  const job = compactJob(host, { agent, key: keyText }, { because: "import" });
  await enqueueJob(tx, { ...job, runAt: job.runAt + bootstrapDelayMs }, host.clock.now());
  return { agent, conversation: row.conversation, transcript: row.transcript, empty: true };
}

async function describe(host: EngineHost, { sessionId, title }: ImportedSession, ref: OpenedSession): Promise<void> {
  if (title === undefined) return;
  await host.store.transaction(async ({ db }) => {
    await db
      .updateTable("transcripts")
      .set({ title })
      .where("agent", "=", ref.agent)
      .where("id", "=", ref.transcript)
      .execute();
    await db
      .updateTable("sessions")
      .set({ display_name: title })
      .where("agent", "=", ref.agent)
      .where("session_id", "=", sessionId)
      .execute();
  });
}

async function knownTranscript(
  tx: StoreTransaction,
  agent: string,
  sessionId: string,
): Promise<OpenedSession | undefined> {
  const row = await tx.db
    .selectFrom("transcripts")
    .innerJoin("conversations", (join) =>
      join
        .onRef("conversations.agent", "=", "transcripts.agent")
        .onRef("conversations.id", "=", "transcripts.conversation"),
    )
    .select(["transcripts.id", "transcripts.conversation", "conversations.entry_count"])
    .where("transcripts.agent", "=", agent)
    .where("transcripts.session_id", "=", sessionId)
    .executeTakeFirst();
  if (!row) return undefined;
  return { agent, conversation: row.conversation, transcript: row.id, empty: row.entry_count <= 1 };
}

/** A conversation of its own under a key that is in use; archived, so that the one in use stays the current one. */
async function openBeside(
  tx: StoreTransaction,
  host: EngineHost,
  agent: string,
  key: string,
  transcript: { sessionId: string; startedAt?: number },
  firstEntry: boolean,
): Promise<OpenedSession> {
  const now = host.clock.now();
  const conversation = await tx.nextNumber("conversation_id");
  const counters = { branch_count: 0, entry_count: 0, message_count: 0, tokens: 0 };
  await tx.db
    .insertInto("conversations")
    .values({ agent, id: conversation, key, created_at: now, updated_at: now, archived_at: now, ...counters })
    .execute();
  const opened = await openTranscript(tx, host, { agent, conversation }, transcript, firstEntry);
  return { agent, conversation, transcript: opened.transcript, empty: true };
}

/** An earlier session id of an exported conversation: it opens in the conversation of the current one. */
async function openOwnSibling(
  tx: StoreTransaction,
  host: EngineHost,
  found: ImportedSession,
  agent: string,
): Promise<OpenedSession | undefined> {
  const current = isJsonObject(found.meta?.varve) ? found.meta.varve.current : undefined;
  if (typeof current !== "string" || current === found.sessionId) return undefined;
  const whole =
    (await knownTranscript(tx, agent, current)) ?? (await openIn(tx, host, { ...found, sessionId: current }, agent));
  const { sessionId, startedAt } = found;
  const opened = await openTranscript(tx, host, whole, { sessionId, startedAt }, false);
  return { ...whole, transcript: opened.transcript };
}

/** The key in the header of one of Varve's own exports. */
function ownKey(found: ImportedSession): SessionKey | undefined {
  const own = found.meta?.varve;
  if (!isJsonObject(own) || typeof own.key !== "string") return undefined;
  return parseSessionKey(own.key);
}

function keyFor(found: ImportedSession, agent: string): SessionKey {
  const id = found.sessionId.replace(/[^\p{L}\p{N}._@+-]+/gu, "-");
  const key: SessionKey =
    found.parentSessionId === undefined
      ? { kind: "direct", agent, channel: found.channel, peer: id }
      : { kind: "subagent", agent, id };
  try {
    return parseSessionKey(printSessionKey(key));
  } catch (error) {
    throw new VarveError("BAD_FILE", `The session ${JSON.stringify(found.sessionId)} cannot be given a key.`, {
      cause: error,
    });
  }
}
