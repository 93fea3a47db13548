import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";
import {
  type CorpusFolder,
  type CorpusText,
  includeDefault,
  isSkipped,
  notesFolder,
  type ReadRequest,
  readCorpus,
  type SyncOptions,
  type SyncResult,
  syncCorpus,
} from "../search/index.ts";
import type { EngineHost } from "./host.ts";

/** Notes and folders on disk, as far as the settings name them. */
export interface Corpus {
  sync(options?: SyncOptions): Promise<SyncResult>;
  read(path: string, request?: CorpusReadRequest): Promise<CorpusText>;
  /** Reads what changed before a search, for a while; what to say when not all of it was read. */
  refresh(signal?: AbortSignal): Promise<string | undefined>;
  /** Reads what changes until the signal says stop. */
  follow(signal: AbortSignal, onError: (error: unknown) => void): Promise<void>;
}

export interface CorpusReadRequest extends ReadRequest {
  agent?: string;
}

/** Without a watcher, a search looks at the disk again after this long. */
const lookAgainMs = 1_000;
/** How long a search waits for files to be read. */
const refreshMsMax = 3_000;

export function corpusOf(host: EngineHost, closing: AbortSignal): Corpus {
  const { loaded } = host;
  const { search } = loaded.config;
  const folders = foldersOf(host);
  const chunks = { tokens: search.chunkTokens, overlap: Math.min(search.chunkOverlap, search.chunkTokens / 2) };
  let running: Promise<unknown> = Promise.resolve();
  let isDirty = true;
  let isWatched = false;
  let readAt = Number.NEGATIVE_INFINITY;
  const sync = (options: SyncOptions = {}): Promise<SyncResult> => {
    const signal = options.signal ? AbortSignal.any([options.signal, closing]) : closing;
    // One after another: two at once would only read the same files twice.
    const next = running.then(async () => {
      isDirty = false;
      try {
        const result = await syncCorpus(host, folders, chunks, { ...options, signal });
        isDirty ||= result.status !== "done";
        readAt = performance.now();
        return result;
      } catch (error) {
        isDirty = true;
        throw error;
      }
    });
    running = next.catch(() => undefined);
    return next;
  };
  return {
    sync,
    read: (path, { agent = loaded.config.agent, ...request } = {}) =>
      readCorpus(
        folders.filter((folder) => folder.agent === agent),
        path,
        request,
      ),
    async refresh(signal) {
      const isOld = !isWatched && performance.now() - readAt >= lookAgainMs;
      if (folders.length === 0 || !(isDirty || isOld)) return undefined;
      try {
        const { status } = await sync({ signal, msMax: refreshMsMax });
        return status === "done" ? undefined : "not all files were read yet: `varve index` reads them";
      } catch (error) {
        if (signal?.aborted) throw error;
        return `the files could not be read (${error instanceof Error ? error.message : String(error)})`;
      }
    },
    async follow(signal, onError) {
      if (folders.length === 0 || signal.aborted) return;
      const places = folders.flatMap(({ root, entries }) => entries?.map((entry) => join(root, entry)) ?? [root]);
      // Loaded when there is something to watch: most gateways have nothing.
      const { watch } = await import("chokidar");
      const watcher = watch(places, {
        ignoreInitial: true,
        followSymlinks: false,
        ignored: (path) => !places.includes(path) && isSkipped(basename(path)),
      });
      let timer: NodeJS.Timeout | undefined;
      const read = () =>
        void sync({ signal }).catch((error: unknown) => {
          if (!signal.aborted) onError(error);
        });
      const note = () => {
        isDirty = true;
        clearTimeout(timer);
        timer = setTimeout(read, search.watchDebounceMs);
      };
      for (const event of ["add", "change", "unlink", "unlinkDir"] as const) watcher.on(event, note);
      watcher.on("error", (error) => {
        // From here on a search looks for itself again.
        isWatched = false;
        onError(error);
      });
      watcher.on("ready", () => {
        isWatched = true;
        // What changed while the watcher was set up, and what changed while nobody watched.
        read();
      });
      await new Promise<void>((done) => signal.addEventListener("abort", () => done(), { once: true }));
      clearTimeout(timer);
      isWatched = false;
      await watcher.close();
      await running;
    },
  };
}

/** The notes belong to the agent of the settings; a folder to whom its entry names. */
function foldersOf({ loaded: { config, home } }: EngineHost): CorpusFolder[] {
  const { workspace, corpus } = config.search;
  const placeOf = (path: string) =>
    resolve(home, path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path);
  return [
    ...(workspace === undefined ? [] : [notesFolder(config.agent, placeOf(workspace))]),
    ...corpus.map(({ name, path, include = [...includeDefault], agent = config.agent }) => ({
      agent,
      name,
      root: placeOf(path),
      include,
    })),
  ];
}
