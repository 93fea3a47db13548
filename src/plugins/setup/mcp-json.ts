/** Programs that list their MCP servers in a JSON file. */
import { join } from "node:path";
import { isJsonObject, type JsonValue, VarveError } from "../../domain/index.ts";
import { readIfThere } from "./changes.ts";
import { memberText, removeMember, replaceMember, setMember } from "./json-edit.ts";
import { callOf, type Remembered, type SetupPlan, type SetupSetting, type SetupTarget } from "./setting.ts";

interface McpJson {
  name: string;
  label: string;
  file(setting: SetupSetting): string;
  /** Where the servers are in it. */
  path: readonly string[];
  startedByShell: boolean;
  /** What to do by hand when the file cannot be edited. */
  byHand(entry: string): string;
  notes: string[];
}

export function mcpJsonTarget(kind: McpJson): SetupTarget {
  const path = [...kind.path, "varve"];
  return {
    name: kind.name,
    label: kind.label,
    install(setting, remembered) {
      const file = kind.file(setting);
      const call = callOf(setting, ["mcp"], kind.startedByShell);
      const entry: JsonValue = { command: call.command, args: call.args };
      const before = readIfThere(file);
      const isEmpty = (before ?? "").trim() === "";
      const text = isEmpty ? "{}\n" : checked(kind, file, before ?? "", JSON.stringify(entry));
      const edited = edit(kind, file, () => setMember(text, path, entry));
      if (edited.text === before) return { changes: [], notes: [] };
      const facts: Remembered = {
        file,
        made: edited.made,
        ...(isEmpty ? { whole: before ?? null } : {}),
        ...(edited.replaced === undefined || isOwn(edited.replaced) ? {} : { replaced: edited.replaced }),
      };
      return {
        changes: [{ path: file, ...(before === undefined ? {} : { before }), after: edited.text }],
        // An entry of ours that is brought up to date keeps what is known of the time before the first.
        ...(remembered === undefined ? { remember: facts } : {}),
        notes: kind.notes,
      };
    },
    remove(setting, remembered): SetupPlan {
      const file = remembered?.file ?? kind.file(setting);
      const before = readIfThere(file);
      if (before === undefined || before.trim() === "") return { changes: [], notes: [] };
      const text = checked(kind, file, before, "");
      const current = edit(kind, file, () => memberText(text, path));
      if (current === undefined) return { changes: [], notes: [] };
      const after =
        remembered?.replaced === undefined
          ? removeMember(text, path, remembered?.made ?? 0)
          : replaceMember(text, path, remembered.replaced);
      const isBare = Object.keys(JSON.parse(after) as object).length === 0;
      if (!isBare || remembered?.whole === undefined) return { changes: [{ path: file, before, after }], notes: [] };
      const { whole } = remembered;
      return { changes: [{ path: file, before, ...(whole === null ? {} : { after: whole }) }], notes: [] };
    },
  };
}

/** An entry that an earlier setup wrote, perhaps for another home. */
function isOwn(text: string): boolean {
  return /varve(?:\.js)?"[\s\S]*"mcp"/.test(text);
}

function checked(kind: McpJson, file: string, text: string, entry: string): string {
  try {
    if (isJsonObject(JSON.parse(text) as JsonValue)) return text;
  } catch (error) {
    throw cannotEdit(kind, file, error instanceof Error ? error.message : String(error), entry);
  }
  throw cannotEdit(kind, file, "it does not hold an object", entry);
}

function edit<T>(kind: McpJson, file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof TypeError) throw cannotEdit(kind, file, error.message, "");
    throw error;
  }
}

function cannotEdit(kind: McpJson, file: string, reason: string, entry: string): VarveError {
  return new VarveError(
    "BAD_FILE",
    `${file} is not plain JSON that can be edited safely, so nothing was changed: ${reason}.`,
    {
      remedy: `Correct it (comments are not JSON) and run this again, or ${kind.byHand(entry)}.`,
    },
  );
}

const inServers = (where: string) => (entry: string) =>
  entry === "" ? `take the entry "varve" out of ${where} by hand` : `add "varve": ${entry} to ${where} by hand`;

export const claudeDesktop = mcpJsonTarget({
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
  byHand: inServers("mcpServers"),
  notes: ["Quit Claude Desktop and open it again."],
});

export const cursor = mcpJsonTarget({
  name: "cursor",
  label: "Cursor",
  file: ({ userHome }) => join(userHome, ".cursor", "mcp.json"),
  path: ["mcpServers"],
  startedByShell: false,
  byHand: inServers("mcpServers"),
  notes: ["Cursor lists the server under Settings → MCP."],
});

export const pi = mcpJsonTarget({
  name: "pi",
  label: "pi",
  file: ({ userHome, env }) => join(env.PI_CODING_AGENT_DIR || join(userHome, ".pi", "agent"), "mcp.json"),
  path: ["mcpServers"],
  startedByShell: true,
  byHand: inServers("mcpServers"),
  notes: ["Run /reload in pi. The tools come this way; what pi says is read with `varve import ~/.pi`."],
});

export const openclaw = mcpJsonTarget({
  name: "openclaw",
  label: "OpenClaw",
  file: ({ userHome, env }) => env.OPENCLAW_CONFIG_PATH || join(userHome, ".openclaw", "openclaw.json"),
  path: ["mcp", "servers"],
  startedByShell: true,
  byHand: (entry) => (entry === "" ? "run `openclaw mcp unset varve`" : `run \`openclaw mcp set varve '${entry}'\``),
  notes: [
    "Restart OpenClaw's gateway. The tools come this way; what OpenClaw says is read with `varve import ~/.openclaw`.",
  ],
});
