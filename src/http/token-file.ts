import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Random, VarveError } from "../domain/index.ts";

const tokenBytes = 32;
const wellFormed = /^[A-Za-z0-9_-]{43,}$/;

export function tokenFilePath(home: string): string {
  return join(home, "gateway-token");
}

/** Reads the access token of a gateway that only this machine can reach; creates it when the file is missing. */
export function readOrCreateToken(file: string, random: Random): string {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const token = Buffer.from(random.bytes(tokenBytes)).toString("base64url");
  try {
    // `wx` fails if the file exists: of two gateways that start at once, one creates it and the other reads it.
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
    // Windows reports mode 666 for every file.
    if (process.platform !== "win32" && (mode & 0o077) !== 0) {
      throw new VarveError(
        "REFUSED",
        `Other users can read the gateway's access token: ${file} has mode ${mode.toString(8)}.`,
        {
          remedy: `Remove the file, so that a new token is created, or run \`chmod 600 ${file}\` if nobody has read it.`,
        },
      );
    }
    const token = readFileSync(descriptor, "utf8").trim();
    if (wellFormed.test(token)) return token;
    throw new VarveError("BAD_FILE", `${file} does not contain a valid token.`, {
      remedy: "Remove the file; the gateway creates a new one when it starts.",
    });
  } finally {
    closeSync(descriptor);
  }
}
