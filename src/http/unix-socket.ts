import { chmodSync, linkSync, lstatSync, mkdirSync, renameSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import { connect } from "node:net";
import { dirname, join, resolve } from "node:path";
import { isMainThread } from "node:worker_threads";
import { type Random, VarveError } from "../domain/index.ts";

/** The longest path of a socket that every system accepts, in bytes. */
const pathBytesMax = 103;

/** The path of the socket; undefined when it is switched off or the system has none. */
export function resolveSocketPath(setting: boolean | string, home: string): string | undefined {
  if (setting === false || process.platform === "win32") return undefined;
  return setting === true ? join(home, "gateway.sock") : resolve(home, setting);
}

export interface UnixSocket {
  path: string;
  /** Removes the file, unless another gateway has replaced it since. */
  remove(): void;
}

/**
 * Listens on a Unix socket that only its owner can open. The server is bound under a temporary name and linked to its
 * path when its mode is set, so that a socket at the path is never open to others. A socket that nobody listens on is
 * replaced; a gateway that answers on it keeps it.
 */
export async function listenOnSocket(server: Server, path: string, random: Random): Promise<UnixSocket> {
  const folder = dirname(path);
  const bound = join(folder, `.gw-${Buffer.from(random.bytes(4)).toString("hex")}`);
  if (Math.max(Buffer.byteLength(path), Buffer.byteLength(bound)) > pathBytesMax) {
    throw new VarveError(
      "BAD_CONFIG",
      `The path of the gateway's socket is longer than ${pathBytesMax} bytes: ${path}.`,
      {
        remedy: "Set gateway.socket to a shorter path in a folder that only you can open.",
      },
    );
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  await bind(server, bound).catch((error: unknown) => {
    throw explainSocketError(error, path);
  });
  try {
    chmodSync(bound, 0o600);
    await takePath(bound, path);
    const { ino } = lstatSync(path);
    return {
      path,
      remove: () => {
        if (lstatSync(path, { throwIfNoEntry: false })?.ino === ino) rmSync(path, { force: true });
      },
    };
  } catch (error) {
    server.close();
    throw explainSocketError(error, path);
  } finally {
    rmSync(bound, { force: true });
  }
}

function bind(server: Server, path: string): Promise<void> {
  return new Promise((done, reject) => {
    server.once("error", reject);
    // The file is created inside `listen`, with the mode that the mask leaves. Threads cannot change the mask.
    const mask = isMainThread ? process.umask(0o177) : undefined;
    try {
      server.listen({ path }, () => {
        server.off("error", reject);
        done();
      });
    } finally {
      if (mask !== undefined) process.umask(mask);
    }
  });
}

async function takePath(bound: string, path: string): Promise<void> {
  try {
    linkSync(bound, path);
    return;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found && !found.isSocket()) {
    throw new VarveError("BAD_CONFIG", `${path} is not a socket, so the gateway does not replace it.`, {
      remedy: "Set gateway.socket to another path, or move the file.",
    });
  }
  if (await isAnswered(path)) {
    throw new VarveError("PORT_IN_USE", `Another gateway listens on the socket ${path}.`, {
      remedy: "Stop that gateway, set gateway.socket to another path, or to false.",
    });
  }
  renameSync(bound, path);
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect({ path });
    socket.once("connect", () => {
      socket.destroy();
      done(true);
    });
    // Refused: nobody listens any more. Missing: it was removed just now. Anything else may be a living gateway.
    socket.once("error", (error: NodeJS.ErrnoException) =>
      done(error.code !== "ECONNREFUSED" && error.code !== "ENOENT"),
    );
  });
}

/** Some file systems have no sockets or no links. */
function explainSocketError(error: unknown, path: string): unknown {
  if (error instanceof VarveError || !(error instanceof Error && "syscall" in error)) return error;
  return new VarveError("BAD_CONFIG", `The gateway cannot listen on the socket ${path}: ${error.message}.`, {
    remedy: "Set gateway.socket to a path on a local disk, in a folder that you may write to, or to false.",
    cause: error,
  });
}
