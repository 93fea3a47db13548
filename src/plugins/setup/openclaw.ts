import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { parse } from "jsonc-parser";
import { isJsonObject, type JsonObject, type JsonValue, VarveError } from "../../domain/index.ts";
import { packageFolder } from "../../version.ts";
import { readFileIfExists } from "./changes.ts";
import { appendString, readStrings, removeString } from "./json-array-edit.ts";
import { readMember, removeMember, replaceMember, setMember } from "./json-edit.ts";
import { parseReplacedPlugins, readReplacedPlugin } from "./openclaw-plugins.ts";
import type { SetupContext, SetupEdit, SetupFollowUp, SetupPlan, SetupTarget } from "./setup-target.ts";

const pluginId = "varve";
const listPath = ["plugins", "load", "paths"];
const allowPath = ["plugins", "allow"];

/**
 * OpenClaw loads plugins from the folders that its configuration names, so setup only edits that file: it copies
 * nothing, and needs no running OpenClaw.
 */
export const openclaw: SetupTarget = {
  name: "openclaw",
  label: "OpenClaw",
  install(context, remembered) {
    const file = locateOpenclaw(context).configFile;
    const before = readFileIfExists(file);
    const isEmpty = (before ?? "").trim() === "";
    const text = isEmpty ? "{}\n" : (before ?? "");
    return edit(file, () => {
      const config = parse(text) as JsonObject;
      refuseUnsupported(config, file);
      const editor = new ConfigEditor(text);
      for (const [path, value] of listMembers(context)) editor.set(path, value);
      editor.append(listPath, getPluginFolder());
      if (readStrings(text, allowPath) !== undefined) editor.append(allowPath, pluginId);
      const { follow, notes } = planTakeover(context, config);
      if (editor.text === before) return { changes: [], notes: [], follow };
      return {
        changes: [{ path: file, ...(before === undefined ? {} : { before }), after: editor.text }],
        remember: {
          file,
          ...(isEmpty ? { whole: remembered?.whole ?? before ?? null } : {}),
          ...(remembered?.whole === undefined ? {} : { whole: remembered.whole }),
          // What an earlier setup replaced stays what a removal restores.
          edits: mergeEdits(remembered?.edits ?? [], editor.edits),
        },
        notes: [...notes, "Restart OpenClaw's gateway. `varve doctor` says whether it loads the plugin."],
        follow,
      };
    });
  },
  remove(context, remembered): SetupPlan {
    const file = remembered?.file ?? locateOpenclaw(context).configFile;
    const before = readFileIfExists(file);
    if (before === undefined || before.trim() === "") return { changes: [], notes: [] };
    return edit(file, () => {
      const after = undoEdits(before, remembered?.edits ?? listOwnEdits(before));
      if (after === before) return { changes: [], notes: [] };
      const isEmpty = Object.keys(parse(after) as object).length === 0;
      const whole = isEmpty ? remembered?.whole : undefined;
      return {
        changes: [{ path: file, before, ...(whole === null ? {} : { after: whole ?? after }) }],
        notes: [
          "Restart OpenClaw's gateway.",
          "Stored sessions and memories are kept; `varve sessions list` shows them.",
        ],
      };
    });
  },
};

/** OpenClaw's state folder and its configuration. */
export function locateOpenclaw({ env, userHome }: Pick<SetupContext, "env" | "userHome">): {
  home: string;
  configFile: string;
} {
  const home = env.OPENCLAW_STATE_DIR || join(userHome, ".openclaw");
  return { home, configFile: env.OPENCLAW_CONFIG_PATH || join(home, "openclaw.json") };
}

function getPluginFolder(): string {
  const folder = join(realpathSync(packageFolder), "plugins", "openclaw");
  if (!/[\\/]_npx[\\/]/.test(folder)) return folder;
  throw new VarveError("REFUSED", "OpenClaw would load the plugin from npx's cache, which is deleted at times.", {
    remedy: "Install Varve (`npm install --global varve`) and run `varve setup openclaw`.",
  });
}

/** The members of the configuration, in the order they are written. */
function listMembers(context: SetupContext): [string[], JsonValue][] {
  const settings = readPluginSettings(context);
  const disabled = ["memory-core", ...parseReplacedPlugins(context.from)];
  return [
    [["plugins", "slots", "memory"], pluginId],
    [["plugins", "slots", "contextEngine"], pluginId],
    [["plugins", "entries", pluginId, "enabled"], true],
    [["plugins", "entries", pluginId, "hooks", "allowConversationAccess"], true],
    ...Object.entries(settings).map(([name, value]): [string[], JsonValue] => [
      ["plugins", "entries", pluginId, "config", name],
      value,
    ]),
    // OpenClaw's own memory plugin has tools of the same names, which would win.
    ...disabled.map((id): [string[], JsonValue] => [["plugins", "entries", id, "enabled"], false]),
  ];
}

function readPluginSettings({ home, userHome, flags }: SetupContext): Record<string, string> {
  const database = flags[flags.indexOf("--database") + 1];
  return {
    ...(home === join(userHome, ".varve") ? {} : { home }),
    ...(flags.includes("--database") && database !== undefined ? { database } : {}),
  };
}

