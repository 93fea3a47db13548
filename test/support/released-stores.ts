/** Databases as a released version left them, for tests of what a later version makes of them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, systemRandom } from "../../src/domain/index.ts";
import { type OpenOptions, openVarve, type Varve } from "../../src/index.ts";
import { alignCounters, readLines } from "../../src/store/dump.ts";
import { migrations, openStore } from "../../src/store/index.ts";
import { type DatabaseKind, scratchDatabase } from "./databases.ts";

const folder = join(import.meta.dirname, "released");
process.env.VARVE_TEST_RELEASED_KEY = Buffer.alloc(32, 7).toString("base64");

export type ReleasedName = "one" | "several" | "sealed";

export interface ReleasedStore {
  database: string;
  home: string;
  /** The dump that it was made from. */
  dump: string;
  open(options?: OpenOptions): Promise<Varve>;
  close(): Promise<void>;
}

/** A database with the schema and the rows of a released version, not yet opened by this one. */
export async function createReleasedStore(kind: DatabaseKind, name: ReleasedName): Promise<ReleasedStore> {
  const scratch = await scratchDatabase(kind);
  const home = mkdtempSync(join(tmpdir(), "varve-released-"));
  const dump = join(folder, `${name}.jsonl.gz`);
  await fillDatabase(scratch.database, dump);
  const opened: Varve[] = [];
  const key = name === "sealed" ? { encryption: { key: "env:VARVE_TEST_RELEASED_KEY" } } : {};
  return {
    database: scratch.database,
    home,
    dump,
    async open(options = {}) {
      const config = { search: { embedder: "none" as const }, turn: { runner: "offline" as const }, ...key };
      const varve = await openVarve({
        ...{ home, database: scratch.database, background: false },
        ...options,
        config: { ...config, ...options.config },
      });
      opened.push(varve);
      return varve;
    },
    async close() {
      for (const varve of opened) await varve.close();
      await scratch.drop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

async function fillDatabase(database: string, dump: string): Promise<void> {
  let version = 0;
  const rows: { table: string; row: Record<string, unknown> }[] = [];
  let table = "";
  for await (const line of readLines(dump)) {
    const value = JSON.parse(line) as Record<string, unknown>;
    if (value.varveDump !== undefined) version = Number(value.schemaVersion);
    else if (typeof value.table === "string" && Object.keys(value).length === 1) table = value.table;
    else if (value.end !== true) rows.push({ table, row: value });
  }
  const known = migrations.filter((migration) => migration.version <= version);
  const store = await openStore({ database, clock: systemClock, random: systemRandom }, known);
  await store.transaction(async ({ db }) => {
    for (const { table: name, row } of rows)
      await db
        .insertInto(name as "meta")
        .values(row as never)
        .execute();
    await alignCounters(db, store.engine);
  });
  await store.close();
}
