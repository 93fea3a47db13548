/** Databases of a test's own: every test file gets fresh ones, so that files can run in parallel. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { listRoleGrants } from "../../src/store/postgres/row-security.ts";

export type DatabaseKind = "sqlite" | "postgres";

export interface ScratchDatabase {
  name: DatabaseKind;
  /** What the setting `database` takes: a path or a `postgres://` URL. */
  database: string;
  /** Removes it with everything in it, even while clients are connected. */
  drop(): Promise<void>;
}

/** The kinds this run can test. PostgreSQL is absent only when `VARVE_TEST_SKIP=postgres` asked for it. */
export const databaseKinds: readonly DatabaseKind[] =
  process.env.VARVE_TEST_POSTGRES_URL === undefined ? ["sqlite"] : ["sqlite", "postgres"];

/** One fresh database of each kind. */
export async function scratchDatabases(): Promise<ScratchDatabase[]> {
  return Promise.all(databaseKinds.map(scratchDatabase));
}

export async function scratchDatabase(kind: DatabaseKind): Promise<ScratchDatabase> {
  return kind === "sqlite" ? scratchSqlite() : scratchPostgresDatabase();
}

async function scratchSqlite(): Promise<ScratchDatabase> {
  const folder = await mkdtemp(join(tmpdir(), "varve-sqlite-"));
  return {
    name: "sqlite",
    database: join(folder, "varve.db"),
    drop: () => rm(folder, { recursive: true, force: true }),
  };
}

async function scratchPostgresDatabase(): Promise<ScratchDatabase> {
  const server = process.env.VARVE_TEST_POSTGRES_URL;
  if (server === undefined) {
    throw new Error("VARVE_TEST_POSTGRES_URL is not set: PostgreSQL was left out of this run by VARVE_TEST_SKIP.");
  }
  const database = `varve_test_${randomBytes(6).toString("hex")}`;
  await administer(server, `create database ${database}`);
  const url = new URL(server);
  url.pathname = `/${database}`;
  // A busy machine may take long to accept a connection.
  url.searchParams.set("connect_timeout", "0");
  if (process.env.VARVE_TEST_POSTGRES_ROLE === "bound") await bindToPolicies(url);
  return {
    name: "postgres",
    database: url.href,
    drop: () => administer(server, `drop database if exists ${database} with (force)`),
  };
}

/** Creates the tables as their owner, and lets the URL name a role that row-level security binds. */
export async function bindToPolicies(url: URL): Promise<void> {
  const { openVarve } = await import("../../src/index.ts");
  const home = await mkdtemp(join(tmpdir(), "varve-home-"));
  const owner = await openVarve({ home, database: url.href, background: false });
  await owner.close();
  await rm(home, { recursive: true, force: true });
  const role = `varve_bound_${randomBytes(4).toString("hex")}`;
  for (const statement of [`create role ${role} login`, ...listRoleGrants(role)]) await administer(url.href, statement);
  url.username = role;
}

async function administer(server: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
