import { VarveError } from "../../domain/index.ts";
import type { ImportReport, ImportRequest, Varve } from "../../index.ts";
import { type CommonOptions, listenForInterrupt, withVarve } from "../context.ts";
import { bytes, number, type Output, table } from "../output.ts";
import { startProgress } from "../progress.ts";
import { indexWithProgress } from "./search.ts";

export interface ImportFlags extends CommonOptions {
  source?: string;
  watch?: boolean;
  dryRun?: boolean;
}

const brokenShown = 20;

export async function runImport(paths: string[], flags: ImportFlags): Promise<void> {
  const signal = listenForInterrupt();
  const source = (flags.source ?? "auto") as ImportRequest["source"];
  await withVarve(flags, async (varve, output) => {
    if (flags.dryRun) return showPlan(varve, paths, { source, agent: flags.agent, signal }, output);
    const report = await importOnce(varve, paths, { source, agent: flags.agent, signal }, output);
    if (!flags.watch) {
      const { files, sessions, imported, duplicates, quarantined, seconds } = report;
      output.result({ files, sessions, imported, duplicates, quarantined, seconds });
      return;
    }
    await varve.watch(paths, {
      source,
      agent: flags.agent,
      signal,
      onReady: () => output.say("Watching for changes; press Ctrl-C to stop."),
      onImport: (next) => {
        if (next.imported + next.quarantined > 0) output.say(summary(next));
      },
      onError: (error) => output.say(`Import failed: ${error instanceof Error ? error.message : error}`),
    });
  });
}

/** Lists what an import would bring. */
async function showPlan(varve: Varve, paths: string[], request: ImportRequest, output: Output): Promise<void> {
  const report = await varve.import(paths, { ...request, dryRun: true });
  const { files, sessions, imported, duplicates, quarantined, seconds, transcripts, notes, lcmFiles, lanceFolders } =
    report;
  const rows = transcripts.map((one) => [
    one.key,
    one.messages,
    one.known ? "already stored" : (one.archived ?? "new"),
    one.from ?? "",
  ]);
  output.show(table(["SESSION", "MESSAGES", "STATE", "KEY IN THE SOURCE"], rows));
  for (const { agent, relativePath } of notes) output.show(`notes of ${agent}: ${relativePath}`);
  output.say(`Nothing was written. ${summary(report).replace("imported", "would be imported")}`);
  const totals = { files, sessions, imported, duplicates, quarantined, seconds };
  output.result({ ...totals, dryRun: true, transcripts, notes, lcmFiles, lanceFolders });
}

/** Imports with a progress line, and says what was imported. */
export async function importOnce(
  varve: Varve,
  paths: string[],
  request: ImportRequest,
  output: Output,
): Promise<ImportReport> {
  const progress = startProgress("Importing");
  try {
    const report = await varve.import(paths, {
      ...request,
      onProgress: (at) =>
        progress.update(
          at.bytesDone,
          at.bytes,
          `${number(at.imported)} messages, file ${Math.min(at.filesDone + 1, at.files)} of ${at.files}, ${bytes(at.bytesDone)} of ${bytes(at.bytes)}`,
        ),
    });
    progress.finish("Done");
    output.say(summary(report));
    // A person who imports a history searches it next: instant vectors take seconds, the model works later.
    if (report.imported > 0) await indexWithProgress(varve, { tier: "instant", signal: request.signal });
    return report;
  } catch (error) {
    progress.finish("Stopped");
    if (!request.signal?.aborted) throw error;
    throw new VarveError("ABORTED", "The import was interrupted; what was imported so far is kept.", {
      remedy: "Run the same command again to continue where it stopped.",
    });
  }
}

function summary(report: ImportReport): string {
  const lines = [
    `${number(report.imported)} messages imported (and ${number(report.otherEntries)} other entries) from ${number(report.files)} files into ${number(report.sessions)} sessions in ${report.seconds} s; ${number(report.duplicates)} were already stored.`,
  ];
  if (report.broken.length > 0) {
    lines.push(`${report.quarantined} unreadable records were quarantined (\`varve doctor\` lists them):`);
    for (const { path, record, reason } of report.broken.slice(0, brokenShown))
      lines.push(`  ${path}:${record}: ${reason}`);
    if (report.broken.length > brokenShown) lines.push(`  … and ${report.broken.length - brokenShown} more`);
  }
  if (report.summaries + report.memories > 0)
    lines.push(`Summaries: ${number(report.summaries)}, memories: ${number(report.memories)}.`);
  for (const remark of report.remarks) lines.push(`  ${remark}`);
  if (report.notes.length > 0) lines.push(`Files of notes in workspaces: ${report.notes.length}.`);
  if (report.skipped.length > 0) {
    lines.push(
      `${report.skipped.length} files of an unknown format were skipped: ${report.skipped.slice(0, 5).join(", ")}${report.skipped.length > 5 ? ", …" : ""}`,
    );
  }
  return lines.join("\n");
}
