import { chooseAudience } from "../../authorization/index.ts";
import type { Config } from "../../config/index.ts";
import {
  dropSecrets,
  isJsonObject,
  parseSessionKey,
  printSessionKey,
  printStoredKey,
  type SessionKey,
  VarveError,
} from "../../domain/index.ts";
import { createJob } from "../../jobs/index.ts";
import type { SessionRow } from "../../session/index.ts";
import {
  addOwner,
  createSession,
  findKeyOf,
  findSessionRow,
  lockName,
  newConversation,
  openTranscript,
  resolveAgent,
} from "../../session/index.ts";
import { enqueueJob, type Store, type StoreTransaction } from "../../store/index.ts";
import type { HostTranscript } from "../transcripts/host-source.ts";
import { importHostRecords, importPaths } from "../transcripts/import-paths.ts";
import type { ImportOptions, ImportReport, ImportTarget, OpenedSession } from "../transcripts/import-types.ts";
import type { LegacySession } from "../transcripts/legacy.ts";
import { normaliseOpenclawKey } from "../transcripts/openclaw/session-keys.ts";
import type { ImportedSession } from "../transcripts/reader.ts";
import { copyNotes } from "./import-notes.ts";
import { keepImportedFields, readImportedColumns } from "./imported-fields.ts";
import { nameImportedSession } from "./name-imported.ts";
import { adoptRecorded } from "./recorded-conversation.ts";

/** Most of a file is imported by then; later messages are compacted after their turns. */
const compactionDelayMs = 60_000;
/** Memories are extracted after the context fits. */
const extractionDelayMs = 120_000;

export type ImportRequest = Partial<Omit<ImportOptions, "batchSize" | "homeAgent">>;

/** Imports transcripts of other programs, and Varve's own exports. */
export async function importTranscripts(
  { store, config, home }: { store: Store; config: Config; home: string },
  paths: string[],
  request: ImportRequest = {},
): Promise<ImportReport> {
  const options = {
    ...request,
    source: request.source ?? "auto",
    agent: request.agent ?? config.agent,
    homeAgent: request.agent,
    batchSize: config.import.batchSize,
  };
  const report = await withImportTarget({ store, config }, (target) => importPaths(target, paths, options));
  if (!request.dryRun) copyNotes(home, report.notes);
  for (const { agent, channel, id, setting } of report.owners) {
    const isNew = !request.dryRun && (await addOwner(store, { agent, channel, id, by: "openclaw" }));
    if (isNew || request.dryRun)
      report.remarks.push(`${channel} ${id} is the owner of the agent ${agent}, by ${setting} of OpenClaw`);
  }
  return report;
}

/** Imports the new records of a transcript that its program reads for Varve. */
export function importHostTranscript(
  { store, config }: { store: Store; config: Config },
  transcript: HostTranscript,
  { isAtomic = false, signal }: { isAtomic?: boolean; signal?: AbortSignal } = {},
): Promise<ImportReport> {
  const batchSize = isAtomic ? Number.MAX_SAFE_INTEGER : config.import.batchSize;
  const options = { source: "openclaw" as const, agent: transcript.session.agent, batchSize, signal };
  return withImportTarget({ store, config }, (target) => importHostRecords(target, transcript, options));
}

