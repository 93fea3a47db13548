import type { ServerDescription } from "../port.ts";

/** The state of a table for the advice on vacuum. */
export interface TableFacts {
  name: string;
  liveRows: number;
  deadRows: number;
  /** Rows since the last vacuum; of `entry_text` and `memory_text` their words wait to be merged into the index. */
  insertedRows: number;
  isAnalyzed: boolean;
  /** How many transactions ago its oldest row was written; PostgreSQL stops writing at two billions. */
  age: number;
}

export interface ServerFacts extends Pick<ServerDescription, "extensions" | "connections" | "standbys" | "pooler"> {
  settings: Record<string, string>;
  idleSlots: readonly string[];
  tables: readonly TableFacts[];
  poolSize: number;
}

const deadRowsMin = 10_000;
const deadShareMax = 0.2;
const unanalyzedRowsMin = 10_000;
/** Autovacuum merges the words of the index after 20,000 rows. */
const unmergedRowsMax = 60_000;
const ageMax = 1_000_000_000;
const wordTables = ["entry_text", "memory_text"];

/** Recommended changes of the server, most important first; empty when there are none. */
export function adviseServer(facts: ServerFacts): string[] {
  return [
    ...adviseDurability(facts),
    ...adviseVacuum(facts),
    ...adviseConnections(facts),
    ...(facts.extensions.btree_gin === undefined
      ? ["btree_gin is not installed, so words of all tenants share one list: run `create extension btree_gin`"]
      : []),
  ];
}

function adviseDurability({ settings, standbys, idleSlots }: ServerFacts): string[] {
  const isOff = (name: string) => settings[name] === "off";
  const isSynchronous = standbys.some(({ sync }) => sync === "sync" || sync === "quorum");
  const isUnknown = standbys.some(({ sync }) => sync === "unknown");
  const advice: string[] = [];
  for (const name of ["fsync", "full_page_writes"]) {
    if (isOff(name)) advice.push(`${name} is off: a power failure can destroy the database; turn it on`);
  }
  if (["off", "local"].includes(settings.synchronous_commit ?? "")) {
    advice.push(
      `synchronous_commit is ${settings.synchronous_commit}: messages that were acknowledged can be lost; set it to on`,
    );
  }
  if (isUnknown) {
    advice.push("the state of the standbys cannot be read by this role: run `grant pg_monitor to` it");
  } else if (standbys.length === 0) {
    advice.push("no standby is connected: the database is as available as this one server");
  } else if (!isSynchronous) {
    advice.push(
      "no standby is synchronous: a failover can lose the last acknowledged messages; set synchronous_standby_names",
    );
  }
  if (idleSlots.length > 0) {
    advice.push(
      `the replication slots ${idleSlots.join(", ")} are not in use and keep the log of changes growing: drop them, or start their standbys`,
    );
  }
  return advice;
}

function adviseVacuum({ settings, tables }: ServerFacts): string[] {
  const name = (chosen: readonly TableFacts[]) => chosen.map((table) => table.name).join(", ");
  const dead = tables.filter(
    ({ liveRows, deadRows }) => deadRows > deadRowsMin && deadRows > deadShareMax * (liveRows + deadRows),
  );
  const unmerged = tables.filter((table) => wordTables.includes(table.name) && table.insertedRows > unmergedRowsMax);
  const unanalyzed = tables.filter((table) => !table.isAnalyzed && table.liveRows > unanalyzedRowsMin);
  const old = tables.filter((table) => table.age > ageMax);
  return [
    ...(settings.autovacuum === "off" ? ["autovacuum is off: tables and indexes grow without end; turn it on"] : []),
    ...(old.length === 0 ? [] : [`${name(old)} must be vacuumed before PostgreSQL stops writing: run \`vacuum\``]),
    ...(dead.length === 0
      ? []
      : [`${name(dead)} have many dead rows: run \`vacuum\`, or lower autovacuum_vacuum_scale_factor for them`]),
    ...(unmerged.length === 0
      ? []
      : [`new words of ${name(unmerged)} wait to be merged into the index, which slows searches: run \`vacuum\``]),
    ...(unanalyzed.length === 0 ? [] : [`${name(unanalyzed)} have no statistics: run \`analyze\``]),
  ];
}

function adviseConnections({ settings, connections, pooler, poolSize }: ServerFacts): string[] {
  const isUnlimited = (name: string) => settings[name] === "0";
  const free = connections.max - connections.used;
  return [
    ...(free < poolSize
      ? [
          `${connections.used} of ${connections.max} connections are in use, and one more gateway takes up to ${poolSize} (store.poolSize): raise max_connections, or put a pooler in between`,
        ]
      : []),
    ...(isUnlimited("idle_in_transaction_session_timeout")
      ? [
          "idle_in_transaction_session_timeout is 0: a client that hangs keeps its locks; set it to 60s for the role of the gateway",
        ]
      : []),
    ...(isUnlimited("client_connection_check_interval")
      ? ["client_connection_check_interval is 0: a statement goes on after its gateway is gone; set it to 10s"]
      : []),
    ...(pooler === "none"
      ? []
      : [
          `a pooler in ${pooler} mode is in between: give it limits of its own for servers that do not answer (docs/scale.md), and use statements with names only if it supports them`,
        ]),
  ];
}
