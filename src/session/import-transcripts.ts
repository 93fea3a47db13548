import type { Config } from "../config/index.ts";
import {
  isJsonObject,
  parseSessionKey,
  printSessionKey,
  printStoredKey,
  type SessionKey,
  VarveError,
} from "../domain/index.ts";
import { createJob } from "../jobs/index.ts";
import { enqueueJob, type Store, type StoreTransaction } from "../store/index.ts";
import {
  type ImportedSession,
  type ImportOptions,
  type ImportReport,
  importPaths,
  type LegacySession,
  type OpenedSession,
} from "../transcript/index.ts";
import { nameImportedSession } from "./name-imported.ts";
import { createSession, findSessionRow, openTranscript } from "./rows.ts";

/** Most of a file is imported by then; later messages are compacted after their turns. */
const compactionDelayMs = 60_000;
/** Memories are extracted after the context fits. */
const extractionDelayMs = 120_000;

export type ImportRequest = Partial<Omit<ImportOptions, "batchSize">>;

/** Imports transcripts of other programs, and Varve's own exports. */
export async function importTranscripts(
  { store, config }: { store: Store; config: Config },
  paths: string[],
  request: ImportRequest = {},
): Promise<ImportReport> {
  const options = {
    ...request,
    source: request.source ?? "auto",
    agent: request.agent ?? config.agent,
    batchSize: config.import.batchSize,
  };
  const unnamed: OpenedSession[] = [];
  const target = {
    store,
    clock: store.clock,
    random: store.random,
    largeContentTokens: config.context.largeFileTokenThreshold,
    openSession: async (found: ImportedSession, agent: string, legacy?: LegacySession) => {
      const ref = await store.transaction((tx) => openImportedSession(tx, found, agent, legacy));
      if (ref.empty && found.title === undefined) unnamed.push(ref);
      return ref;
    },
    describeSession: (found: ImportedSession, ref: OpenedSession) => setTitle(store, found, ref),
  };
  const report = await importPaths(target, paths, options);
  for (const ref of unnamed) await nameImportedSession(store, ref);
  return report;
}

/**
 * The conversation to import a session into. A known session id keeps its conversation; a new one gets the key it had.
 * When another conversation uses that key, the import goes into an archived conversation of its own.
 */
async function openImportedSession(
  tx: StoreTransaction,
  found: ImportedSession,
  agent: string,
  legacy?: LegacySession,
): Promise<OpenedSession> {
  await tx.lock(`import ${agent} ${found.sessionId}`);
  const known = await knownTranscript(tx, agent, found.sessionId);
  if (known) return known;
  const own = ownKey(found);
  const sibling = own && (await openExportedSibling(tx, found, agent));
  if (sibling) return sibling;
  const key = own ?? (legacy ? parseSessionKey(legacy.key) : keyFor(found, agent));
  const keyText = printStoredKey(key);
  const transcript = {
    sessionId: found.sessionId,
    parentSession: found.parentSessionId,
    cwd: found.cwd,
    title: found.title,
    startedAt: found.startedAt,
  };
  // An export of Varve contains the entry that opens it.
  const firstEntry = own === undefined;
  const taken = await findSessionRow(tx.db, agent, keyText);
  if (taken) return openArchived(tx, agent, keyText, transcript, firstEntry);
  const { varve: _own, ...metadata } = found.meta ?? {};
  const row = await createSession(tx, {
    agent,
    key,
    keyText,
    transcript,
    displayName: found.title,
    metadata: { ...metadata, ...(legacy ? { legacy: legacy.fields } : {}) },
    lastInteractionAt: found.startedAt ?? 0,
    firstEntry,
  });
  const payload = { because: "import" };
  const job = createJob(tx, { agent, kind: "compact import", key: keyText, payload, delayMs: compactionDelayMs });
  await enqueueJob(tx, job, tx.clock.now());
  const extraction = createJob(tx, {
    agent,
    kind: "extract import",
    key: keyText,
    payload,
    delayMs: extractionDelayMs,
  });
  await enqueueJob(tx, extraction, tx.clock.now());
  return { agent, conversation: row.conversation, transcript: row.transcript, empty: true };
}

async function setTitle(store: Store, { sessionId, title }: ImportedSession, ref: OpenedSession): Promise<void> {
  if (title === undefined) return;
  await store.transaction(async ({ db }) => {
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

/** An archived conversation under a key that is in use, so that the current one stays current. */
async function openArchived(
  tx: StoreTransaction,
  agent: string,
  key: string,
  transcript: { sessionId: string; startedAt?: number },
  firstEntry: boolean,
): Promise<OpenedSession> {
  const now = tx.clock.now();
  const conversation = await tx.nextNumber("conversation_id");
  const counters = { branch_count: 0, entry_count: 0, message_count: 0, tokens: 0 };
  await tx.db
    .insertInto("conversations")
    .values({ agent, id: conversation, key, created_at: now, updated_at: now, archived_at: now, ...counters })
    .execute();
  const opened = await openTranscript(tx, { agent, conversation }, transcript, firstEntry);
  return { agent, conversation, transcript: opened.transcript, empty: true };
}

/** An earlier session id of an exported conversation: it opens in the conversation of the current one. */
async function openExportedSibling(
  tx: StoreTransaction,
  found: ImportedSession,
  agent: string,
): Promise<OpenedSession | undefined> {
  const current = isJsonObject(found.meta?.varve) ? found.meta.varve.current : undefined;
  if (typeof current !== "string" || current === found.sessionId) return undefined;
  const whole =
    (await knownTranscript(tx, agent, current)) ??
    (await openImportedSession(tx, { ...found, sessionId: current }, agent));
  const { sessionId, startedAt } = found;
  const opened = await openTranscript(tx, whole, { sessionId, startedAt }, false);
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
