/** A primary with a synchronous standby, which the drills kill, freeze and promote. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { type ScratchServer, startScratchPostgres } from "./scratch-postgres.ts";

export interface PostgresCluster {
  primary: ScratchServer;
  standby: ScratchServer;
  /** The address of both servers, for a database. */
  address(database: string): string;
  /** Ends the primary at once, without a goodbye to its clients. */
  killPrimary(): void;
  /** Stops the processes of the primary: it accepts connections by the system, and answers nothing. */
  freezePrimary(): void;
  /** Ends the standby at once; the primary no longer waits for it. */
  killStandby(): Promise<void>;
  /** Makes the standby the primary, and waits until it can be written to. */
  promoteStandby(): Promise<void>;
  stop(): Promise<void>;
}

const pollMs = 50;

export async function startPostgresCluster(database: string): Promise<PostgresCluster> {
  const primary = await startScratchPostgres();
  await run(primary.url, `create database ${database}`);
  const standby = await startScratchPostgres({ copyOf: primary });
  // After the copy, so that the standby waits for no other one when it is promoted.
  await run(primary.url, "alter system set synchronous_standby_names = '*'");
  await run(primary.url, "select pg_reload_conf()");
  const isSynchronous = "select 1 from pg_stat_replication where sync_state = 'sync'";
  while ((await run(primary.url, isSynchronous)).rowCount === 0) await sleep(pollMs);
  return {
    primary,
    standby,
    address: (name) =>
      `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/${name}?target_session_attrs=read-write`,
    killPrimary: () => signal(primary, "SIGKILL"),
    freezePrimary: () => signal(primary, "SIGSTOP"),
    async killStandby() {
      await run(primary.url, "alter system reset synchronous_standby_names");
      await run(primary.url, "select pg_reload_conf()");
      signal(standby, "SIGKILL");
    },
    async promoteStandby() {
      await run(standby.url, "select pg_promote(false)");
      const isStandby = "select pg_is_in_recovery() as standby";
      while ((await run(standby.url, isStandby)).rows[0]?.standby === true) await sleep(pollMs);
    },
    async stop() {
      // A frozen server would not hear that it is asked to end.
      signal(primary, "SIGKILL");
      await Promise.all([primary.stop(), standby.stop()]);
    },
  };
}

/** Signals the server and its processes, the server first so that it starts no more. */
function signal({ data }: ScratchServer, name: "SIGKILL" | "SIGSTOP"): void {
  const postmaster = Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n", 1)[0]);
  const children = listChildren(postmaster);
  for (const pid of [postmaster, ...children]) {
    try {
      process.kill(pid, name);
    } catch (error) {
      // It has ended meanwhile.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}

function listChildren(parent: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        // The name of the program is in brackets and may contain anything.
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === parent;
      } catch {
        // It has ended meanwhile.
        return false;
      }
    });
}

async function run(url: string, statement: string) {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query<{ standby?: boolean }>(statement);
  } finally {
    await client.end();
  }
}
