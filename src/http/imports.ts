/** Imports that the gateway runs: files that a browser uploaded, or a folder on this machine. */
import { mkdirSync, realpathSync, rmSync } from "node:fs";
import { appendFile, mkdir, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, isAbsolute, join, relative, resolve } from "node:path";
import { type Clock, newId, type Random, VarveError } from "../domain/index.ts";
import type { ImportProgress, ImportReport, Varve } from "../index.ts";
import type { EventBus } from "./events.ts";

export interface ImportState {
  id: string;
  /** A description of the import for people: a folder, or the names of files. */
  label: string;
  state: "running" | "done" | "failed" | "stopped";
  startedAt: number;
  endedAt?: number;
  progress?: ImportProgress;
  report?: Pick<
    ImportReport,
    "files" | "sessions" | "imported" | "duplicates" | "quarantined" | "seconds" | "skipped" | "broken" | "remarks"
  >;
  error?: string;
}

export interface Imports {
  list(): ImportState[];
  /** Starts to import a folder or file of this machine, within `import.folders`. */
  startFolder(path: string, options: ImportOptions): ImportState;
  openUpload(): { id: string };
  /** Appends bytes to a file of an upload. `offset` must be what has arrived, so that a repeated part is not doubled. */
  addBytes(upload: string, file: { index: number; name: string; offset: number }, bytes: Uint8Array): Promise<void>;
  startUpload(upload: string, options: ImportOptions): ImportState;
  stop(id: string): ImportState;
  close(): Promise<void>;
}

interface ImportOptions {
  agent?: string;
  source?: string;
}

interface RunningImport {
  state: ImportState;
  abort: AbortController;
  done: Promise<void>;
}

const keptMax = 20;
const uploadsMax = 10;
const progressMs = 250;
const listedMax = 100;

interface ImportsOptions {
  varve: Varve;
  bus: EventBus;
  clock: Clock;
  random: Random;
}

