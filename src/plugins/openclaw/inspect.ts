import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { parse } from "jsonc-parser";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/index.ts";
import { readFileIfExists } from "../setup/changes.ts";
import { readPluginState } from "./plugin-state.ts";

export interface OpenclawPlace {
  /** OpenClaw's state folder and its configuration. */
  home: string;
  configFile: string;
  /** Varve's home. */
  varveHome: string;
}

const pluginId = "varve";

/**
 * What keeps Varve from working in OpenClaw: settings that no longer select it, a plugin that was not loaded, turns that
 * wait to be stored, a quarantine. Undefined when Varve is not set up there.
 */
export function inspectOpenclaw({ home, configFile, varveHome }: OpenclawPlace): string[] | undefined {
  const text = readFileIfExists(configFile);
  const config: unknown = text === undefined ? undefined : parse(text, [], { allowTrailingComma: true });
  const plugins = isJsonObject(config) ? config.plugins : undefined;
  if (!isJsonObject(plugins) || readAt(plugins, ["entries", pluginId]) === undefined) return undefined;
  return [...checkSettings(plugins), ...checkLoaded(varveHome), ...listQuarantines(home), ...listPendingTurns(home)];
}

function checkSettings(plugins: JsonObject): string[] {
  const again = "Run `varve setup openclaw` again, and restart OpenClaw's gateway.";
  const faults = ["memory", "contextEngine"].flatMap((slot) => {
    const value = readAt(plugins, ["slots", slot]);
    return value === pluginId ? [] : [`plugins.slots.${slot} is ${JSON.stringify(value ?? null)}, not varve. ${again}`];
  });
  const paths = readAt(plugins, ["load", "paths"]);
  const own = (Array.isArray(paths) ? paths : []).filter(
    (path) => typeof path === "string" && path.endsWith(join("plugins", "openclaw")),
  );
  if (own.length === 0) faults.push(`plugins.load.paths does not name the plugin. ${again}`);
  for (const path of own) if (!existsSync(String(path))) faults.push(`The plugin is not in ${path} any more. ${again}`);
  if (readAt(plugins, ["entries", pluginId, "enabled"]) === false) {
    faults.push("The plugin is disabled in plugins.entries.varve. Run `openclaw plugins enable varve`.");
  }
  return faults;
}

function checkLoaded(varveHome: string): string[] {
  const state = readPluginState(varveHome);
  if (state === undefined) {
    return ["OpenClaw has not run a turn with the plugin yet. Restart its gateway and send a message."];
  }
  if (state.failure === undefined) return [];
  const time = new Date(state.failure.time).toISOString();
  return [`Degraded: at ${time} OpenClaw went on without Varve for a turn: ${state.failure.text}`];
}

/** An engine that failed outside of a turn is not used again until OpenClaw is restarted. */
function listQuarantines(home: string): string[] {
  const file = join(home, "state", "openclaw.sqlite");
  const rows = query<{ value_json: string }>(
    file,
    "plugin_state_entries",
    "select value_json from plugin_state_entries where namespace = 'runtime-quarantines'",
  );
  return rows.flatMap(({ value_json: json }) => {
    const value = parse(json) as JsonValue;
    if (!isJsonObject(value) || value.engineId !== pluginId) return [];
    return [`Quarantined: ${value.operation} failed (${value.reason}). Restart OpenClaw's gateway to use Varve again.`];
  });
}

/** Turns that could not be stored; OpenClaw sends them again before the next turn of their session. */
function listPendingTurns(home: string): string[] {
  const agents = join(home, "agents");
  if (!existsSync(agents)) return [];
  return readdirSync(agents).flatMap((agent) => {
    const [row] = query<{ turns: number; error: string | null }>(
      join(agents, agent, "agent", "openclaw-agent.sqlite"),
      "context_engine_turn_outbox",
      `select count(*) as turns, max(last_error) as error from context_engine_turn_outbox
       where engine_id = '${pluginId}' and last_error is not null`,
    );
    if (row === undefined || row.turns === 0) return [];
    return [`${row.turns} turns of agent ${agent} wait to be stored: ${row.error}. The next message stores them.`];
  });
}

/** The rows of a table of OpenClaw; none where the file or the table does not exist. */
function query<Row>(file: string, table: string, sql: string): Row[] {
  if (!existsSync(file)) return [];
  const db = new Database(file, { readonly: true });
  try {
    const exists = db.prepare("select 1 from sqlite_master where name = ?").get(table) !== undefined;
    return exists ? (db.prepare(sql).all() as Row[]) : [];
  } finally {
    db.close();
  }
}

function readAt(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>((at, name) => (isJsonObject(at) ? at[name] : undefined), value);
}