/** Runs an import, and names the sessions that it created. */
async function withImportTarget(
  { store, config }: { store: Store; config: Config },
  run: (target: ImportTarget) => Promise<ImportReport>,
): Promise<ImportReport> {
  const unnamed: OpenedSession[] = [];
  const report = await run({
    store,
    clock: store.clock,
    random: store.random,
    largeContentTokens: config.context.largeFileTokenThreshold,
    openSession: async (found, agent, legacy) => {
      const ref = await store.transaction((tx) => openImportedSession(tx, found, agent, legacy));
      // The first message of a live session may arrive long after it was opened.
      if ((ref.empty || legacy?.isLive) && found.title === undefined) unnamed.push(ref);
      return ref;
    },
    resolveKey: (found, agent, legacy) => {
      const place = resolvePlace(found, agent, legacy);
      return { agent: place.agent, key: place.keyText };
    },
    describeSession: (found, ref) => setTitle(store, found, ref),
  });
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
  importAgent: string,
  legacy?: LegacySession,
): Promise<OpenedSession> {
  const { agent, key, keyText, own } = resolvePlace(found, importAgent, legacy);
  await tx.lock(`import ${agent} ${found.sessionId}`);
  const known = await knownTranscript(tx, agent, found.sessionId);
  const sibling = known ?? (own ? await openExportedSibling(tx, found, agent) : await openNextPart(tx, found, agent));
  const statesInteraction = typeof legacy?.fields.lastInteractionAt === "number";
  if (known && !own && !legacy && (await isOfAnotherSource(tx, agent, known.conversation, found.channel))) {
    return { ...known, statesInteraction, isForeign: true };
  }
  if (sibling) return { ...sibling, statesInteraction };
  const parentKey = await findKeyOf(tx, agent, found.parentSessionId);
  const adopted = await adoptRecorded(tx, found, agent, parentKey);
  if (adopted) return { ...adopted, statesInteraction };
  const transcript = {
    sessionId: found.sessionId,
    parentSession: found.parentSessionId,
    cwd: found.cwd === undefined ? undefined : replaceNul(found.cwd),
    title: found.title === undefined ? undefined : replaceNul(dropSecrets(found.title)),
    startedAt: found.startedAt,
  };
  // An export of Varve contains the entry that opens it.
  const firstEntry = !own;
  if (legacy?.archived) return openArchived(tx, agent, keyText, transcript, firstEntry, legacy.archived.at);
  const taken = await findSessionRow(tx.db, agent, keyText);
  if (taken && legacy?.isLive) return { ...(await takeKey(tx, taken, transcript, firstEntry)), statesInteraction };
  if (taken) return openArchived(tx, agent, keyText, transcript, firstEntry);
  const { varve: _own, ...metadata } = found.meta ?? {};
  const row = await createSession(tx, {
    agent,
    key,
    keyText,
    transcript,
    audience: chooseAudience(key, "owner"),
    door: "owner",
    displayName: transcript.title,
    metadata: { ...metadata, ...(legacy ? { legacy: keepImportedFields(legacy.fields) } : {}) },
    lastInteractionAt: found.startedAt ?? 0,
    firstEntry,
    ...(legacy?.parentKey === undefined ? {} : { parentKey: normaliseOpenclawKey(legacy.parentKey, agent).key }),
  });
  if (legacy) await applyImportedRow(tx, agent, keyText, legacy);
  const payload = { because: "import" };
  const job = createJob(tx, { agent, kind: "compact import", key: keyText, payload, delayMs: compactionDelayMs });
  await enqueueJob(tx, job, tx.clock.now());
  // Messages of a live session are read for memories after their turns.
  if (legacy?.isLive) {
    return { agent, conversation: row.conversation, transcript: row.transcript, empty: true, statesInteraction };
  }
  const extraction = createJob(tx, {
    agent,
    kind: "extract import",
    key: keyText,
    payload,
    delayMs: extractionDelayMs,
  });
  await enqueueJob(tx, extraction, tx.clock.now());
  return { agent, conversation: row.conversation, transcript: row.transcript, empty: true, statesInteraction };
}

/** Whether a conversation belongs to another channel than the source that names it. Requests are recorded for all. */
async function isOfAnotherSource(
  tx: StoreTransaction,
  agent: string,
  conversation: number,
  channel: string,
): Promise<boolean> {
  const row = await tx.db
    .selectFrom("conversations")
    .select("key")
    .where("agent", "=", agent)
    .where("id", "=", conversation)
    .executeTakeFirst();
  if (!row) return false;
  const key = parseSessionKey(row.key);
  return "channel" in key && key.channel !== channel && key.channel !== "proxy";
}

/** Where a session belongs: the key it had, under the agent that the key names. */
function resolvePlace(found: ImportedSession, importAgent: string, legacy?: LegacySession) {
  const own = ownKey(found);
  const key = own ?? (legacy ? parseSessionKey(legacy.key) : keyFor(found, importAgent));
  const agent = own ? resolveAgent(own, importAgent) : (legacy?.agent ?? importAgent);
  return { agent, key, keyText: printStoredKey(key), own: own !== undefined };
}

