import assert from "node:assert/strict";
import { copyFileSync, existsSync, readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { sql } from "kysely";
import { Client } from "pg";
import { systemClock, systemRandom, VarveError } from "../../../src/domain/index.ts";
import { openVarve } from "../../../src/index.ts";
import { type Db, type Migration, migrations, openStore, type Store, type StoreTap } from "../../../src/store/index.ts";
import { batchOf } from "../messages.ts";
import type { Operation, Place, Seen, Verifier } from "../operation.ts";

const address = { key: "agent:main:crash:direct:migration" };
const fillMax = 400;

/** A schema change that takes a while: a column, and a table with a row for every entry. */
const notes: Migration = {
  version: (migrations.at(-1)?.version ?? 0) + 1,
  name: "notes of the crash test",
  async up(db) {
    await sql`alter table sessions add column crash_note text`.execute(db);
    await sql`create table crash_notes (seq bigint not null primary key, note text not null)`.execute(db);
    const rows = await db.selectFrom("entries").select("seq").orderBy("seq").execute();
    for (let from = 0; from < rows.length; from += 20) {
      const [first, last] = [rows[from]?.seq ?? 0, rows[Math.min(from + 19, rows.length - 1)]?.seq ?? 0];
      await sql`insert into crash_notes select seq, kind || ' ' || id from entries
        where seq between ${first} and ${last}`.execute(db);
    }
    await sql`update sessions set crash_note = 'seen'`.execute(db);
  },
};
const before = notes.version - 1;

/** Brings copies of a filled database to the next schema version. */
export const migration: Operation = {
  name: "migration",
  stepsMax: 3,
  async prepare(place) {
    const varve = await openVarve({ home: place.home, database: place.database });
    const session = await varve.sessions.resolve(address);
    for (let index = 0; index < 4; index += 1) {
      await varve.context.ingest(session, batchOf(place.seed, `fill-${index}`, fillMax));
    }
    await varve.close();
  },
  async run({ place, child, tap, step }) {
    for (let index = 0; ; index += 1) {
      const database = await copyOf(place, `${child}_${index}`);
      const store = await step({ database }, () => openNext(database, backupsOf(place, database), tap));
      await store.close();
    }
  },
  verifier: (place) => migrationVerifier(place),
};

function openNext(database: string, backupFolder?: string, tap?: StoreTap): Promise<Store> {
  return openAs(database, [...migrations, notes], backupFolder, tap);
}

function openAs(database: string, known: readonly Migration[], backupFolder?: string, tap?: StoreTap): Promise<Store> {
  return openStore({ database, clock: systemClock, random: systemRandom, backupFolder, readers: 1, tap }, known);
}

function backupsOf(place: Place, database: string): string {
  return join(place.folder, `backups-of-${basename(database)}`);
}

async function copyOf(place: Place, name: string): Promise<string> {
  if (place.kind === "sqlite") {
    const file = join(place.folder, `migrated_${name}.db`);
    copyFileSync(place.database, file);
    return file;
  }
  const url = new URL(place.database);
  const template = url.pathname.slice(1);
  url.pathname = `/${template}_${name}`;
  await administer(place, `create database ${template}_${name} template ${template}`);
  return url.href;
}

async function administer(place: Place, statement: string): Promise<void> {
  const server = new URL(place.database);
  server.pathname = "/postgres";
  const client = new Client({ connectionString: server.href });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

async function drop(place: Place, database: string): Promise<void> {
  if (place.kind === "postgres") {
    const name = new URL(database).pathname.slice(1);
    await administer(place, `drop database if exists ${name} with (force)`);
  } else for (const suffix of ["", "-wal", "-shm"]) rmSync(database + suffix, { force: true });
  rmSync(backupsOf(place, database), { recursive: true, force: true });
}

function migrationVerifier(place: Place): Verifier {
  let original: string | undefined;
  return {
    async check(_varve, run) {
      const seen: Seen = { acknowledged: 0, whole: 0, absent: 0 };
      original ??= await contentOf(place.database, migrations);
      // Reading one whole takes long: it is the one that was cut off, or else the last.
      const [chosen] = [...run.pending, ...run.done.slice(-1)];
      for (const step of [...run.done.slice(-1), ...run.pending]) {
        const database = `${step.database}`;
        const migrated = await isMigrated(database);
        if (run.done.includes(step)) assert.ok(migrated, `${database} was acknowledged as migrated`);
        else seen[migrated ? "whole" : "absent"] += 1;
        if (step !== chosen) continue;
        if (!migrated) {
          assert.equal(await contentOf(database, migrations), original, `the data of ${database}`);
          await (await openNext(database, backupsOf(place, database))).close();
        }
        assert.equal(await contentOf(database, [...migrations, notes]), original, `the data of ${database}, migrated`);
        assert.ok(wholeBackups(place, database) >= 1, `the backup of ${database}`);
      }
      for (const step of [...run.done, ...run.pending]) await drop(place, `${step.database}`);
      return seen;
    },
  };
}

/** The old program refuses what is newer; anything between the two versions fails. */
async function isMigrated(database: string): Promise<boolean> {
  try {
    await (await openAs(database, migrations)).close();
    return false;
  } catch (error) {
    if (error instanceof VarveError && error.code === "SCHEMA_NEWER") return true;
    throw error;
  }
}

/** Everything that must survive, as one text; with the new schema also that its change is complete. */
async function contentOf(database: string, known: readonly Migration[]): Promise<string> {
  const store = await openAs(database, known);
  try {
    const entries = await store.db.selectFrom("entries").selectAll().orderBy("seq").execute();
    assert.deepEqual(await store.checkIntegrity(), [], database);
    assert.equal(await changeIn(store.db, store.engine), known === migrations ? null : entries.length);
    return JSON.stringify(entries);
  } finally {
    await store.close();
  }
}

/** How many rows the change has written; null when there is no trace of it. */
async function changeIn(db: Db, engine: "sqlite" | "postgres"): Promise<number | null> {
  const table =
    engine === "sqlite"
      ? await sql`select 1 from sqlite_master where name = 'crash_notes'`.execute(db)
      : await sql`select 1 from information_schema.tables where table_name = 'crash_notes'`.execute(db);
  if (table.rows.length === 0) return null;
  const counted = await sql<{ n: number }>`select count(*) as n from crash_notes`.execute(db);
  return Number(counted.rows[0]?.n);
}

function wholeBackups(place: Place, database: string): number {
  const folder = backupsOf(place, database);
  if (!existsSync(folder)) return 0;
  return readdirSync(folder).filter((name) => name.startsWith(`before-schema-${before}-`) && !name.endsWith(".partial"))
    .length;
}
