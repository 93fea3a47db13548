import { closeSync, existsSync, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { VarveError } from "../domain/index.ts";

const key = z.string().min(1);
const contents = z.record(z.string(), z.union([key, z.strictObject({ apiKey: key })])).nullable();

export function credentialsPath(home: string): string {
  return join(home, "credentials.yaml");
}

/** The keys in a home folder, by provider; empty when there is no file. A file that others can read is rejected. */
export function readCredentialsFile(home: string): ReadonlyMap<string, string> {
  const path = credentialsPath(home);
  const text = readPrivateFile(path, (why, cause) => badFile(path, why, cause));
  if (text === undefined) return new Map();
  const parsed = contents.safeParse(parseYaml(path, text));
  if (!parsed.success) throw badFile(path, "it must contain `provider: key` lines");
  const entries = Object.entries(parsed.data ?? {});
  return new Map(entries.map(([name, value]) => [name, typeof value === "string" ? value : value.apiKey]));
}

function parseYaml(path: string, text: string): unknown {
  try {
    return parse(text, { prettyErrors: false });
  } catch {
    // The parser's message may quote a line that contains a key.
    throw badFile(path, "it is not YAML");
  }
}

function badFile(path: string, why: string, cause?: unknown): VarveError {
  return new VarveError("BAD_FILE", `The keys in ${path} cannot be used: ${why}.`, {
    remedy: "Write one line per provider, such as `anthropic: sk-ant-…`, or remove the file.",
    cause,
  });
}

const sizeMax = 256 * 1024;

/** Reads a file that contains secrets; `undefined` when it does not exist. A file that others can read is rejected. */
export function readPrivateFile(
  path: string,
  unusable: (why: string, cause?: unknown) => VarveError,
): string | undefined {
  const descriptor = openFile(path, unusable);
  if (descriptor === undefined) return undefined;
  try {
    const { mode, size } = fstatSync(descriptor);
    // Windows has no such mode bits.
    if (process.platform !== "win32" && (mode & 0o077) !== 0) {
      throw new VarveError(
        "REFUSED",
        `Other users can read the keys in ${path}: its mode is ${(mode & 0o777).toString(8)}.`,
        {
          remedy: `Run \`chmod 600 ${path}\`, and replace the keys if someone may have read them.`,
        },
      );
    }
    if (size > sizeMax) throw unusable(`it is larger than ${sizeMax} bytes`);
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}

function openFile(path: string, unusable: (why: string, cause?: unknown) => VarveError): number | undefined {
  // Usually there is none, and checking is cheaper than failing.
  if (!existsSync(path)) return undefined;
  try {
    return openSync(path, "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw unusable(error instanceof Error ? error.message : String(error), error);
  }
}
