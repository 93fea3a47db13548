import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Random, VarveError } from "../domain/index.ts";

const tokenBytes = 32;
const wellFormed = /^[A-Za-z0-9_-]{43,}$/;

export function tokenFilePath(home: string): string {
  return join(home, "gateway-token");
}

/** The token of a gateway that only this machine can reach: read when it is there, made when it is not. */
export function readOrMakeToken(file: string, random: Random): string {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const token = Buffer.from(random.bytes(tokenBytes)).toString("base64url");
  try {
    // `wx` refuses a file that is there: of two gateways that start at once, one makes it and the other reads it.
    writeFileSync(file, `${token}\n`, { flag: "wx", mode: 0o600 });
    return token;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    return readToken(file);
  }
}

function readToken(file: string): string {
  const descriptor = openSync(file, "r");
  try {
    const mode = fstatSync(descriptor).mode & 0o777;
    // Windows has no such bits; its files say 666 whatever their access list is.
    if (process.platform !== "win32" && (mode & 0o077) !== 0) {
      throw new VarveError("REFUSED", `Others may read the gateway's token: ${file} has mode ${mode.toString(8)}.`, {
        remedy: `Remove the file, so that a new token is made, or run \`chmod 600 ${file}\` if nobody has seen it.`,
      });
    }
    const token = readFileSync(descriptor, "utf8").trim();
    if (wellFormed.test(token)) return token;
    throw new VarveError("BAD_FILE", `${file} holds no token the gateway could use.`, {
      remedy: "Remove the file; the gateway makes a new one when it starts.",
    });
  } finally {
    closeSync(descriptor);
  }
}