export function createImports({ varve, bus, clock, random }: ImportsOptions): Imports {
  const imports: RunningImport[] = [];
  const uploads = new Map<string, { folder: string; names: Map<number, string> }>();
  const uploadFolder = join(varve.settings.home, "uploads");

  const start = (label: string, paths: string[], { agent, source }: ImportOptions, end: () => void): ImportState => {
    const state: ImportState = { id: newId(clock, random), label, state: "running", startedAt: clock.now() };
    const abort = new AbortController();
    const publish = (type: "import.progress" | "import.ended"): void => {
      bus.publish({ type, agent: agent ?? varve.settings.config.agent, key: state.id, data: { ...state } });
    };
    let published = 0;
    const onProgress = (progress: ImportProgress): void => {
      state.progress = { ...progress, file: basename(progress.file) };
      if (clock.now() - published < progressMs) return;
      published = clock.now();
      publish("import.progress");
    };
    const request = { agent, source: source as "auto" | undefined, signal: abort.signal, onProgress };
    const done = varve
      .import(paths, request)
      .then(
        (report) => {
          state.report = selectReport(report);
          state.state = "done";
        },
        (error: unknown) => {
          state.state = abort.signal.aborted ? "stopped" : "failed";
          if (!abort.signal.aborted) state.error = explain(error);
        },
      )
      .then(() => {
        state.endedAt = clock.now();
        end();
        publish("import.ended");
      });
    imports.unshift({ state, abort, done });
    imports.splice(keptMax);
    publish("import.progress");
    return state;
  };
  const findUpload = (id: string) => {
    const upload = uploads.get(id);
    if (upload) return upload;
    throw new VarveError("NOT_FOUND", `There is no upload ${JSON.stringify(id.slice(0, 80))}.`, {
      remedy: "Open one with POST /api/imports/uploads; it ends when its import starts or the gateway stops.",
    });
  };
  return {
    list: () => imports.map(({ state }) => state),
    startFolder: (path, options) => {
      const real = requireAllowed(path, varve.settings.config.import.folders);
      return start(real, [real], options, () => undefined);
    },
    openUpload() {
      if (uploads.size >= uploadsMax) {
        throw new VarveError("RATE_LIMITED", `There are ${uploads.size} unfinished uploads already.`, {
          remedy: "Start their imports first, or start the gateway again to discard them.",
        });
      }
      const id = newId(clock, random);
      const folder = join(uploadFolder, id);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      uploads.set(id, { folder, names: new Map() });
      return { id };
    },
    async addBytes(id, { index, name, offset }, bytes) {
      const upload = findUpload(id);
      const safe = basename(name.replaceAll("\\", "/")).replaceAll(/\p{Cc}/gu, "_") || "file";
      const folder = join(upload.folder, String(index));
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const path = join(folder, upload.names.get(index) ?? safe);
      upload.names.set(index, upload.names.get(index) ?? safe);
      const size = (await stat(path).catch(() => undefined))?.size ?? 0;
      if (size !== offset) {
        throw new VarveError("CONFLICT", `${size} bytes of ${safe} have arrived, not ${offset}.`, {
          remedy: `Continue at the offset ${size}.`,
          details: { offset: size },
        });
      }
      await appendFile(path, bytes, { mode: 0o600 });
    },
    startUpload(id, options) {
      const upload = findUpload(id);
      const names = [...upload.names.values()];
      if (names.length === 0) {
        throw new VarveError("BAD_REQUEST", "The upload has no files.", { remedy: "Send their bytes first." });
      }
      uploads.delete(id);
      const more = names.length > 3 ? ` and ${names.length - 3} more` : "";
      // The log has everything that was in the files; what could not be read is in quarantine.
      const clear = (): void => rmSync(upload.folder, { recursive: true, force: true });
      return start(names.slice(0, 3).join(", ") + more, [upload.folder], options, clear);
    },
    stop(id) {
      const found = imports.find(({ state }) => state.id === id);
      if (!found) {
        throw new VarveError("NOT_FOUND", `There is no import ${JSON.stringify(id.slice(0, 80))}.`, {
          remedy: "GET /api/imports lists them.",
        });
      }
      found.abort.abort();
      return found.state;
    },
    async close() {
      for (const { abort } of imports) abort.abort();
      await Promise.all(imports.map(({ done }) => done));
      rmSync(uploadFolder, { recursive: true, force: true });
    },
  };
}

/** The real path, when it is within one of the folders; links out of them are refused. */
function requireAllowed(path: string, folders: readonly string[]): string {
  const given = path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path;
  const allowed = folders.length === 0 ? [homedir()] : folders;
  const real = findReal(resolve(given));
  if (real === undefined) {
    throw new VarveError("NOT_FOUND", `There is no folder or file ${given} on the machine of the gateway.`, {
      remedy: "Name a folder by its full path.",
    });
  }
  const isInside = allowed.some((folder) => {
    const base = findReal(resolve(folder.replace(/^~(?=$|\/)/, homedir())));
    if (base === undefined) return false;
    const rest = relative(base, real);
    return rest === "" || (!rest.startsWith("..") && !isAbsolute(rest));
  });
  if (isInside) return real;
  throw new VarveError("FORBIDDEN", `${given} is outside the folders that may be imported: ${allowed.join(", ")}.`, {
    remedy: "Add the folder to the setting import.folders, or use `varve import`.",
  });
}

function findReal(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (error) {
    if (error instanceof Error && "code" in error) return undefined;
    throw error;
  }
}

function selectReport(report: ImportReport): ImportState["report"] {
  const { files, sessions, imported, duplicates, quarantined, seconds, remarks } = report;
  const broken = report.broken.slice(0, listedMax).map((one) => ({ ...one, path: basename(one.path) }));
  const skipped = report.skipped.slice(0, listedMax).map((path) => basename(path));
  return { files, sessions, imported, duplicates, quarantined, seconds, skipped, broken, remarks };
}

function explain(error: unknown): string {
  if (error instanceof VarveError) return [error.message, error.remedy].filter(Boolean).join(" ");
  return error instanceof Error ? error.message : String(error);
}
