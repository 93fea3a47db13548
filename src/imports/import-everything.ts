/** Imports of all kinds: transcripts, the summaries of lossless-claw, and memories. */
import type { Config } from "../config/index.ts";
import type { Store } from "../store/index.ts";
import { importMemories, isMemoryExport } from "./memories/lancedb-pro.ts";
import { type ImportRequest, importTranscripts } from "./sessions/import-transcripts.ts";
import { importSummaries } from "./summaries/import-summaries.ts";
import type { ImportReport } from "./transcripts/import-types.ts";
import { LcmStore } from "./transcripts/lossless-claw/lcm-store.ts";

/** Importing this many messages at once is a bulk load. */
const bulkMessages = 10_000;

export async function importEverything(
  engine: { store: Store; config: Config; home: string },
  paths: string[],
  request: ImportRequest = {},
): Promise<ImportReport> {
  const memoryPaths = paths.filter(isMemoryExport);
  const report = await importTranscripts(
    engine,
    paths.filter((path) => !memoryPaths.includes(path)),
    request,
  );
  const agent = request.agent ?? engine.config.agent;
  if (!request.dryRun) for (const file of report.lcmFiles) await importLcmSummaries(engine.store, file, agent, report);
  for (const path of [...memoryPaths, ...report.lanceFolders]) {
    request.signal?.throwIfAborted();
    const found = await importMemories(engine.store, agent, path, { dryRun: request.dryRun });
    report.files += 1;
    report.memories += found.imported;
    report.duplicates += found.duplicates;
    report.quarantined += found.broken.length;
    report.broken.push(...found.broken.map((one) => ({ path, ...one })));
  }
  if (!request.dryRun && report.imported >= bulkMessages) await engine.store.settleBulkLoad();
  return report;
}

async function importLcmSummaries(store: Store, file: string, agent: string, report: ImportReport): Promise<void> {
  const lcm = new LcmStore(file);
  try {
    await lcm.matchStoredMessages(store, agent);
    for (const dag of lcm.listDags(agent)) {
      const { summaries, notes } = await importSummaries(store, dag.agent, dag);
      report.summaries += summaries;
      report.remarks.push(...notes);
    }
  } finally {
    lcm.close();
  }
}
