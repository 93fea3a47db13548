/** Databases of a test's own: every test file gets fresh ones, so that files can run in parallel. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import type { Varve } from "../../src/index.ts";
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

/** The kinds with row-level security: a cluster of Citus has none on the tables that are distributed. */
export const protectedKinds: readonly DatabaseKind[] = databaseKinds.filter(
  (kind) => kind === "postgres" && !process.env.VARVE_TEST_CITUS_WORKERS,
);

/** The kinds whose fresh database is empty: those of a bound role and of a cluster have the newest schema already. */
export const emptyKinds: readonly DatabaseKind[] = databaseKinds.filter(
  (kind) => kind === "sqlite" || !(process.env.VARVE_TEST_POSTGRES_ROLE || process.env.VARVE_TEST_CITUS_WORKERS),
);

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
  const workers = (process.env.VARVE_TEST_CITUS_WORKERS ?? "").split(",").filter(Boolean);
  if (workers.length > 0) await distribute(url, workers);
  return {
    name: "postgres",
    database: url.href,
    async drop() {
      await administer(server, `drop database if exists ${database} with (force)`);
      for (const worker of workers) {
        await administer(addressOf(worker, url, "postgres"), `drop database if exists ${database} with (force)`);
      }
    },
  };
}

/** The same database on every worker, joined to a cluster, with the tables distributed. */
async function distribute(url: URL, workers: readonly string[]): Promise<void> {
  const name = url.pathname.slice(1);
  for (const worker of workers) {
    await administer(addressOf(worker, url, "postgres"), `create database ${name}`);
    await administer(addressOf(worker, url, name), "create extension citus");
  }
  await administer(
    url.href,
    "create extension citus",
    `select citus_set_coordinator_host('${url.hostname}', ${url.port})`,
  );
  for (const worker of workers) {
    const [host, port] = worker.split(":");
    await administer(url.href, `select citus_add_node('${host}', ${port})`);
  }
  await openAsOwner(url, (varve) => varve.distributeDatabase());
}

function addressOf(worker: string, { username }: URL, database: string): string {
  return `postgres://${username}@${worker}/${database}`;
}

/** Creates the tables as their owner, and lets the URL name a role that row-level security binds. */
export async function bindToPolicies(url: URL): Promise<void> {
  await openAsOwner(url, async () => undefined);
  const role = `varve_bound_${randomBytes(4).toString("hex")}`;
  for (const statement of [`create role ${role} login`, ...listRoleGrants(role)]) await administer(url.href, statement);
  url.username = role;
}

async function openAsOwner(url: URL, work: (varve: Varve) => Promise<unknown>): Promise<void> {
  const { openVarve } = await import("../../src/index.ts");
  const home = await mkdtemp(join(tmpdir(), "varve-home-"));
  const owner = await openVarve({ home, database: url.href, background: false });
  try {
    await work(owner);
  } finally {
    await owner.close();
    await rm(home, { recursive: true, force: true });
  }
}

async function administer(server: string, ...statements: string[]): Promise<void> {
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
