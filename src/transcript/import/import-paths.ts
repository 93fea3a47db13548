import { statSync } from "node:fs";
import { VarveError } from "../../domain/index.ts";
import { chatgpt } from "./chatgpt.ts";
import { claudeAi } from "./claude-ai.ts";
import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import { FileImporter } from "./file-importer.ts";
import { nameFileSession } from "./file-names.ts";
import { findFiles, readFirstRecords } from "./files.ts";
import type { ImportOptions, ImportProgress, ImportReport, ImportTarget } from "./import-types.ts";
import { jsonl } from "./jsonl.ts";
import { applyTitles, type PendingTitle } from "./pending-titles.ts";
import { openclaw, pi } from "./pi.ts";
import type { SourceFormat, SourceName } from "./reader.ts";

/** All formats, in the order of detection: specific before general. */
export const sourceFormats: readonly SourceFormat[] = [claudeCode, codex, openclaw, pi, chatgpt, claudeAi, jsonl];

/** Detects the format of a file from its path and first records. */
export function detectSource(path: string, firstRecords: string[]): SourceFormat | undefined {
  return sourceFormats.find((format) => format.detect(path, firstRecords));
}

/** Imports all transcripts at the given paths, file by file. */
export async function importPaths(
  target: ImportTarget,
  paths: string[],
  options: ImportOptions,
): Promise<ImportReport> {
  const started = performance.now();
  const report: ImportReport = {
    files: 0,
    sessions: 0,
    imported: 0,
    duplicates: 0,
    quarantined: 0,
    seconds: 0,
    otherEntries: 0,
    skipped: [],
    broken: [],
  };
  const files = findFiles(paths);
  const named = new Set(paths);
  const sessions = new Set<string>();
  const titles: PendingTitle[] = [];
  const sizes = files.map((file) => statSync(file).size);
  const progress: ImportProgress = {
    file: "",
    filesDone: 0,
    files: files.length,
    bytesDone: 0,
    bytes: sizes.reduce((sum, size) => sum + size, 0),
    imported: 0,
  };
  for (const [index, file] of files.entries()) {
    options.signal?.throwIfAborted();
    const format = resolveFormat(file, options.source, named.has(file) || (paths.length === 1 && files.length === 1));
    if (!format) report.skipped.push(file);
    else {
      report.files += 1;
      const before = progress.bytesDone;
      const onPosition = (position: number) => {
        progress.file = file;
        progress.bytesDone = before + position;
        progress.imported = report.imported;
        options.onProgress?.(progress);
      };
      const onTitle = (title: PendingTitle) => titles.push(title);
      const name = await nameFileSession(target.store, options.agent, file, files);
      await new FileImporter(target, options, format, file, report, sessions, onPosition, onTitle, name).run();
    }
    progress.filesDone = index + 1;
    progress.bytesDone = sizes.slice(0, index + 1).reduce((sum, size) => sum + size, 0);
    options.onProgress?.(progress);
  }
  await applyTitles(target, options.agent, titles, report);
  report.sessions = sessions.size;
  report.seconds = Math.round(performance.now() - started) / 1000;
  return report;
}

function resolveFormat(file: string, source: SourceName | "auto", required: boolean): SourceFormat | undefined {
  const records = readFirstRecords(file);
  if (source !== "auto") return sourceFormats.find((format) => format.name === source);
  const detected = detectSource(file, records);
  if (detected || records.length === 0 || !required) return detected;
  throw new VarveError("UNKNOWN_FORMAT", `The format of ${file} was not recognised.`, {
    remedy: `Specify it with --source ${sourceFormats.map((format) => format.name).join("|")}.`,
  });
}
