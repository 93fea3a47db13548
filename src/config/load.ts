import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { type Environment, readEnvLayer } from "./env-layer.ts";
import { explainFaults, getValue } from "./explain.ts";
import { type ConfigFault, type ConfigSource, configError, printFault, printSource } from "./faults.ts";
import { parseFileLayer, readConfigFile } from "./file-layer.ts";
import { type ConfigLayer, createOptionLayer, setValue } from "./layer.ts";
import { applyMoves } from "./moved-settings.ts";
import { type Config, type ConfigInput, configSchema, parseOnce } from "./schema.ts";
import { settings } from "./settings.ts";

export interface LoadOptions {
  /** The home folder; default `VARVE_HOME`, or `~/.varve`. */
  home?: string;
  env?: Environment;
  /** Values set by the program; they take precedence over environment, file and defaults. */
  overrides?: ConfigInput;
}

export interface LoadedConfig {
  home: string;
  /** The path of the settings file, whether or not it exists. */
  file: string;
  config: Config;
  /** The source of each setting's value, by key. */
  sources: ReadonlyMap<string, ConfigSource>;
  /** Unknown variables, and settings that moved or became constants; each with what to do. */
  warnings: readonly string[];
}

/** Loads the settings. Throws `BAD_CONFIG` with all faults of all sources in one message. */
export function loadConfig(options: LoadOptions = {}): LoadedConfig {
  const { home, file, layers } = readLayers(options);
  const faults = collectFaults(layers);
  if (faults.length > 0) {
    throw configError(faults, "Correct them where they are set; `varve config list` shows all settings.");
  }
  const values: Record<string, unknown> = {};
  const sources = new Map<string, ConfigSource>();
  for (const { key, path } of settings) {
    const layer = layers.find((one) => getValue(one.values, path) !== undefined);
    sources.set(key, layer?.findSource(path) ?? { kind: "default" });
    if (layer !== undefined) setValue(values, path, getValue(layer.values, path));
  }
  const config = configSchema.parse(values, parseOnce);
  const database = resolveDatabase(config.database, home, sources.get("database")?.kind);
  const search = resolveFolders(config.search, home);
  const resolved = { ...config, database, search };
  return { home, file, config: resolved, sources, warnings: listWarnings(layers).map(printFault) };
}

/** The folders of notes and files as absolute paths, so that search, memory flush and runners use the same ones. */
function resolveFolders(search: Config["search"], home: string): Config["search"] {
  const toAbsolute = (path: string) => resolve(home, expandTilde(path));
  const corpus = search.corpus.map((folder) => ({ ...folder, path: toAbsolute(folder.path) }));
  return { ...search, corpus, ...(search.workspace === undefined ? {} : { workspace: toAbsolute(search.workspace) }) };
}

/** The faults in the settings of a home folder and, when given, of an environment. */
export function checkConfig(home: string, env: Environment = {}): ConfigFault[] {
  return collectFaults(readLayers({ home, env }).layers);
}

/** The warnings about the settings of a home folder and, when given, of an environment. */
export function findConfigWarnings(home: string, env: Environment = {}): ConfigFault[] {
  return listWarnings(readLayers({ home, env }).layers);
}

/** The faults in the text of a settings file. */
export function checkConfigText(path: string, text: string): ConfigFault[] {
  return collectFaults([applyMoves(parseFileLayer(path, text))]);
}

export function configPath(home: string): string {
  return join(home, "config.yaml");
}

/** The home folder; no setting can change it. */
export function resolveHome(options: Pick<LoadOptions, "home" | "env"> = {}): string {
  const env = options.env ?? process.env;
  return resolve(expandTilde(options.home ?? (env.VARVE_HOME || join(homedir(), ".varve"))));
}

/** All layers, highest precedence first. */
function readLayers(options: LoadOptions): { home: string; file: string; layers: ConfigLayer[] } {
  const env = options.env ?? process.env;
  const home = resolveHome(options);
  const file = configPath(home);
  const text = readConfigFile(file);
  const layers = [createOptionLayer(options.overrides ?? {}), readEnvLayer(env)];
  if (text !== undefined) layers.push(parseFileLayer(file, text));
  return { home, file, layers: layers.map(applyMoves) };
}

/**
 * Checks every layer, even values that a higher layer overrides: the fault would surface when that value is removed.
 */
function collectFaults(layers: readonly ConfigLayer[]): ConfigFault[] {
  return layers.flatMap((layer) => [...layer.faults, ...explainFaults(layer.values, layer.findSource)]);
}

function listWarnings(layers: readonly ConfigLayer[]): ConfigFault[] {
  return layers.flatMap((layer) => layer.warnings);
}

/**
 * A path in the file is relative to the home folder; a path in a variable or option is relative to the current
 * directory.
 */
function resolveDatabase(database: string, home: string, kind: ConfigSource["kind"] | undefined): string {
  if (/^postgres(ql)?:\/\//i.test(database) || database === ":memory:") return database;
  const base = kind === "env" || kind === "option" ? process.cwd() : home;
  return resolve(base, expandTilde(database));
}

function expandTilde(path: string): string {
  return path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path;
}

/** One row of `varve config list`. */
export interface ConfigRow {
  key: string;
  variable: string;
  /** The value to display, with secrets masked. */
  value: unknown;
  /** `env VARVE_X`, `file PATH:LINE`, `option` or `default`. */
  source: string;
  default: unknown;
  description: string;
  /** Whether the setting may contain secrets, which are masked. */
  secret: boolean;
}

export function listConfig({ config, sources }: LoadedConfig): ConfigRow[] {
  return settings.map(({ key, path, variable, description, defaultValue, mask }) => {
    const value = getValue(config, path);
    return {
      key,
      variable,
      value: mask === undefined ? value : mask(value),
      source: printSource(sources.get(key) ?? { kind: "default" }),
      default: defaultValue,
      description,
      secret: mask !== undefined,
    };
  });
}

/** Where backups are written. */
/** Where the notes of imported agents are, one workspace for each. */
export function importedWorkspaces(home: string): string {
  return join(home, "workspaces");
}

export function importedWorkspace(home: string, agent: string): string {
  return join(importedWorkspaces(home), agent);
}

export function backupFolder(home: string): string {
  return join(home, "backups");
}
