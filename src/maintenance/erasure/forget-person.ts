import { existsSync, readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { backupFolder, type LoadedConfig } from "../../config/index.ts";
import { VarveError } from "../../domain/index.ts";
import { isPostgres, type Store } from "../../store/index.ts";
import { channelOfKey, type ErasedCounts, eraseTraces } from "./erase-traces.ts";
import { chooseSample, countTextsInFiles } from "./find-bytes.ts";
import { findTraces, type Traces } from "./find-traces.ts";
import { isSender, type Person, resolvePerson } from "./person.ts";

export interface ForgetPersonOptions {
  /** Report what would be erased, and change nothing. */
  dryRun?: boolean;
  /** Further names under which the person writes in groups. */
  names?: readonly string[];
}

/** The report of an erasure, or of a dry run. */
export interface ForgetPersonReport {
  person: string;
  dryRun: boolean;
  /** Every form of the person's id that was searched for. */
  forms: readonly string[];
  erased: ErasedCounts;
  /** The search for erased text in the files of an SQLite database; null where there is no file. */
  verification: { searched: number; found: number } | null;
  /** Backups that still contain what was erased. They are not changed: delete them. */
  backups: string[];
  /** Content that was left, with the reason. */
  notes: string[];
}

interface Target {
  store: Store;
  loaded: LoadedConfig;
}

const samplesMax = 500;

/** Erases everything that the store has of a person. Running it again finishes what an interruption left. */
export async function forgetPerson(
  { store, loaded }: Target,
  id: string,
  { dryRun = false, names = [] }: ForgetPersonOptions = {},
): Promise<ForgetPersonReport> {
  const person = await resolvePerson(store, id, loaded.config.session.identityLinks);
  const traces = await findTraces(store, person, names);
  await refuseRunningTurns(store, person, traces);
  const samples = await takeSamples(store, traces);
  const counted = await eraseInTransaction(store, person, traces, dryRun);
  const report = {
    person: id,
    dryRun,
    forms: person.forms,
    erased: counted,
    backups: listCopies(loaded),
    notes: listNotes(store, names),
  };
  if (dryRun) return { ...report, verification: null };
  removeEmbeddingCache(loaded.home);
  if (!(await scrub(store))) {
    report.notes.push(describeIncomplete(store));
  }
  return { ...report, verification: verify(loaded.config.database, samples) };
}

/** What was erased stays erased when the files cannot be rewritten now. */
async function scrub(store: Store): Promise<boolean> {
  try {
    return (await store.scrub()).complete;
  } catch (error) {
    if (error instanceof VarveError && error.kind === "unavailable") return false;
    throw error;
  }
}

/** One transaction, so that a dry run can count exactly and then undo everything. */
async function eraseInTransaction(
  store: Store,
  person: Person,
  traces: Traces,
  dryRun: boolean,
): Promise<ErasedCounts> {
  const undo = new VarveError("ABORTED", "The dry run is undone.");
  let counted: ErasedCounts | undefined;
  try {
    await store.transaction(async (tx) => {
      counted = await eraseTraces(tx, person, traces);
      if (dryRun) throw undo;
    });
  } catch (error) {
    if (error !== undo) throw error;
  }
  if (counted === undefined) throw new VarveError("INTERNAL", "The erasure reported nothing.");
  return counted;
}

/** A running turn would write messages of the person back. */
async function refuseRunningTurns({ db, clock }: Store, person: Person, { conversations }: Traces): Promise<void> {
  const keys = new Set(conversations.map(({ agent, key }) => `${agent} ${key}`));
  const running = await db
    .selectFrom("inbox")
    .select(["agent", "key", "sender"])
    .where("state", "=", "running")
    .where("lease_until", ">", clock.now())
    .execute();
  const theirs = running.find(
    ({ agent, key, sender }) => keys.has(`${agent} ${key}`) || isSender(person, channelOfKey(key), sender),
  );
  if (theirs === undefined) return;
  throw new VarveError("CONFLICT", `A turn of this person is running in ${theirs.key}.`, {
    remedy: "Wait until it has ended, and run the command again.",
  });
}

async function takeSamples({ db }: Store, { conversations, messages }: Traces): Promise<string[]> {
  const samples = new Set<string>();
  const add = (rows: { payload: string }[]): void => {
    for (const { payload } of rows) {
      const sample = chooseSample(payload);
      if (sample !== undefined && samples.size < samplesMax) samples.add(sample);
    }
  };
  for (const { agent, id } of conversations) {
    if (samples.size >= samplesMax) break;
    const query = db.selectFrom("entries").select("payload").where("agent", "=", agent).where("conversation", "=", id);
    add(await query.where("kind", "=", "user").limit(samplesMax).execute());
  }
  for (const { agent, seq } of messages) {
    if (samples.size >= samplesMax) break;
    add(await db.selectFrom("entries").select("payload").where("agent", "=", agent).where("seq", "=", seq).execute());
  }
  return [...samples];
}

function verify(database: string, samples: readonly string[]): ForgetPersonReport["verification"] {
  if (isPostgres(database)) return null;
  return { searched: samples.length, found: countTextsInFiles([database, `${database}-wal`], samples) };
}

/** Vectors of erased texts; everything in the cache can be computed again. */
function removeEmbeddingCache(home: string): void {
  const file = join(home, "cache", "embeddings.db");
  for (const suffix of ["", "-wal", "-shm"]) rmSync(file + suffix, { force: true });
}

/** Backups, and databases that were kept before a restore. */
function listCopies({ home, config }: LoadedConfig): string[] {
  const folder = backupFolder(home);
  const backups = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  if (isPostgres(config.database) || !existsSync(dirname(config.database))) return backups;
  const kept = readdirSync(dirname(config.database))
    .filter((name) => name.startsWith(`${basename(config.database)}.before-restore-`))
    .map((name) => join(dirname(config.database), name));
  return [...backups, ...kept];
}

function describeIncomplete({ engine }: Store): string {
  return engine === "sqlite"
    ? "Another process kept old pages of the database in use. Run the command again when it has stopped."
    : "The tables were not rewritten, because this role does not own them: run VACUUM FULL as their owner.";
}

function listNotes({ engine }: Store, names: readonly string[]): string[] {
  return [
    "Replies of the agent in groups, and messages of others, are kept, also where they quote the person.",
    ...(names.length === 0
      ? ["Group messages that name their author only by a display name are found with --name."]
      : []),
    "The audit log and log files keep ids, without content. Files that were imported stay where they are.",
    ...(engine === "postgres"
      ? ["The write-ahead log and the backups of PostgreSQL keep old rows until they are recycled."]
      : []),
  ];
}
