import { join } from "node:path";
import { VarveError } from "../../domain/index.ts";
import { readIfThere } from "./changes.ts";
import { callOf, type SetupSetting, type SetupTarget } from "./setting.ts";
import { endsInString, tablesNamed } from "./toml-table.ts";

const path = ["mcp_servers", "varve"];
/** An entry that an earlier setup wrote, perhaps for another home. */
const ownEntry = /varve(?:\.js)?"[\s\S]*"mcp"/;

/** Codex keeps its MCP servers as tables of a TOML file. */
export const codex: SetupTarget = {
  name: "codex",
  label: "Codex",
  install(setting, remembered) {
    const file = fileOf(setting);
    const before = readIfThere(file);
    const text = checked(file, before ?? "");
    const { command, args } = callOf(setting, ["mcp"], true);
    // A string of JSON is a basic string of TOML.
    const list = args.map((arg) => JSON.stringify(arg)).join(", ");
    const own = `[mcp_servers.varve]\ncommand = ${JSON.stringify(command)}\nargs = [${list}]\n`;
    if (text.includes(own)) return { changes: [], notes: [] };
    const [replaced] = tablesNamed(text, path);
    const isOwn = replaced !== undefined && ownEntry.test(replaced);
    const inserted = `${text === "" || text.endsWith("\n") ? "" : "\n"}${text === "" ? "" : "\n"}${own}`;
    const after = replaced === undefined ? text + inserted : text.replace(replaced, () => own);
    return {
      changes: [{ path: file, ...(before === undefined ? {} : { before }), after }],
      ...(remembered === undefined
        ? {
            remember: {
              file,
              ...(replaced === undefined ? { inserted } : isOwn ? {} : { replaced }),
              ...(before === undefined ? { whole: null } : {}),
            },
          }
        : {}),
      notes: ["Start Codex anew; /mcp lists the server."],
    };
  },
  remove(setting, remembered) {
    const file = remembered?.file ?? fileOf(setting);
    const before = readIfThere(file);
    if (before === undefined) return { changes: [], notes: [] };
    const text = checked(file, before);
    const [found] = tablesNamed(text, path);
    if (found === undefined) return { changes: [], notes: [] };
    const { inserted, replaced, whole } = remembered ?? {};
    // What stands there as it was put is taken away to the last byte.
    const exact = inserted !== undefined && text.includes(inserted);
    const after = exact ? text.replace(inserted, () => "") : text.replace(found, () => replaced ?? "");
    const isGone = after === "" && whole === null;
    return { changes: [{ path: file, before, ...(isGone ? {} : { after }) }], notes: [] };
  },
};

function fileOf({ userHome, env }: SetupSetting): string {
  return join(env.CODEX_HOME || join(userHome, ".codex"), "config.toml");
}

/** Refuses what a table cannot safely be put behind or taken out of. */
function checked(file: string, text: string): string {
  const fault = faultOf(text);
  if (fault === undefined) return text;
  throw new VarveError("BAD_FILE", `${file} cannot be edited safely, so nothing was changed: ${fault}.`, {
    remedy: "Correct it and run this again, or use `codex mcp add varve -- varve mcp` and `codex mcp remove varve`.",
  });
}

function faultOf(text: string): string | undefined {
  if (text.includes("\u0000") || text.includes("\ufffd")) return "it is not UTF-8 text";
  if (endsInString(text)) return "a string is not closed";
  const open = /^[ \t]*\[{1,2}[\w\-."' \t]+$/m.exec(text);
  if (open) return `the header ${JSON.stringify(open[0].trim())} is not closed`;
  if (/^[ \t]*mcp_servers[ \t]*=/m.test(text)) return "its mcp_servers are one inline table";
  if (/^[ \t]*mcp_servers[ \t]*\.[ \t]*varve\b/m.test(text)) return "its server varve is written as dotted keys";
  return tablesNamed(text, path).length > 1 ? "it has tables for varve in two places" : undefined;
}
