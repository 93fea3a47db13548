import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parse, patch } from "@decimalturn/toml-patch";
import { isJsonObject, type JsonObject, type JsonValue, VarveError } from "../../domain/index.ts";
import { readFileIfExists } from "./changes.ts";
import { createCall, type SetupContext, type SetupTarget } from "./setup-target.ts";

/** Whether an earlier setup wrote the entry, perhaps for another home. */
function isOwnEntry(entry: JsonValue): boolean {
  return /varve(?:\.js)?".*"mcp"/.test(JSON.stringify(entry));
}

/** Codex lists its MCP servers as tables of a TOML file. Edits keep every other byte of it. */
export const codex: SetupTarget = {
  name: "codex",
  label: "Codex",
  install(context, remembered) {
    const file = getConfigFile(context);
    const before = readFileIfExists(file);
    const text = before ?? "";
    const { command, args } = createCall(context, ["mcp"], true);
    const entry: JsonObject = { command, args };
    const current = edit(file, () => readEntry(text));
    if (isDeepStrictEqual(current, entry)) return { changes: [], notes: [] };
    const inserted = current === undefined ? createTable(text, entry) : undefined;
    const after = edit(file, () => (inserted === undefined ? setEntry(text, entry) : text + inserted));
    const isForeign = current !== undefined && !isOwnEntry(current);
    return {
      changes: [{ path: file, ...(before === undefined ? {} : { before }), after }],
      ...(remembered === undefined
        ? {
            remember: {
              file,
              ...(inserted === undefined ? {} : { inserted }),
              ...(isForeign ? { replaced: JSON.stringify(current), whole: text } : {}),
              ...(before === undefined ? { whole: null } : {}),
            },
          }
        : {}),
      notes: ["Restart Codex; /mcp lists the server."],
    };
  },
  remove(context, remembered) {
    const file = remembered?.file ?? getConfigFile(context);
    const text = readFileIfExists(file);
    if (text === undefined) return { changes: [], notes: [] };
    const current = edit(file, () => readEntry(text));
    if (current === undefined) return { changes: [], notes: [] };
    const { inserted, replaced, whole } = remembered ?? {};
    const after = edit(file, () => {
      if (inserted !== undefined && text.includes(inserted)) return text.replace(inserted, () => "");
      // The file is unchanged since the setup, so its previous text is restored exactly.
      if (typeof whole === "string" && setEntry(whole, current) === text) return whole;
      return setEntry(text, replaced === undefined ? undefined : parseReplaced(replaced));
    });
    const isGone = after === "" && whole === null;
    return { changes: [{ path: file, before: text, ...(isGone ? {} : { after }) }], notes: [] };
  },
};

function getConfigFile({ userHome, env }: SetupContext): string {
  return join(env.CODEX_HOME || join(userHome, ".codex"), "config.toml");
}

function readServers(text: string): JsonObject {
  const servers = (parse(text) as JsonObject).mcp_servers ?? {};
  if (!isJsonObject(servers)) throw new Error("mcp_servers is not a table");
  return servers;
}

/** Objects of the parser have no prototype; the clone can be compared with plain objects. */
function readEntry(text: string): JsonValue | undefined {
  return structuredClone(readServers(text).varve);
}

/** Returns the table to append to the file; undefined where `mcp_servers` is written so that no table can follow. */
function createTable(text: string, entry: JsonObject): string | undefined {
  // A JSON string is a basic string of TOML.
  const lines = Object.entries(entry).map(
    ([key, value]) => `${key} = ${JSON.stringify(value).replaceAll('","', '", "')}`,
  );
  const space = text === "" ? "" : text.endsWith("\n") ? "\n" : "\n\n";
  const table = `${space}[mcp_servers.varve]\n${lines.join("\n")}\n`;
  try {
    return isDeepStrictEqual(readEntry(text + table), entry) ? table : undefined;
  } catch {
    // An inline table cannot be extended by another table; `patch` edits it in place.
    return undefined;
  }
}

function setEntry(text: string, entry: JsonValue | undefined): string {
  const { varve: _, ...others } = readServers(text);
  const servers = entry === undefined ? others : { ...others, varve: entry };
  const { mcp_servers: __, ...rest } = parse(text) as JsonObject;
  const isEmpty = Object.keys(servers).length === 0;
  // Trailing commas in inline tables need TOML 1.1, which older versions of Codex do not read.
  return patch(text, isEmpty ? rest : { ...rest, mcp_servers: servers }, { trailingComma: false, inlineTableStart: 3 });
}

/** The entry as JSON, or as the TOML table that earlier versions of Varve remembered. */
function parseReplaced(replaced: string): JsonValue | undefined {
  return replaced.startsWith("{") ? (JSON.parse(replaced) as JsonValue) : readEntry(replaced);
}

function edit<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    throw new VarveError("BAD_FILE", `${file} cannot be edited safely, so nothing was changed: ${reason}.`, {
      remedy:
        "Correct the file and run the command again, or use `codex mcp add varve -- varve mcp` and " +
        "`codex mcp remove varve`.",
      cause: error,
    });
  }
}
