import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { isPaused, type ModelState } from "../models/index.ts";
import { schemaVersion } from "../store/index.ts";
import { countInbox } from "../turn/index.ts";
import type { EngineHost } from "./host.ts";
import { stateOf } from "./models.ts";
import type { Search } from "./search.ts";
import type { SearchCoverage } from "./search-coverage.ts";

export interface Status {
  version: string;
  home: string;
  database: string;
  engine: "sqlite" | "postgres";
  schemaVersion: number;
  sessions: number;
  conversations: number;
  messages: number;
  entries: number;
  tokens: number;
  databaseBytes: number;
  jobs: Record<string, number>;
  quarantined: number;
  importedFiles: number;
  /** Every model that was called, and what became of it. */
  models: ModelStatus[];
  /** What models read and wrote in the last days, the newest first. */
  spend: { day: string; purpose: string; model: string; calls: number; inputTokens: number; outputTokens: number }[];
  /** Messages that were accepted: waiting, running, done. */
  inbox: Record<string, number>;
  /** Jobs that were given up, the last ones first. */
  failedJobs: { kind: string; key: string; error: string; attempts: number; time: number }[];
  summaries: number;
  /** How the summaries were written: by a model at first go, in brief, or by what is built in. */
  summaryLevels: Record<string, number>;
  /** What was wrong with what models answered, the last of it. */
  summaryFaults: { summary: string; time: number; faults: string[] }[];
  files: number;
  /** How many of the messages have a vector, by which model. */
  search: SearchCoverage;
  /** Versions of memories, those that are history included. */
  memories: number;
  lastBackup: { file: string; time: number; bytes: number } | null;
}

export async function statusOf(host: EngineHost, version: string, search: Search): Promise<Status> {
  const { store, loaded } = host;
  const { db } = store;
  await host.modelNotes.flush();
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
    database: publicDatabase(loaded.config.database),
    engine: store.engine,
    schemaVersion: await schemaVersion(db, store.engine),
    sessions: await count("sessions"),
    conversations: Number(totals.conversations),
    messages: Number(totals.messages ?? 0),
    entries: Number(totals.entries ?? 0),
    tokens: Number(totals.tokens ?? 0),
    databaseBytes: (await store.size()).bytes,
    jobs: Object.fromEntries(jobs.map((row) => [row.state, Number(row.count)])),
    quarantined: await count("quarantine"),
    importedFiles: await count("import_files"),
    models: await modelStatus(host),
    spend: await spendOf(host),
    inbox: await countInbox(host),
    failedJobs: await failedJobs(host),
    summaries: await count("summaries"),
    summaryLevels: await summaryLevels(host),
    summaryFaults: await summaryFaults(host),
    files: await count("files"),
    search: await search.coverage(),
    memories: await count("memories"),
    lastBackup: lastBackup(backupFolder(loaded.home)),
  };
}

const spendDays = 7;

async function spendOf({ store, clock }: EngineHost): Promise<Status["spend"]> {
  const since = new Date(clock.now() - spendDays * 86_400_000).toISOString().slice(0, 10);
  const rows = await store.db
    .selectFrom("model_days")
    .selectAll()
    .where("day", ">", since)
    .orderBy("day", "desc")
    .orderBy("purpose")
    .orderBy("model")
    .execute();
  return rows.map(({ input_tokens, output_tokens, ...row }) => ({
    ...row,
    inputTokens: input_tokens,
    outputTokens: output_tokens,
  }));
}

export interface ModelStatus extends ModelState {
  /** What it is called for, and which one it is: `summary anthropic/claude-haiku-4-5`. */
  name: string;
  paused: boolean;
}

async function modelStatus({ store, clock }: EngineHost): Promise<ModelStatus[]> {
  const rows = await store.db.selectFrom("model_states").selectAll().orderBy("name").execute();
  return rows.map((row) => {
    const state = stateOf(row);
    return { name: row.name, ...state, paused: isPaused(state, clock.now()) };
  });
}

async function summaryLevels({ store }: EngineHost): Promise<Record<string, number>> {
  const rows = await store.db
    .selectFrom("summaries")
    .select((eb) => ["level", eb.fn.countAll<number>().as("count")])
    .groupBy("level")
    .execute();
  return Object.fromEntries(rows.map((row) => [row.level, Number(row.count)]));
}

const faultsShown = 5;

async function summaryFaults({ store }: EngineHost): Promise<Status["summaryFaults"]> {
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

async function failedJobs({ store }: EngineHost): Promise<Status["failedJobs"]> {
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

export function backupFolder(home: string): string {
  return join(home, "backups");
}

export function publicDatabase(database: string): string {
  return database.replace(/^(postgres(?:ql)?:\/\/[^:@/]*):[^@/]*@/, "$1:***@");
}

function lastBackup(folder: string): Status["lastBackup"] {
  if (!existsSync(folder)) return null;
  const files = readdirSync(folder)
    .filter((name) => /\.(?:db|jsonl\.gz)$/.test(name))
    .map((name) => ({ file: join(folder, name), stat: statSync(join(folder, name)) }))
    .sort((a, b) => b.stat.mtimeMs - a.stat.mtimeMs);
  const [newest] = files;
  return newest ? { file: newest.file, time: Math.trunc(newest.stat.mtimeMs), bytes: newest.stat.size } : null;
}