/** Policies, levels, counters and clocks of the source. */
async function applyImportedRow(tx: StoreTransaction, agent: string, key: string, legacy: LegacySession) {
  const columns = readImportedColumns(legacy.fields, legacy.sourceKey);
  if (Object.keys(columns).length === 0) return;
  await tx.db.updateTable("sessions").set(columns).where("agent", "=", agent).where("key", "=", key).execute();
}

/** The session id after a reset: another one in the conversation of the session that was reset. */
async function openNextPart(
  tx: StoreTransaction,
  { continues, sessionId, startedAt }: ImportedSession,
  agent: string,
): Promise<OpenedSession | undefined> {
  const before = continues && (await knownTranscript(tx, agent, continues.sessionId));
  if (!continues || !before) return undefined;
  const given = { sessionId, startedAt, parentSession: continues.sessionId };
  const row = await tx.db
    .selectFrom("sessions")
    .select("updated_at")
    .where("agent", "=", agent)
    .where("session_id", "=", continues.sessionId)
    .executeTakeFirst();
  const opened = await openTranscript(tx, before, given);
  await tx.db
    .updateTable("transcripts")
    .set({ ended_at: opened.startedAt })
    .where("agent", "=", agent)
    .where("id", "=", before.transcript)
    .execute();
  await tx.db
    .updateTable("sessions")
    // Opening it is no use of the session: its times are those of the source.
    .set({
      session_id: sessionId,
      session_started_at: opened.startedAt,
      updated_at: Math.max(row?.updated_at ?? 0, opened.startedAt),
    })
    .where("agent", "=", agent)
    .where("session_id", "=", continues.sessionId)
    .execute();
  return { ...before, transcript: opened.transcript, empty: true };
}

/** PostgreSQL stores no NUL in a column; the record that it came from keeps it. */
function replaceNul(text: string): string {
  return text.replaceAll("\0", "\ufffd");
}

async function setTitle(store: Store, { sessionId, title: given }: ImportedSession, ref: OpenedSession): Promise<void> {
  if (given === undefined) return;
  const title = replaceNul(given);
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
  archivedAt?: number,
): Promise<OpenedSession> {
  const now = tx.clock.now();
  const conversation = await tx.nextNumber("conversation_id");
  const counters = { branch_count: 0, entry_count: 0, message_count: 0, tokens: 0 };
  await tx.db
    .insertInto("conversations")
    .values({
      agent,
      id: conversation,
      key,
      audience: chooseAudience(parseSessionKey(key), "owner") ?? null,
      created_at: now,
      updated_at: now,
      archived_at: archivedAt ?? now,
      ...counters,
    })
    .execute();
  const opened = await openTranscript(tx, { agent, conversation }, transcript, firstEntry);
  return { agent, conversation, transcript: opened.transcript, empty: true };
}

/** A live session takes its key from an earlier one, whose conversation is archived. */
async function takeKey(
  tx: StoreTransaction,
  { agent, key, conversation: previous, audience, session_id: previousId }: SessionRow,
  given: { sessionId: string; startedAt?: number },
  firstEntry: boolean,
): Promise<OpenedSession> {
  const now = tx.clock.now();
  await tx.lock(lockName(agent, key));
  const conversation = await newConversation(tx, agent, key, audience);
  const opened = await openTranscript(tx, { agent, conversation }, given, firstEntry);
  await tx.db
    .updateTable("conversations")
    .set({ archived_at: now })
    .where("agent", "=", agent)
    .where("id", "=", previous)
    .execute();
  await tx.db
    .updateTable("transcripts")
    .set({ ended_at: now })
    .where("agent", "=", agent)
    .where("session_id", "=", previousId)
    .execute();
  await tx.db.deleteFrom("notices").where("agent", "=", agent).where("key", "=", key).execute();
  await tx.db
    .updateTable("sessions")
    .set({
      session_id: given.sessionId,
      conversation,
      session_started_at: opened.startedAt,
      updated_at: now,
      message_count: 0,
      context_tokens: 0,
    })
    .where("agent", "=", agent)
    .where("key", "=", key)
    .execute();
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
