import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { importedWorkspace, importedWorkspaces, type LoadedConfig } from "../../config/index.ts";
import type { Store } from "../../store/index.ts";
import { type CorpusFolder, createNotesFolder, includeDefault, isSkipped } from "./folders.ts";
import { type CorpusText, type ReadRequest, readCorpus } from "./read.ts";
import { type SyncOptions, type SyncResult, syncCorpus } from "./sync.ts";

/** The configured notes and folders on disk. */
export interface CorpusService {
  sync(options?: SyncOptions): Promise<SyncResult>;
  read(path: string, request?: CorpusReadRequest): Promise<CorpusText>;
  /** Reads changed files before a search, for a limited time; returns a note for the answer when some were not read. */
  refresh(signal?: AbortSignal): Promise<string | undefined>;
  /** Reads files as they change, until the signal is aborted. */
  follow(signal: AbortSignal, onError: (error: unknown) => void): Promise<void>;
}

export interface CorpusReadRequest extends ReadRequest {
  agent?: string;
}

/** Without a watcher, a search lists the files again after this long. */
const rescanMs = 1_000;
/** The longest a search waits for files to be read. */
const refreshMsMax = 3_000;

export function createCorpusService(loaded: LoadedConfig, store: Store, closing: AbortSignal): CorpusService {
  const { search } = loaded.config;
  // An import may add a workspace at any time.
  let folders = resolveFolders(loaded);
  const listFolders = () => {
    folders = resolveFolders(loaded);
    return folders;
  };
  const chunks = { tokens: search.chunkTokens, overlap: Math.min(search.chunkOverlap, search.chunkTokens / 2) };
  let running: Promise<unknown> = Promise.resolve();
  let isDirty = true;
  let isWatched = false;
  let readAt = Number.NEGATIVE_INFINITY;
  const sync = (options: SyncOptions = {}): Promise<SyncResult> => {
    const signal = options.signal ? AbortSignal.any([options.signal, closing]) : closing;
    // One at a time: two at once would read the same files twice.
    const next = running.then(async () => {
      isDirty = false;
      try {
        const result = await syncCorpus(store, listFolders(), chunks, { ...options, signal });
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
        listFolders().filter((folder) => folder.agent === agent),
        path,
        request,
      ),
    async refresh(signal) {
      const isOld = !isWatched && performance.now() - readAt >= rescanMs;
      if (!(isDirty || isOld) || listFolders().length === 0) return undefined;
      try {
        const { status } = await sync({ signal, msMax: refreshMsMax });
        return status === "done" ? undefined : "some files are not indexed yet; run `varve index` to read them all";
      } catch (error) {
        if (signal?.aborted) throw error;
        return `the corpus files could not be read (${error instanceof Error ? error.message : String(error)})`;
      }
    },
    async follow(signal, onError) {
      if (folders.length === 0 || signal.aborted) return;
      const places = folders.flatMap(({ root, entries }) => entries?.map((entry) => join(root, entry)) ?? [root]);
      // Loaded on demand: most gateways have nothing to watch.
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
        // Without the watcher, searches list the files themselves again.
        isWatched = false;
        onError(error);
      });
      watcher.on("ready", () => {
        isWatched = true;
        // Reads files that changed before the watcher was ready.
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

/** Notes that were imported from another program's workspace: those of an agent that has notes already get a name. */
function findImportedNotes(home: string, agents: ReadonlySet<string>): CorpusFolder[] {
  const folder = importedWorkspaces(home);
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name: agent }) => {
      const notes = createNotesFolder(agent, importedWorkspace(home, agent));
      return agents.has(agent) ? { ...notes, name: "imported" } : notes;
    });
}

/** Notes belong to the default agent, a folder to the agent in its settings. */
function resolveFolders({ config, home }: LoadedConfig): CorpusFolder[] {
  const { workspace, corpus } = config.search;
  const withNotes = new Set(workspace === undefined ? [] : [config.agent]);
  return [
    ...findImportedNotes(home, withNotes),
    ...(workspace === undefined ? [] : [createNotesFolder(config.agent, workspace)]),
    ...corpus.map(({ name, path, include = [...includeDefault], agent = config.agent }) => ({
      agent,
      name,
      root: path,
      include,
    })),
  ];
}
