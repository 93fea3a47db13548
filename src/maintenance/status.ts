import { backupFolder, type LoadedConfig } from "../config/index.ts";
import { isPaused, type ModelState, stateFromRow, type UsageRecorder } from "../models/index.ts";
import type { SearchCoverage, SearchService } from "../search/index.ts";
import type { Owner, OwnerService, UnknownPerson } from "../session/index.ts";
import { type Store, schemaVersion } from "../store/index.ts";
import { countInbox } from "../turn/index.ts";
import { listBackups } from "./list-backups.ts";

export interface Status {
  version: string;
  home: string;
  database: string;
  engine: "sqlite" | "postgres";
  schemaVersion: number;
  /** The id of the key that texts are encrypted with; null when they are plain. The word index and vectors never are. */
  encryption: string | null;
  sessions: number;
  conversations: number;
  messages: number;
  entries: number;
  tokens: number;
  databaseBytes: number;
  jobs: Record<string, number>;
  quarantined: number;
  importedFiles: number;
  /** Every model that was called, with its state. */
  models: ModelStatus[];
  /** Tokens that models read and wrote in the last days, the newest first. */
  spend: {
    day: string;
    purpose: string;
    model: string;
    calls: number;
    inputTokens: number;
    outputTokens: number;
    /** Input tokens that a provider's cache can hold, and those that it read from its cache. */
    cacheableTokens: number;
    cachedTokens: number;
  }[];
  /** Accepted messages by state: waiting, running, done. */
  inbox: Record<string, number>;
  /** Jobs with an error, the latest first. */
  failedJobs: { kind: string; key: string; error: string; attempts: number; time: number }[];
  summaries: number;
  /** How the summaries were written: by a model, by a model in brief, or by the built-in summariser. */
  summaryLevels: Record<string, number>;
  /** The latest faults found in summaries of models. */
  summaryFaults: { summary: string; time: number; faults: string[] }[];
  files: number;
  /** How many messages have a vector, and of which model. */
  search: SearchCoverage;
  /** Versions of memories, including superseded ones. */
  memories: number;
  lastBackup: { file: string; time: number; bytes: number } | null;
  /** The owner's ids for the agent of the settings, and the newest people who wrote and are not known. */
  people: { owners: Owner[]; unknown: UnknownPerson[] };
}

export interface StatusOptions {
  loaded: LoadedConfig;
  store: Store;
  search: SearchService;
  usage: UsageRecorder;
  owners: OwnerService;
  version: string;
}

export async function readStatus(options: StatusOptions): Promise<Status> {
  const { loaded, store, search, usage, owners, version } = options;
  const { db } = store;
  await usage.flush();
  const totals = await db
    .selectFrom("conversations")
    .select((eb) => [
      eb.fn.countAll<number>().as("conversations"),
      eb.fn.sum<number>("message_count").as("messages"),
      eb.fn.sum<number>("entry_count").as("entries"),
      eb.fn.sum<number>("tokens").as("tokens"),
    ])
    .executeTakeFirstOrThrow();
  const jobs = await db
    .selectFrom("jobs")
    .select((eb) => ["state", eb.fn.countAll<number>().as("count")])
    .groupBy("state")
    .execute();
  const count = async (table: "sessions" | "quarantine" | "import_files" | "summaries" | "files" | "memories") =>
    Number(
      (
        await db
          .selectFrom(table)
          .select((eb) => eb.fn.countAll<number>().as("n"))
          .executeTakeFirst()
      )?.n ?? 0,
    );
  return {
    version,
    home: loaded.home,
    database: maskPassword(loaded.config.database),
    engine: store.engine,
    schemaVersion: await schemaVersion(db, store.engine),
    encryption: store.sealedWith ?? null,
    sessions: await count("sessions"),
    conversations: Number(totals.conversations),
    messages: Number(totals.messages ?? 0),
    entries: Number(totals.entries ?? 0),
    tokens: Number(totals.tokens ?? 0),
    databaseBytes: (await store.size()).bytes,
    jobs: Object.fromEntries(jobs.map((row) => [row.state, Number(row.count)])),
    quarantined: await count("quarantine"),
    importedFiles: await count("import_files"),
    models: await modelStatus(store),
    spend: await readSpend(store),
    inbox: await countInbox(store),
    failedJobs: await failedJobs(store),
    summaries: await count("summaries"),
    summaryLevels: await summaryLevels(store),
    summaryFaults: await summaryFaults(store),
    files: await count("files"),
    search: await search.coverage(),
    memories: await count("memories"),
    lastBackup: listBackups(backupFolder(loaded.home))[0] ?? null,
    people: { owners: await owners.list(), unknown: await owners.listUnknown() },
  };
}

const spendDays = 7;

async function readSpend(store: Store): Promise<Status["spend"]> {
  const since = new Date(store.clock.now() - spendDays * 86_400_000).toISOString().slice(0, 10);
  const rows = await store.db
    .selectFrom("model_days")
    .selectAll()
    .where("day", ">", since)
    .orderBy("day", "desc")
    .orderBy("purpose")
    .orderBy("model")
    .execute();
  return rows.map(({ input_tokens, output_tokens, cacheable_tokens, cached_tokens, ...row }) => ({
    ...row,
    inputTokens: input_tokens,
    outputTokens: output_tokens,
    cacheableTokens: cacheable_tokens,
    cachedTokens: cached_tokens,
  }));
}

export interface ModelStatus extends ModelState {
  /** Its purpose and its name: `summary anthropic/claude-haiku-4-5`. */
  name: string;
  paused: boolean;
}

async function modelStatus(store: Store): Promise<ModelStatus[]> {
  const rows = await store.db.selectFrom("model_states").selectAll().orderBy("name").execute();
  return rows.map((row) => {
    const state = stateFromRow(row);
    return { name: row.name, ...state, paused: isPaused(state, store.clock.now()) };
  });
}

async function summaryLevels(store: Store): Promise<Record<string, number>> {
  const rows = await store.db
    .selectFrom("summaries")
    .select((eb) => ["level", eb.fn.countAll<number>().as("count")])
    .groupBy("level")
    .execute();
  return Object.fromEntries(rows.map((row) => [row.level, Number(row.count)]));
}

const faultsShown = 5;

async function summaryFaults(store: Store): Promise<Status["summaryFaults"]> {
  const rows = await store.db
    .selectFrom("summaries")
    .select(["id", "created_at", "quality"])
    .where("quality", "not like", '%"faults":[]%')
    .orderBy("created_at", "desc")
    .limit(faultsShown)
    .execute();
  return rows.map((row) => {
    const { faults } = JSON.parse(row.quality) as { faults?: string[] };
    return { summary: row.id, time: row.created_at, faults: faults ?? [] };
  });
}

const failedJobsShown = 20;

async function failedJobs(store: Store): Promise<Status["failedJobs"]> {
  const rows = await store.db
    .selectFrom("jobs")
    .select(["kind", "key", "last_error", "attempts", "updated_at"])
    .where("last_error", "is not", null)
    .orderBy("updated_at", "desc")
    .limit(failedJobsShown)
    .execute();
  return rows.map(({ kind, key, last_error, attempts, updated_at }) => ({
    kind,
    key,
    error: last_error ?? "",
    attempts,
    time: updated_at,
  }));
}

function maskPassword(database: string): string {
  return database.replace(/^(postgres(?:ql)?:\/\/[^:@/]*):[^@/]*@/, "$1:***@");
}
