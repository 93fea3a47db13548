import { mkdirSync } from "node:fs";
import type { FSWatcher } from "chokidar";

export interface MirrorFollower {
  /** Synchronises soon: a memory was forgotten, which writes no version. */
  notify(): void;
  /** Waits for a running synchronisation. */
  stop(): Promise<void>;
}

export interface FollowOptions {
  folder: string;
  /** Reads back edits and writes what changed. */
  sync(): Promise<unknown>;
  /** The number of the newest version of any memory: it grows with every change that any process makes. */
  readLast(): Promise<number>;
  debounceMs: number;
  /** How often the store is checked for changes. */
  intervalMs: number;
  onError(error: unknown): void;
}

/** Synchronises a mirror when a file in its folder is edited, and when memories change in the store. */
export function followMirror(options: FollowOptions): MirrorFollower {
  const { folder, sync, readLast, debounceMs, intervalMs, onError } = options;
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  let last = -1;
  let isStopped = false;
  const run = () => {
    running = running.then(async () => {
      if (isStopped) return;
      try {
        last = await readLast();
        await sync();
      } catch (error) {
        onError(error);
      }
    });
  };
  const schedule = () => {
    if (isStopped) return;
    clearTimeout(timer);
    timer = setTimeout(run, debounceMs);
  };
  const check = async () => {
    if (!isStopped && (await readLast()) !== last) schedule();
  };
  const poll = setInterval(() => void check().catch(onError), intervalMs);
  poll.unref();
  let watcher: FSWatcher | undefined;
  const startWatching = async () => {
    // Loaded on demand: most stores have no mirror.
    const { watch } = await import("chokidar");
    if (isStopped) return;
    // A folder that is made later would not be watched.
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    watcher = watch(folder, {
      ignoreInitial: true,
      followSymlinks: false,
      depth: 0,
      ignored: (path) => path !== folder && !path.endsWith(".md"),
    });
    for (const event of ["add", "change", "unlink"] as const) watcher.on(event, schedule);
    watcher.on("error", onError);
    // Reads edits that were made before the watcher was ready.
    watcher.on("ready", run);
  };
  const starting = startWatching().catch(onError);
  return {
    notify: schedule,
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      clearInterval(poll);
      await starting;
      await watcher?.close();
      await running;
    },
  };
}
