import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { VarveError } from "../../domain/index.ts";
import { chatgpt } from "./chatgpt.ts";
import { claudeAi } from "./claude-ai.ts";
import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import { FileImporter } from "./file-importer.ts";
import { nameFileSession } from "./file-names.ts";
import { findFiles, readFirstRecords } from "./files.ts";
import { HostSource, type HostTranscript } from "./host-source.ts";
import type { ImportOptions, ImportProgress, ImportReport, ImportTarget } from "./import-types.ts";
import { jsonl } from "./jsonl.ts";
import { LcmStore, lcmStoreName } from "./lossless-claw/lcm-store.ts";
import { losslessClaw } from "./lossless-claw/reader.ts";
import { describeSessionFile, findOpenclawHome, type HomeContent, readOpenclawHome } from "./openclaw/home.ts";
import { applyTitles, type PendingTitle } from "./pending-titles.ts";
import { openclaw, pi } from "./pi.ts";
import { planTranscript } from "./plan-transcript.ts";
import type { SourceFormat, SourceName } from "./reader.ts";
import { FileSource, type TranscriptSource } from "./transcript-source.ts";

/** All formats, in the order of detection: specific before general. */
export const sourceFormats: readonly SourceFormat[] = [
  claudeCode,
  codex,
  openclaw,
  pi,
  chatgpt,
  claudeAi,
  jsonl,
  losslessClaw,
];

/** Formats whose records may not say which session they belong to. */
const namedByFile: ReadonlySet<SourceFormat> = new Set([jsonl, pi]);

/** Detects the format of a file from its path and first records. */
export function detectSource(path: string, firstRecords: string[]): SourceFormat | undefined {
  return sourceFormats.find((format) => format.detect(path, firstRecords));
}

/** A transcript that was found, with its format; one that is not recognised has none. */
interface FoundTranscript {
  source: TranscriptSource;
  format: SourceFormat | undefined;
}

/** Imports all transcripts at the given paths, one by one. */
export async function importPaths(
  target: ImportTarget,
  paths: string[],
  options: ImportOptions,
): Promise<ImportReport> {
  const started = performance.now();
  const report = createReport(options.dryRun === true);
  const homes: HomeContent[] = [];
  const stores: LcmStore[] = [];
  try {
    const isLcm = (path: string) => options.source === "lossless-claw" || basename(path) === lcmStoreName;
    const found = findTranscripts(
      paths.filter((path) => !isLcm(path)),
      options,
      homes,
    );
    for (const { notes, owners } of homes) {
      report.notes.push(...notes);
      report.owners.push(...owners);
    }
    report.lanceFolders.push(...homes.flatMap(({ lanceFolders }) => lanceFolders));
    const inHomes = homes.flatMap(({ lcmFiles }) => lcmFiles);
    // A folder with nothing of OpenClaw but this database is no home.
    const isWanted = options.source === "auto" || options.source === "openclaw";
    const inFolders = isWanted ? paths.map((path) => join(path, lcmStoreName)).filter((file) => existsSync(file)) : [];
    report.lcmFiles.push(...new Set([...paths.filter(isLcm), ...inHomes, ...inFolders]));
    await importFound(target, found, options, report);
    // After OpenClaw's own transcripts, so that messages which are in both are stored once.
    for (const file of report.lcmFiles) {
      const store = new LcmStore(file);
      stores.push(store);
      await store.matchStoredMessages(target.store, options.agent);
      const sources = store.listSources(options.agent);
      await importFound(
        target,
        sources.map((source) => ({ source, format: losslessClaw })),
        options,
        report,
      );
      report.remarks.push(...store.missingFiles.map((file) => `a large file of lossless-claw is missing: ${file}`));
    }
  } finally {
    for (const opened of [...homes, ...stores]) opened.close();
  }
  report.seconds = Math.round(performance.now() - started) / 1000;
  return report;
}

/** Imports what follows the last import of one transcript of a host. */
export async function importHostRecords(
  target: ImportTarget,
  transcript: HostTranscript,
  options: ImportOptions,
): Promise<ImportReport> {
  const started = performance.now();
  const report = createReport(false);
  const source = new HostSource(transcript, target.clock.now());
  await importFound(target, [{ source, format: openclaw }], options, report);
  report.seconds = Math.round(performance.now() - started) / 1000;
  return report;
}

function createReport(dryRun: boolean): ImportReport {
  return {
    files: 0,
    sessions: 0,
    imported: 0,
    duplicates: 0,
    quarantined: 0,
    seconds: 0,
    dryRun,
    otherEntries: 0,
    skipped: [],
    broken: [],
    transcripts: [],
    notes: [],
    lcmFiles: [],
    lanceFolders: [],
    summaries: 0,
    memories: 0,
    owners: [],
    remarks: [],
  };
}

/** A home of OpenClaw is read as a whole; every other folder stands for the transcripts below it. */
function findTranscripts(paths: string[], options: ImportOptions, homes: HomeContent[]): FoundTranscript[] {
  const files: string[] = [];
  const found: FoundTranscript[] = [];
  for (const path of paths) {
    const home = options.source === "auto" || options.source === "openclaw" ? findOpenclawHome(path) : undefined;
    if (home === undefined) {
      files.push(path);
      continue;
    }
    const content = readOpenclawHome(home, options.homeAgent);
    homes.push(content);
    found.push(...content.sources.map((source) => ({ source, format: openclaw })));
  }
  const listed = findFiles(files);
  const named = new Set(files);
  for (const file of listed) {
    const required = named.has(file) || (paths.length === 1 && listed.length === 1);
    const format = resolveFormat(file, options.source, required);
    const facts = format === openclaw ? describeSessionFile(file) : {};
    found.push({ source: new FileSource(file, format?.layout ?? "lines", facts), format });
  }
  return found;
}

async function importFound(
  target: ImportTarget,
  found: readonly FoundTranscript[],
  options: ImportOptions,
  report: ImportReport,
): Promise<void> {
  const sessions = new Set<string>();
  const titles: PendingTitle[] = [];
  const sizes = found.map(({ source }) => source.measure().size);
  const files = found.map(({ source }) => source.path);
  const progress: ImportProgress = {
    file: "",
    filesDone: 0,
    files: found.length,
    bytesDone: 0,
    bytes: sizes.reduce((sum, size) => sum + size, 0),
    imported: 0,
  };
  for (const [index, { source, format }] of found.entries()) {
    options.signal?.throwIfAborted();
    const before = progress.bytesDone;
    const onPosition = (position: number) => {
      progress.file = source.path;
      progress.bytesDone = before + position;
      progress.imported = report.imported;
      options.onProgress?.(progress);
    };
    if (!format) report.skipped.push(source.path);
    else {
      report.files += 1;
      const owned = { ...options, agent: source.agent ?? options.agent };
      // The records of the other formats name their session.
      const name = namedByFile.has(format)
        ? await nameFileSession(target.store, owned.agent, source.path, files)
        : undefined;
      if (options.dryRun) await planTranscript(target, owned, format, source, report, sessions, name);
      else {
        const onTitle = (title: PendingTitle) => titles.push(title);
        await new FileImporter(target, owned, format, source, report, sessions, onPosition, onTitle, name).run();
      }
    }
    progress.filesDone = index + 1;
    progress.bytesDone = before + (sizes[index] ?? 0);
    options.onProgress?.(progress);
  }
  await applyTitles(target, options.agent, titles, report);
  report.sessions += sessions.size;
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
