import type { JsonObject } from "../../domain/index.ts";
import { isPiRecord, type PiDialect, PiReader } from "./pi-family.ts";
import type { SourceFormat } from "./reader.ts";
import { peek, textField } from "./record.ts";

/** The folder of a session file; the older names of the program are still on people's disks. */
const sessionFile = /[\\/]\.(?:openclaw|clawdbot|moltbot)[^\\/]*[\\/]agents[\\/]([^\\/]+)[\\/]sessions[\\/]/;

const dialect: PiDialect = {
  name: "openclaw",
  describe: (path) => {
    const agent = sessionFile.exec(path)?.[1];
    return agent === undefined ? {} : { meta: { agent } };
  },
};

/** OpenClaw's session files: pi's format in a folder for each agent, with a few entries of its own. */
export const openclaw: SourceFormat = {
  name: "openclaw",
  layout: "lines",
  detect: (path, firstRecords) => {
    if (sessionFile.test(path)) return true;
    const records = firstRecords.map(peek);
    return records.some(isPiRecord) && records.some(isOpenclaw);
  },
  open: (context) => new PiReader(dialect, context),
};

function isOpenclaw(record: JsonObject): boolean {
  if (record.type === "session") return /[\\/]\.openclaw[\\/]/.test(textField(record, "cwd") ?? "");
  return record.type === "custom" && (textField(record, "customType") ?? "").startsWith("openclaw");
}
