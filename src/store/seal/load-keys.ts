import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { VarveError } from "../../domain/index.ts";
import { deriveKey, type SealingKey } from "./sealer.ts";

export interface KeySources {
  key?: string;
  previousKeys: readonly string[];
}

const keyBytes = 32;
const commandTimeoutMs = 30_000;

/** Loads the keys of the settings, the current one first; undefined when none is configured. */
export function loadKeys(
  { key, previousKeys }: KeySources,
  { home, env }: { home: string; env: Readonly<Record<string, string | undefined>> },
): [SealingKey, ...SealingKey[]] | undefined {
  if (key === undefined) return undefined;
  const load = (source: string) => deriveKey(decodeKey(source, readSource(source, home, env)));
  return [load(key), ...previousKeys.map(load)];
}

function readSource(source: string, home: string, env: Readonly<Record<string, string | undefined>>): string {
  const [, kind = "", rest = ""] = /^(env|file|command):([\s\S]*)$/.exec(source) ?? [];
  if (kind === "env") {
    const value = env[rest];
    if (value) return value;
    throw createKeyError(`The variable ${rest}, which holds the encryption key, is empty or not set.`);
  }
  return kind === "file" ? readKeyFile(resolve(home, rest)) : runKeyCommand(rest);
}

function readKeyFile(file: string): string {
  try {
    const mode = statSync(file).mode & 0o777;
    if (process.platform !== "win32" && (mode & 0o077) !== 0) {
      throw createKeyError(`Other users can read the encryption key: ${file} has mode ${mode.toString(8)}.`);
    }
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof VarveError) throw error;
    throw createKeyError(`The encryption key cannot be read from ${file}.`, error);
  }
}

function runKeyCommand(command: string): string {
  const [program = "", ...args] = command.trim().split(/\s+/);
  try {
    return execFileSync(program, args, {
      encoding: "utf8",
      timeout: commandTimeoutMs,
      stdio: ["ignore", "pipe", "ignore"],
      maxBuffer: 1_048_576,
    });
  } catch (error) {
    throw createKeyError(`The command ${JSON.stringify(program)} did not print the encryption key.`, error);
  }
}

function decodeKey(source: string, text: string): Buffer {
  const trimmed = text.trim();
  const decoded = /^[0-9a-f]{64}$/i.test(trimmed) ? Buffer.from(trimmed, "hex") : Buffer.from(trimmed, "base64");
  if (decoded.length === keyBytes) return decoded;
  const where = source.split(":")[0];
  throw createKeyError(`The encryption key (${where}) is not ${keyBytes} bytes in base64 or hex.`);
}

function createKeyError(message: string, cause?: unknown): VarveError {
  return new VarveError("BAD_CONFIG", message, {
    remedy: "Check encryption.key in the settings; `varve db keygen` prints a new key for a new database.",
    cause,
  });
}
