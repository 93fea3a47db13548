import { isPiRecord, type PiDialect, PiReader } from "./pi-family.ts";
import type { SourceFormat } from "./reader.ts";
import { peek } from "./record.ts";

const dialect: PiDialect = { name: "pi", describe: () => ({}) };

/** pi's own session files: `~/.pi/agent/sessions/--<cwd>--/<time>_<id>.jsonl`. */
export const pi: SourceFormat = {
  name: "pi",
  layout: "lines",
  detect: (path, firstRecords) =>
    /[\\/]\.pi[\\/]agent[\\/]sessions[\\/]/.test(path) || firstRecords.map(peek).some(isPiRecord),
  open: (context) => new PiReader(dialect, context),
};
