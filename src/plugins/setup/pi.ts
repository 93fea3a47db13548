import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { VarveError } from "../../domain/index.ts";
import { packageFolder } from "../../version.ts";
import { readFileIfExists, removeEmptyFolders } from "./changes.ts";
import type { SetupContext, SetupTarget } from "./setup-target.ts";

const mark = "// Written by `varve setup pi`; `varve setup pi --remove` removes it.";

/** pi loads every file in its `extensions` folder, so setup only adds one there: it changes none of the user's files. */
export const pi: SetupTarget = {
  name: "pi",
  label: "pi",
  install(context, remembered) {
    const path = getExtensionFile(context);
    const [before, after] = [readFileIfExists(path), createExtensionFile(context)];
    refuseForeignFile(path, before);
    if (before === after) return { changes: [], notes: [] };
    const folder = dirname(path);
    return {
      changes: [{ path, ...(before === undefined ? {} : { before }), after }],
      ...(remembered === undefined ? { remember: { file: path, folders: existsSync(folder) ? [] : [folder] } } : {}),
      notes: [
        "Run /reload in pi, or start it again; /varve shows that the extension is loaded.",
        "Sessions are stored from now on; `varve import ~/.pi` imports earlier ones.",
      ],
    };
  },
  remove(context) {
    const path = getExtensionFile(context);
    const before = readFileIfExists(path);
    if (before === undefined) return { changes: [], notes: [] };
    refuseForeignFile(path, before);
    return {
      changes: [{ path, before, own: true }],
      notes: ["Stored sessions and memories are kept; `varve sessions list` shows them."],
    };
  },
  afterRemoval(context, remembered) {
    const path = getExtensionFile(context);
    const [created] = remembered?.folders ?? [];
    if (created !== undefined) removeEmptyFolders([path], dirname(created));
  },
};

function getExtensionFile({ userHome, env }: SetupContext): string {
  return join(env.PI_CODING_AGENT_DIR || join(userHome, ".pi", "agent"), "extensions", "varve.js");
}

function refuseForeignFile(path: string, text: string | undefined): void {
  if (text === undefined || text.startsWith(mark)) return;
  throw new VarveError("BAD_FILE", `${path} exists and was not written by Varve, so nothing was changed.`, {
    remedy: "Rename or remove the file and run the command again.",
  });
}

/** The extension with the home and database that setup was given. */
function createExtensionFile({ flags, home }: SetupContext): string {
  const module = pathToFileURL(join(packageFolder, "dist", "plugins", "pi", "index.js")).href;
  const database = flags[flags.indexOf("--database") + 1];
  const options = { home, ...(flags.includes("--database") ? { database } : {}) };
  return `${mark}
import { createPiExtension } from ${JSON.stringify(module)};

export default createPiExtension(${JSON.stringify(options)});
`;
}
