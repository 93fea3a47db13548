import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isJsonObject, type JsonValue, VarveError } from "../../domain/index.ts";
import { packageFolder } from "../../version.ts";
import { type FileChange, readIfThere, removeEmptyFolders } from "./changes.ts";
import { type Call, callOf, type SetupSetting, type SetupTarget } from "./setting.ts";

const manifest = ".claude-plugin/plugin.json";
const hooksFile = "hooks/hooks.json";
const mcpFile = ".mcp.json";
const pluginFiles = [manifest, hooksFile, mcpFile, "skills/varve/SKILL.md"];

/**
 * Claude Code loads every plugin in its `skills` folder, so the plugin is set up by being there: none of the person's own
 * files is touched, nothing is fetched, and taking it away leaves no trace.
 */
export const claudeCode: SetupTarget = {
  name: "claude-code",
  label: "Claude Code",
  install(setting, remembered) {
    const folder = folderOf(setting);
    refuseForeign(folder);
    const changes = pluginFiles.flatMap((name): FileChange[] => {
      const path = join(folder, name);
      const [before, after] = [readIfThere(path), contentOf(name, setting)];
      return before === after ? [] : [{ path, ...(before === undefined ? {} : { before }), after }];
    });
    const skills = dirname(folder);
    return {
      changes,
      ...(changes.length > 0 && remembered === undefined
        ? { remember: { file: folder, folders: existsSync(skills) ? [] : [skills] } }
        : {}),
      notes: [
        "Start Claude Code anew. `claude plugin list` shows varve@skills-dir, and /mcp its server.",
        "With `varve start` running, hooks answer at once and prompts are searched for by their meaning too.",
      ],
    };
  },
  remove(setting, remembered) {
    const folder = remembered?.file ?? folderOf(setting);
    if (!existsSync(join(folder, manifest))) return { changes: [], notes: [] };
    refuseForeign(folder);
    const changes = pluginFiles.flatMap((name): FileChange[] => {
      const before = readIfThere(join(folder, name));
      return before === undefined ? [] : [{ path: join(folder, name), before, own: true }];
    });
    return { changes, notes: ["What was remembered stays; `varve sessions list` shows it."] };
  },
  afterRemoval(setting, remembered) {
    const folder = remembered?.file ?? folderOf(setting);
    const [made] = remembered?.folders ?? [];
    removeEmptyFolders(
      pluginFiles.map((name) => join(folder, name)),
      dirname(made ?? folder),
    );
  },
};

function folderOf({ env, userHome }: SetupSetting): string {
  return join(env.CLAUDE_CONFIG_DIR || join(userHome, ".claude"), "skills", "varve");
}

/** A skill of the person's own may go by the same name. */
function refuseForeign(folder: string): void {
  if (!existsSync(folder)) return;
  const text = readIfThere(join(folder, manifest));
  if (text !== undefined && nameIn(text) === "varve") return;
  throw new VarveError("REFUSED", `${folder} is there already and is not Varve's plugin, so nothing was changed.`, {
    remedy: "Move it away or give it another name, and run this again.",
  });
}

function nameIn(text: string): unknown {
  try {
    const value = JSON.parse(text) as JsonValue;
    return isJsonObject(value) ? value.name : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A file of the plugin as it is shipped, with the call of the program as this machine needs it. */
function contentOf(name: string, setting: SetupSetting): string {
  const text = readFileSync(join(packageFolder, "plugins", "claude-code", name), "utf8");
  if (name === hooksFile) {
    return text.replaceAll(/"varve hook (\w+)"/g, (_, event: string) =>
      JSON.stringify(shellLine(callOf(setting, ["hook", event], true), setting.platform)),
    );
  }
  if (name !== mcpFile) return text;
  return `${JSON.stringify({ mcpServers: { varve: callOf(setting, ["mcp"], true) } }, null, 2)}\n`;
}

function shellLine({ command, args }: Call, platform: NodeJS.Platform): string {
  return [command, ...args].map((word) => quoted(word, platform)).join(" ");
}

function quoted(word: string, platform: NodeJS.Platform): string {
  if (/^[\w./:@%+=-]+$/.test(word)) return word;
  return platform === "win32" ? `"${word.replaceAll('"', '""')}"` : `'${word.replaceAll("'", "'\\''")}'`;
}
