import { resolve, sep } from "node:path";
import type { Config } from "../../config/index.ts";
import type { Store } from "../../store/index.ts";
import type { ImportReport } from "../transcripts/import-types.ts";
import { findOpenclawHome } from "../transcripts/openclaw/home.ts";
import { type ImportRequest, importTranscripts } from "./import-transcripts.ts";

export interface WatchRequest extends Omit<ImportRequest, "onProgress"> {
  signal: AbortSignal;
  /** Called once every later change is noticed. */
  onReady?(): void;
  onImport?(report: ImportReport): void;
  onError?(error: unknown): void;
}

/** A file that is being written changes many times a second; one import after the last change is enough. */
const debounceMs = 300;

/** Imports again whenever one of the files changes, until the signal is aborted. */
export async function watchTranscripts(
  engine: { store: Store; config: Config; home: string },
  paths: string[],
  request: WatchRequest,
): Promise<void> {
  const { signal, onReady, onImport, onError, ...rest } = request;
  const { watch } = await import("chokidar");
  if (signal.aborted) return;
  const watcher = watch(paths, {
    ignoreInitial: true,
    ignored: (path, stats) => stats?.isFile() === true && !/\.jsonl?$|\.(?:sqlite|db)(?:-wal)?$/i.test(path),
  });
  // A change in a home of OpenClaw, most often of a database, is a change of the home.
  const homes = paths.filter((path) => findOpenclawHome(path) !== undefined);
  const isDatabase = (path: string) => /\.(?:sqlite|db)(?:-wal)?$/i.test(path);
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const flush = () => {
    const files = [...changed];
    changed.clear();
    running = running.then(async () => {
      try {
        onImport?.(await importTranscripts(engine, files, { ...rest, signal, waitForReply: true }));
      } catch (error) {
        if (!signal.aborted) onError?.(error);
      }
    });
  };
  const note = (path: string) => {
    const home = homes.find((folder) => resolve(path).startsWith(`${resolve(folder)}${sep}`));
    const database = paths.find((named) => `${named}-wal` === path);
    if (home === undefined && database === undefined && isDatabase(path) && !paths.includes(path)) return;
    changed.add(home ?? database ?? path);
    clearTimeout(timer);
    timer = setTimeout(flush, debounceMs);
  };
  watcher
    .on("add", note)
    .on("change", note)
    .on("ready", () => onReady?.())
    .on("error", (error) => onError?.(error));
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  clearTimeout(timer);
  await watcher.close();
  await running;
}
