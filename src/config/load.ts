import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { type Environment, envLayer } from "./env-layer.ts";
import { explainFaults, valueAt } from "./explain.ts";
import { type ConfigFault, type ConfigSource, configError } from "./faults.ts";
import { fileLayer, readConfigFile } from "./file-layer.ts";
import { type Layer, optionLayer, setAt } from "./layer.ts";
import { type Config, type ConfigInput, configSchema } from "./schema.ts";
import { settings } from "./settings.ts";

export interface LoadOptions {
  /** The folder everything lives in: `VARVE_HOME`, or `~/.varve`, when absent. */
  home?: string;
  env?: Environment;
  /** What the program sets itself: above the environment, the file and the defaults. */
  overrides?: ConfigInput;
}

export interface LoadedConfig {
  home: string;
  /** The settings file, whether or not it is there. */
  file: string;
  config: Config;
  /** Where each setting's value came from, by its key. */
  sources: ReadonlyMap<string, ConfigSource>;
}

/** Reads the settings. Throws `BAD_CONFIG` with every fault of every source in one message. */
export function loadConfig(options: LoadOptions = {}): LoadedConfig {
  const { home, file, layers } = readLayers(options);
  const faults = faultsOf(layers);
  if (faults.length > 0) {
    throw configError(faults, "Correct them where they are set; `varve config list` shows every setting there is.");
  }
  const values: Record<string, unknown> = {};
  const sources = new Map<string, ConfigSource>();
  for (const { key, path } of settings) {
    const layer = layers.find((one) => valueAt(one.values, path) !== undefined);
    sources.set(key, layer?.sourceOf(path) ?? { kind: "default" });
    if (layer !== undefined) setAt(values, path, valueAt(layer.values, path));
  }
  const config = configSchema.parse(values);
  const database = resolveDatabase(config.database, home, sources.get("database")?.kind);
  return { home, file, config: { ...config, database }, sources };
}

/** What is wrong with the settings of a home folder and, when given, of an environment; nothing when all is well. */
export function checkConfig(home: string, env: Environment = {}): ConfigFault[] {
  return faultsOf(readLayers({ home, env }).layers);
}

/** What is wrong with the text of a settings file. */
export function checkConfigText(path: string, text: string): ConfigFault[] {
  return faultsOf([fileLayer(path, text)]);
}

export function configPath(home: string): string {
  return join(home, "config.yaml");
}

/** The home folder: where everything lives, whatever the settings in it say. */
export function resolveHome(options: Pick<LoadOptions, "home" | "env"> = {}): string {
  const env = options.env ?? process.env;
  return resolve(expandTilde(options.home ?? (env.VARVE_HOME || join(homedir(), ".varve"))));
}

/** The layers, the strongest first. */
function readLayers(options: LoadOptions): { home: string; file: string; layers: Layer[] } {
  const env = options.env ?? process.env;
  const home = resolveHome(options);
  const file = configPath(home);
  const text = readConfigFile(file);
  const layers = [optionLayer(options.overrides ?? {}), envLayer(env)];
  if (text !== undefined) layers.push(fileLayer(file, text));
  return { home, file, layers };
}

/** Every layer is checked, also where a stronger one hides it: the day that one goes, the fault would come up. */
function faultsOf(layers: readonly Layer[]): ConfigFault[] {
  return layers.flatMap((layer) => [...layer.faults, ...explainFaults(layer.values, layer.sourceOf)]);
}

/** A path in the file starts at the home folder, one that was typed starts where the typist is. */
function resolveDatabase(database: string, home: string, kind: ConfigSource["kind"] | undefined): string {
  if (/^postgres(ql)?:\/\//i.test(database) || database === ":memory:") return database;
  const base = kind === "env" || kind === "option" ? process.cwd() : home;
  return resolve(base, expandTilde(database));
}

function expandTilde(path: string): string {
  return path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path;
}

/** Where backups are written. */
export function backupFolder(home: string): string {
  return join(home, "backups");
}
