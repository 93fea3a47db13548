/** A PostgreSQL server of one test run: made in a temporary folder, gone with the process that started it. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { provisionPostgres } from "./provision-postgres.ts";

const startTimeoutMs = 20_000;
const startAttemptsMax = 3;

export interface ScratchPostgres {
  /** Names the server's `postgres` database as its superuser. */
  url: string;
  stop(): Promise<void>;
}

/** PostgreSQL refuses to run as root, so root starts it as the user that Debian's package made. */
interface Account {
  uid?: number;
  gid?: number;
}

export interface ScratchServer extends ScratchPostgres {
  port: number;
  /** The folder with the data of the server. */
  data: string;
  binFolder: string;
}

/** A new server, or with `copyOf` a standby of another one. */
export async function startScratchPostgres({ copyOf }: { copyOf?: ScratchServer } = {}): Promise<ScratchServer> {
  const { binFolder } = provisionPostgres();
  for (let attempt = 1; ; attempt += 1) {
    const folder = createOwnedFolder();
    try {
      return await startIn(folder, binFolder, copyOf);
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      // Between finding a free port and listening on it, somebody else may take it.
      if (attempt === startAttemptsMax) throw error;
    }
  }
}

/** A temporary folder of the account that the server runs as. */
export function createOwnedFolder(): string {
  const account = serverAccount();
  const folder = mkdtempSync(join(tmpdir(), "varve-postgres-"));
  chmodSync(folder, 0o700);
  if (account.uid !== undefined && account.gid !== undefined) chownSync(folder, account.uid, account.gid);
  return folder;
}

async function startIn(folder: string, binFolder: string, copyOf: ScratchServer | undefined): Promise<ScratchServer> {
  const data = join(folder, "data");
  const options = { ...serverAccount(), cwd: folder, env: { PATH: process.env.PATH, HOME: folder } };
  const [program, args] =
    copyOf === undefined
      ? ["initdb", ["-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "--auth=trust", "--no-sync"]]
      : ["pg_basebackup", ["-d", copyOf.url, "--write-recovery-conf", "--checkpoint=fast", "--no-sync"]];
  execFileSync(join(binFolder, program), ["-D", data, ...args], {
    ...options,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const port = await freePort();
  const settings = [
    `port=${port}`,
    "listen_addresses=127.0.0.1",
    `unix_socket_directories=${folder}`,
    "max_connections=200",
  ].flatMap((setting) => ["-c", setting]);
  // The shell waits for its input to end, which happens when this process stops it and also when this process is
  // gone for whatever reason, `SIGKILL` included. Then it takes the server and its folder away.
  const guard = `folder=$1; shift
    "$@" >"$folder/log" 2>&1 &
    read -r _; kill -QUIT $!; wait $!; cd /; rm -rf "$folder"`;
  const child = spawn("/bin/sh", ["-c", guard, "sh", folder, join(binFolder, "postgres"), "-D", data, ...settings], {
    ...options,
    // A session of its own: Ctrl-C in the terminal must reach the tests, not the server under them.
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.unref();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const stop = () => stopServer(child);
  try {
    await waitUntilReady(url);
  } catch (error) {
    const log = readFileSync(join(folder, "log"), "utf8").trim();
    await stop();
    throw new Error(`The scratch PostgreSQL server did not start. Its log says:\n${log}`, { cause: error });
  }
  return { url, port, data, binFolder, stop };
}

async function stopServer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.ref();
  child.stdin?.end();
  await ended;
}

async function waitUntilReady(url: string): Promise<void> {
  const deadline = Date.now() + startTimeoutMs;
  for (;;) {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(50);
    }
  }
}

export function serverAccount(): Account {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("The system gave no free port.");
  return address.port;
}
