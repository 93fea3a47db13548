import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { schemaVersion } from "../store/index.ts";
import type { EngineHost } from "./host.ts";
import type { Search, SearchCoverage } from "./search.ts";

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
  /** How many of the messages have a vector, by which model. */
  search: SearchCoverage;
  lastBackup: { file: string; time: number; bytes: number } | null;
}

export async function statusOf(host: EngineHost, version: string, search: Search): Promise<Status> {
  const { store, loaded } = host;
  const { db } = store;
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
  const count = async (table: "sessions" | "quarantine" | "import_files") =>
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
    search: await search.coverage(),
    lastBackup: lastBackup(backupFolder(loaded.home)),
  };
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
