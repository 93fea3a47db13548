/** Setup of programs that list their MCP servers in a JSON file. */
import { join } from "node:path";
import { parse } from "jsonc-parser";
import { type JsonValue, VarveError } from "../../domain/index.ts";
import { readFileIfExists } from "./changes.ts";
import { readMember, removeMember, replaceMember, setMember } from "./json-edit.ts";
import { createCall, type SetupContext, type SetupPlan, type SetupRecord, type SetupTarget } from "./setup-target.ts";

interface McpJsonProgram {
  name: string;
  label: string;
  file(context: SetupContext): string;
  /** The path of the servers in the file. */
  path: readonly string[];
  startedByShell: boolean;
  /** The manual step for a file that cannot be edited; `entry` is empty for a removal. */
  byHand(entry: string): string;
  notes: string[];
}

function createMcpJsonTarget(kind: McpJsonProgram): SetupTarget {
  const path = [...kind.path, "varve"];
  return {
    name: kind.name,
    label: kind.label,
    install(context, remembered) {
      const file = kind.file(context);
      const call = createCall(context, ["mcp"], kind.startedByShell);
      const entry: JsonValue = { command: call.command, args: call.args };
      const before = readFileIfExists(file);
      const isEmpty = (before ?? "").trim() === "";
      const text = isEmpty ? "{}\n" : (before ?? "");
      const edited = edit(kind, file, JSON.stringify(entry), () => setMember(text, path, entry));
      if (edited.text === before) return { changes: [], notes: [] };
      const facts: SetupRecord = {
        file,
        made: edited.made,
        ...(isEmpty ? { whole: before ?? null } : {}),
        ...(edited.replaced === undefined || isOwnEntry(edited.replaced) ? {} : { replaced: edited.replaced }),
      };
      return {
        changes: [{ path: file, ...(before === undefined ? {} : { before }), after: edited.text }],
        // An update of our own entry keeps the facts of the first setup.
        ...(remembered === undefined ? { remember: facts } : {}),
        notes: kind.notes,
      };
    },
    remove(context, remembered): SetupPlan {
      const file = remembered?.file ?? kind.file(context);
      const before = readFileIfExists(file);
      if (before === undefined || before.trim() === "") return { changes: [], notes: [] };
      const current = edit(kind, file, "", () => readMember(before, path));
      if (current === undefined) return { changes: [], notes: [] };
      const after =
        remembered?.replaced === undefined
          ? removeMember(before, path, remembered?.made ?? 0)
          : replaceMember(before, path, remembered.replaced);
      const isEmpty = Object.keys(parse(after) as object).length === 0;
      if (!isEmpty || remembered?.whole === undefined) return { changes: [{ path: file, before, after }], notes: [] };
      const { whole } = remembered;
      return { changes: [{ path: file, before, ...(whole === null ? {} : { after: whole }) }], notes: [] };
    },
  };
}

/** Whether an earlier setup wrote the entry, perhaps for another home. */
function isOwnEntry(text: string): boolean {
  return /varve(?:\.js)?"[\s\S]*"mcp"/.test(text);
}

/** Runs an edit; `entry` is what to add by hand if it fails, empty for a removal. */
function edit<T>(kind: McpJsonProgram, file: string, entry: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof TypeError) throw createEditError(kind, file, error.message, entry);
    throw error;
  }
}

function createEditError(kind: McpJsonProgram, file: string, reason: string, entry: string): VarveError {
  return new VarveError("BAD_FILE", `${file} is not valid JSON, so nothing was changed: ${reason}.`, {
    remedy: `Correct the file and run the command again, or ${kind.byHand(entry)}.`,
  });
}

const editServers = (where: string) => (entry: string) =>
  entry === "" ? `remove the entry "varve" from ${where} by hand` : `add "varve": ${entry} to ${where} by hand`;

export const claudeDesktop = createMcpJsonTarget({
  name: "claude-desktop",
  label: "Claude Desktop",
  file({ platform, userHome, env }) {
    const name = join("Claude", "claude_desktop_config.json");
    if (platform === "darwin") return join(userHome, "Library", "Application Support", name);
    if (platform === "win32") return join(env.APPDATA ?? join(userHome, "AppData", "Roaming"), name);
    return join(env.XDG_CONFIG_HOME || join(userHome, ".config"), name);
  },
  path: ["mcpServers"],
  startedByShell: false,
  byHand: editServers("mcpServers"),
  notes: ["Restart Claude Desktop."],
});

export const cursor = createMcpJsonTarget({
  name: "cursor",
  label: "Cursor",
  file: ({ userHome }) => join(userHome, ".cursor", "mcp.json"),
  path: ["mcpServers"],
  startedByShell: false,
  byHand: editServers("mcpServers"),
  notes: ["Cursor lists the server under Settings → MCP."],
});
