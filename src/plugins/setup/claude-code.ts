import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isJsonObject, type JsonValue, VarveError } from "../../domain/index.ts";
import { packageFolder } from "../../version.ts";
import { type FileChange, readFileIfExists, removeEmptyFolders } from "./changes.ts";
import { createCall, type ProgramCall, type SetupContext, type SetupTarget } from "./setup-target.ts";

const manifest = ".claude-plugin/plugin.json";
const hooksFile = "hooks/hooks.json";
const mcpFile = ".mcp.json";
const pluginFiles = [manifest, hooksFile, mcpFile, "skills/varve/SKILL.md"];

/**
 * Claude Code loads every plugin in its `skills` folder, so setup only copies the plugin there: it changes none of the
 * user's files and downloads nothing.
 */
export const claudeCode: SetupTarget = {
  name: "claude-code",
  label: "Claude Code",
  install(context, remembered) {
    const folder = getPluginFolder(context);
    refuseForeignFolder(folder);
    const changes = pluginFiles.flatMap((name): FileChange[] => {
      const path = join(folder, name);
      const [before, after] = [readFileIfExists(path), createFile(name, context)];
      return before === after ? [] : [{ path, ...(before === undefined ? {} : { before }), after }];
    });
    const skills = dirname(folder);
    return {
      changes,
      ...(changes.length > 0 && remembered === undefined
        ? { remember: { file: folder, folders: existsSync(skills) ? [] : [skills] } }
        : {}),
      notes: [
        "Restart Claude Code. `claude plugin list` lists varve@skills-dir, and /mcp lists its server.",
        "While `varve start` is running, hooks answer faster and also search by meaning.",
      ],
    };
  },
  remove(context, remembered) {
    const folder = remembered?.file ?? getPluginFolder(context);
    if (!existsSync(join(folder, manifest))) return { changes: [], notes: [] };
    refuseForeignFolder(folder);
    const changes = pluginFiles.flatMap((name): FileChange[] => {
      const before = readFileIfExists(join(folder, name));
      return before === undefined ? [] : [{ path: join(folder, name), before, own: true }];
    });
    return { changes, notes: ["Stored sessions and memories are kept; `varve sessions list` shows them."] };
  },
  afterRemoval(context, remembered) {
    const folder = remembered?.file ?? getPluginFolder(context);
    const [createdFolder] = remembered?.folders ?? [];
    removeEmptyFolders(
      pluginFiles.map((name) => join(folder, name)),
      dirname(createdFolder ?? folder),
    );
  },
};

function getPluginFolder({ env, userHome }: SetupContext): string {
  return join(env.CLAUDE_CONFIG_DIR || join(userHome, ".claude"), "skills", "varve");
}

/** The user may have a skill of the same name. */
function refuseForeignFolder(folder: string): void {
  if (!existsSync(folder)) return;
  const text = readFileIfExists(join(folder, manifest));
  if (text !== undefined && readPluginName(text) === "varve") return;
  throw new VarveError("REFUSED", `${folder} exists and is not Varve's plugin, so nothing was changed.`, {
    remedy: "Move or rename the folder and run the command again.",
  });
}

function readPluginName(text: string): unknown {
  try {
    const value = JSON.parse(text) as JsonValue;
    return isJsonObject(value) ? value.name : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Creates a file of the plugin, with the command line of this machine. */
function createFile(name: string, context: SetupContext): string {
  const text = readFileSync(join(packageFolder, "plugins", "claude-code", name), "utf8");
  if (name === hooksFile) {
    return text.replaceAll(/"varve hook (\w+)"/g, (_, event: string) =>
      JSON.stringify(printShellCommand(createCall(context, ["hook", event], true), context.platform)),
    );
  }
  if (name !== mcpFile) return text;
  return `${JSON.stringify({ mcpServers: { varve: createCall(context, ["mcp"], true) } }, null, 2)}\n`;
}

function printShellCommand({ command, args }: ProgramCall, platform: NodeJS.Platform): string {
  return [command, ...args].map((word) => quoteWord(word, platform)).join(" ");
}

function quoteWord(word: string, platform: NodeJS.Platform): string {
  if (/^[\w./:@%+=-]+$/.test(word)) return word;
  return platform === "win32" ? `"${word.replaceAll('"', '""')}"` : `'${word.replaceAll("'", "'\\''")}'`;
}
