/** The state of the PostgreSQL server for operators: replication, vacuum, limits of time, a pooler in between. */
import { sql } from "kysely";
import type { ServerDescription } from "../port.ts";
import type { Db } from "../schema.ts";
import type { Connections } from "./connections.ts";
import { adviseServer, type TableFacts } from "./server-advice.ts";

export async function describeServer(db: Db, connections: Connections, poolSize: number): Promise<ServerDescription> {
  const facts = {
    settings: await readSettings(db),
    extensions: await readExtensions(db),
    connections: await readConnectionCounts(db),
    standbys: await readStandbys(db),
    idleSlots: await readIdleSlots(db),
    tables: await readTables(db),
    pooler: await detectPooler(connections),
    poolSize,
  };
  const { settings, extensions, connections: counts, standbys, pooler } = facts;
  return {
    version: settings.server_version ?? "",
    extensions,
    connections: counts,
    pooler,
    standbys,
    advice: adviseServer(facts),
  };
}

const settingNames = [
  ...["server_version", "autovacuum", "fsync", "full_page_writes", "synchronous_commit", "synchronous_standby_names"],
  ...[
    "statement_timeout",
    "idle_in_transaction_session_timeout",
    "client_connection_check_interval",
    "max_connections",
  ],
];

async function readSettings(db: Db): Promise<Record<string, string>> {
  const { rows } = await sql<{ name: string; setting: string }>`select name, setting from pg_settings
    where name = any(${settingNames})`.execute(db);
  return Object.fromEntries(rows.map((row) => [row.name, row.setting]));
}

async function readExtensions(db: Db): Promise<Record<string, string>> {
  const { rows } = await sql<{ name: string; version: string }>`select extname::text as name, extversion as version
    from pg_extension where extname in ('vector', 'btree_gin', 'citus') order by extname`.execute(db);
  return Object.fromEntries(rows.map((row) => [row.name, row.version]));
}

async function readConnectionCounts(db: Db): Promise<ServerDescription["connections"]> {
  const { rows } = await sql<{ used: number; max: number }>`select
    (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used,
    current_setting('max_connections')::int as max`.execute(db);
  return rows[0] ?? { used: 0, max: 0 };
}

async function readStandbys(db: Db): Promise<ServerDescription["standbys"]> {
  const { rows } = await sql<{ name: string; state: string | null; sync: string | null; lag: number | null }>`select
    application_name as name, state, sync_state as sync,
    pg_wal_lsn_diff(case when pg_is_in_recovery() then null else pg_current_wal_lsn() end, replay_lsn)::float8 as lag
    from pg_stat_replication order by application_name`.execute(db);
  // A role without pg_monitor sees that there is one, and nothing of its state.
  return rows.map(({ name, state, sync, lag }) => ({
    name,
    state: state ?? "unknown",
    sync: sync ?? "unknown",
    ...(lag === null ? {} : { lagBytes: lag }),
  }));
}

async function readIdleSlots(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select slot_name::text as name from pg_replication_slots
    where not active order by slot_name`.execute(db);
  return rows.map((row) => row.name);
}

async function readTables(db: Db): Promise<TableFacts[]> {
  const { rows } = await sql<TableFacts>`select s.relname::text as name, n_live_tup as "liveRows",
    n_dead_tup as "deadRows", n_ins_since_vacuum as "insertedRows", age(c.relfrozenxid) as age,
    last_analyze is not null or last_autoanalyze is not null as "isAnalyzed"
    from pg_stat_user_tables s join pg_class c on c.oid = s.relid
    where s.schemaname = current_schema() order by s.relname`.execute(db);
  return rows;
}

/**
 * A pooler shows a process of its own at the start of a connection. In transaction mode it gives the server that one
 * idle connection has used last to another one.
 */
async function detectPooler(connections: Connections): Promise<ServerDescription["pooler"]> {
  const clients = [await connections.checkOut()];
  try {
    const readPid = async (index: number) =>
      (await clients[index]?.query<{ pid: number }>("select pg_backend_pid() as pid"))?.rows[0]?.pid;
    const first = await readPid(0);
    if ((clients[0] as unknown as { processID?: number }).processID === first) return "none";
    clients.push(await connections.checkOut());
    return (await readPid(1)) === first ? "transaction" : "session";
  } finally {
    for (const client of clients) client.release();
  }
}
