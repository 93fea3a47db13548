/** A PgBouncer in transaction mode, whose server can be changed as an operator does after a failover. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { provisionPgbouncer } from "./provision-pgbouncer.ts";
import { createOwnedFolder, freePort, serverAccount } from "./scratch-postgres.ts";

export interface ScratchPgbouncer {
  port: number;
  /** Sends connections to another server from now on. */
  moveTo(port: number): void;
  stop(): Promise<void>;
}

const pollMs = 50;

/** `poolSize`: how many connections to the server it has for a database. */
export async function startScratchPgbouncer(serverPort: number, { poolSize = 20 } = {}): Promise<ScratchPgbouncer> {
  const program = provisionPgbouncer();
  const folder = createOwnedFolder();
  const port = await freePort();
  const file = join(folder, "pgbouncer.ini");
  const users = join(folder, "users.txt");
  const write = (server: number) =>
    writeFileSync(
      file,
      `[databases]
* = host=127.0.0.1 port=${server}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 200
server_login_retry = 1
server_connect_timeout = 2
server_fast_close = 1
`,
      { mode: 0o644 },
    );
  writeFileSync(users, '"postgres" ""\n', { mode: 0o644 });
  write(serverPort);
  const child = spawn(program, ["-q", file], { ...serverAccount(), cwd: folder, stdio: "ignore" });
  child.unref();
  while (!(await isListening(port))) {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended with the code ${child.exitCode}.`);
    await sleep(pollMs);
  }
  return {
    port,
    moveTo(server) {
      write(server);
      child.kill("SIGHUP");
    },
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, "exit");
        child.ref();
        child.kill("SIGKILL");
        await ended;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function isListening(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, "127.0.0.1");
  socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
  const isOpen = await promise;
  socket.destroy();
  return isOpen;
}
