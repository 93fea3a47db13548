import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { VarveError } from "../domain/index.ts";
import { readPrivately } from "./private-file.ts";

const key = z.string().min(1);
const contents = z.record(z.string(), z.union([key, z.strictObject({ apiKey: key })])).nullable();

export function credentialsPath(home: string): string {
  return join(home, "credentials.yaml");
}

/** The keys in a home folder, by provider; none when there is no file. A file that others may read is refused. */
export function readCredentialsFile(home: string): ReadonlyMap<string, string> {
  const path = credentialsPath(home);
  const text = readPrivately(path, (why, cause) => badFile(path, why, cause));
  if (text === undefined) return new Map();
  const parsed = contents.safeParse(parseYaml(path, text));
  if (!parsed.success) throw badFile(path, "it must hold `provider: key` lines");
  const entries = Object.entries(parsed.data ?? {});
  return new Map(entries.map(([name, value]) => [name, typeof value === "string" ? value : value.apiKey]));
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