/** The history of OpenClaw and what is taken over from other plugins; done after the changes. */
function planTakeover(context: SetupContext, config: JsonObject): { follow: SetupFollowUp; notes: string[] } {
  const { home } = locateOpenclaw(context);
  const replaced = parseReplacedPlugins(context.from).map((plugin) => {
    const entry = parse(readMember(JSON.stringify(config), ["plugins", "entries", plugin]) ?? "{}") as JsonObject;
    return { plugin, ...readReplacedPlugin(plugin, entry.config, context.userHome) };
  });
  const paths = [...(existsSync(join(home, "agents")) ? [home] : []), ...replaced.flatMap((one) => one.paths)];
  return {
    follow: {
      importPaths: paths.filter((path) => existsSync(path)),
      settings: replaced.flatMap((one) => one.settings),
    },
    notes: replaced.map(({ plugin }) => `${plugin} is turned off; its data and settings stay where they are.`),
  };
}

function refuseUnsupported(config: JsonObject, file: string): void {
  const { plugins } = config;
  const refuse = (reason: string, remedy: string) => {
    throw new VarveError("REFUSED", `${file} ${reason}, so nothing was changed.`, { remedy });
  };
  const includes = (value: JsonValue | undefined) => isJsonObject(value) && "$include" in value;
  if (includes(config) || includes(plugins)) {
    refuse(
      "includes its plugins from another file",
      "Set OPENCLAW_CONFIG_PATH to that file and run the command again.",
    );
  }
  if (isJsonObject(plugins) && Array.isArray(plugins.deny) && plugins.deny.includes(pluginId)) {
    refuse("forbids the plugin in plugins.deny", `Remove ${JSON.stringify(pluginId)} from plugins.deny.`);
  }
}

/** Edits the text step by step, and remembers how each step is undone. */
class ConfigEditor {
  text: string;
  readonly edits: SetupEdit[] = [];

  constructor(text: string) {
    this.text = text;
  }

  set(path: string[], value: JsonValue): void {
    const { text, made, replaced } = setMember(this.text, path, value);
    if (text === this.text) return;
    this.text = text;
    this.edits.push({ path, value: JSON.stringify(value), made, ...(replaced === undefined ? {} : { replaced }) });
  }

  append(path: string[], value: string): void {
    const known = readStrings(this.text, path);
    if (known?.includes(value)) return;
    if (known === undefined) {
      this.set(path, [value]);
      return;
    }
    this.text = appendString(this.text, path, value);
    this.edits.push({ path, element: value });
  }
}

function mergeEdits(earlier: readonly SetupEdit[], later: readonly SetupEdit[]): SetupEdit[] {
  const isKnown = (one: SetupEdit) =>
    earlier.some((other) => other.path.join("\n") === one.path.join("\n") && other.element === one.element);
  const updated = earlier.map((one) => {
    const again = later.find((other) => other.path.join("\n") === one.path.join("\n") && other.element === one.element);
    return again?.value === undefined ? one : { ...one, value: again.value };
  });
  return [...updated, ...later.filter((one) => !isKnown(one))];
}

/** Undoes the edits, the last one first. A value that was changed since is the person's own, and stays. */
function undoEdits(text: string, edits: readonly SetupEdit[]): string {
  return edits.toReversed().reduce((current, { path, element, value, made = 0, replaced }) => {
    if (element !== undefined) {
      return readStrings(current, path)?.includes(element) ? removeString(current, path, element) : current;
    }
    const now = readMember(current, path);
    if (now === undefined || value === undefined) return current;
    const isOwn = JSON.stringify(parse(now)) === value;
    if (!isOwn && Array.isArray(parse(now))) return removeFromArray(current, path, JSON.parse(value) as string[]);
    if (!isOwn) return current;
    return replaced === undefined ? removeMember(current, path, made) : replaceMember(current, path, replaced);
  }, text);
}

function removeFromArray(text: string, path: string[], values: readonly string[]): string {
  return values.reduce((current, value) => removeString(current, path, value), text);
}

/** Settings that can only be Varve's, for a removal without a record. */
function listOwnEdits(text: string): SetupEdit[] {
  const slots = ["memory", "contextEngine"].map((slot) => ["plugins", "slots", slot]);
  const folders = (readStrings(text, listPath) ?? []).filter((path) => path.endsWith(join("plugins", "openclaw")));
  const entry = readMember(text, ["plugins", "entries", pluginId]);
  return [
    ...slots.map((path) => ({ path, value: JSON.stringify(pluginId) })),
    ...(entry === undefined ? [] : [{ path: ["plugins", "entries", pluginId], value: JSON.stringify(parse(entry)) }]),
    ...folders.map((element) => ({ path: listPath, element })),
    ...((readStrings(text, allowPath) ?? []).includes(pluginId) ? [{ path: allowPath, element: pluginId }] : []),
  ];
}

function edit<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new VarveError("BAD_FILE", `${file} cannot be edited, so nothing was changed: ${error.message}.`, {
      remedy:
        "Setup edits JSON with comments, and no JSON5. Correct the file, or run `openclaw config validate` to see what " +
        `is wrong, or install the plugin with \`openclaw plugins install -l ${join("…", "plugins", "openclaw")}\`.`,
      cause: error,
    });
  }
}
