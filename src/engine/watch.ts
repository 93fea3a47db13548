import { watch } from "chokidar";
import type { ImportReport } from "../transcript/index.ts";
import type { EngineHost } from "./host.ts";
import { type ImportRequest, importInto } from "./imports.ts";

export interface WatchRequest extends Omit<ImportRequest, "onProgress"> {
  signal: AbortSignal;
  onImport?(report: ImportReport): void;
  onError?(error: unknown): void;
}

/** A file that is being written changes many times a second; one import after it rests is enough. */
const debounceMs = 300;

export async function watchPaths(host: EngineHost, paths: string[], request: WatchRequest): Promise<void> {
  const { signal, onImport, onError, ...rest } = request;
  if (signal.aborted) return;
  const watcher = watch(paths, {
    ignoreInitial: true,
    ignored: (path, stats) => stats?.isFile() === true && !/\.jsonl?$/i.test(path),
  });
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const flush = () => {
    const files = [...changed];
    changed.clear();
    running = running.then(async () => {
      try {
        onImport?.(await importInto(host, files, { ...rest, signal }));
      } catch (error) {
        if (!signal.aborted) onError?.(error);
      }
    });
  };
  const note = (path: string) => {
    changed.add(path);
    clearTimeout(timer);
    timer = setTimeout(flush, debounceMs);
  };
  watcher
    .on("add", note)
    .on("change", note)
    .on("error", (error) => onError?.(error));
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  clearTimeout(timer);
  await watcher.close();
  await running;
}
