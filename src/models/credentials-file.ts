import { closeSync, existsSync, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { VarveError } from "../domain/index.ts";

const key = z.string().min(1);
const contents = z.record(z.string(), z.union([key, z.strictObject({ apiKey: key })])).nullable();
const sizeMax = 256 * 1024;

export function credentialsPath(home: string): string {
  return join(home, "credentials.yaml");
}

/** The keys in a home folder, by provider; none when there is no file. A file that others may read is refused. */
export function readCredentialsFile(home: string): ReadonlyMap<string, string> {
  const path = credentialsPath(home);
  const text = readPrivately(path);
  if (text === undefined) return new Map();
  const parsed = contents.safeParse(parseYaml(path, text));
  if (!parsed.success) throw badFile(path, "it must hold `provider: key` lines");
  const entries = Object.entries(parsed.data ?? {});
  return new Map(entries.map(([name, value]) => [name, typeof value === "string" ? value : value.apiKey]));
}

function readPrivately(path: string): string | undefined {
  // Most homes have none, and asking is cheaper than failing.
  if (!existsSync(path)) return undefined;
  const descriptor = open(path);
  if (descriptor === undefined) return undefined;
  try {
    const { mode, size } = fstatSync(descriptor);
    // Windows has no such bits; its files say 666 whatever their access list is.
    if (process.platform !== "win32" && (mode & 0o077) !== 0) {
      throw new VarveError(
        "REFUSED",
        `Others may read the keys in ${path}: it has mode ${(mode & 0o777).toString(8)}.`,
        {
          remedy: `Run \`chmod 600 ${path}\`, and replace the keys if somebody may have seen them.`,
        },
      );
    }
    if (size > sizeMax) throw badFile(path, `it is larger than ${sizeMax} bytes`);
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}

function open(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw badFile(path, error instanceof Error ? error.message : String(error), error);
  }
}

function parseYaml(path: string, text: string): unknown {
  try {
    return parse(text, { prettyErrors: false });
  } catch {
    // What the parser says may quote the line it stumbled over, and with it a key.
    throw badFile(path, "it is not YAML");
  }
}

function badFile(path: string, why: string, cause?: unknown): VarveError {
  return new VarveError("BAD_FILE", `The keys in ${path} cannot be used: ${why}.`, {
    remedy: "Write one line for each provider, such as `anthropic: sk-ant-…`, or remove the file.",
    cause,
  });
}
