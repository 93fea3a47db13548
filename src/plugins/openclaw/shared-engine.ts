import { AsyncLocalStorage } from "node:async_hooks";
import { openVarve, type Summariser, type Varve, version } from "../../index.ts";
import type { HostCompletion, HostSdk } from "./host-types.ts";
import type { PluginSettings } from "./plugin-settings.ts";
import { readPluginState, writePluginState } from "./plugin-state.ts";

/** The state that all copies of the plugin in one process share. OpenClaw loads its module several times. */
interface SharedState {
  engine?: Promise<Varve>;
  /** The settings that the engine was opened with. */
  settings?: string;
  /** Loads OpenClaw's functions; set by the entry of the plugin. */
  loadSdk?: () => Promise<HostSdk>;
  /** The model call of the maintenance that runs now. */
  completion: AsyncLocalStorage<HostCompletion>;
  /** The sessions that started sub-agents, and their grants, by the key of the sub-agent. */
  subagents: Map<string, Subagent>;
  /** The share of its budget that a session's view may take, after a provider refused a longer one. */
  viewShares: Map<string, number>;
  /** The share of its budget that the last view of a session took. */
  viewSizes: Map<string, number>;
  /** Whether the last turn had to do without Varve. */
  hasFailed: boolean;
  /** Imports of one transcript run one after another. */
  imports: Map<string, Promise<unknown>>;
}

export interface Subagent {
  parentKey: string;
  agent: string;
  grant?: string;
}

const name = Symbol.for("varve.openclaw");
const summariserId = "openclaw";

export function getSharedState(): SharedState {
  const holder = globalThis as { [name]?: SharedState };
  holder[name] ??= {
    completion: new AsyncLocalStorage(),
    subagents: new Map(),
    viewShares: new Map(),
    viewSizes: new Map(),
    hasFailed: false,
    imports: new Map(),
  };
  return holder[name];
}

/** Opens the engine, once for the process. An engine that could not be opened is tried again by the next call. */
export function openSharedEngine(settings: PluginSettings): Promise<Varve> {
  const shared = getSharedState();
  const wanted = JSON.stringify(settings);
  if (shared.engine !== undefined && shared.settings === wanted) return shared.engine;
  const previous = shared.engine;
  const engine = open(settings, previous);
  shared.settings = wanted;
  shared.engine = engine;
  engine.catch(() => {
    if (shared.engine === engine) shared.engine = undefined;
  });
  return engine;
}

async function open({ home, database, summaries }: PluginSettings, previous: Promise<Varve> | undefined) {
  const before = await previous?.catch(() => undefined);
  await before?.close();
  const varve = await openVarve({
    ...(home === undefined ? {} : { home }),
    ...(database === undefined ? {} : { database }),
    summarisers: { [summariserId]: summariseWithHost },
    ...(summaries === "host" ? { config: { context: { summariser: summariserId } } } : {}),
  });
  writePluginState(varve.settings.home, { pid: process.pid, version, openedAt: Date.now() });
  return varve;
}

/** Records for `varve doctor` that a turn had to do without Varve, or, without a text, that turns are stored again. */
export function recordFailure({ settings: { home } }: Varve, text: string | undefined): void {
  const shared = getSharedState();
  if (text === undefined && !shared.hasFailed) return;
  shared.hasFailed = text !== undefined;
  const time = Date.now();
  const openedAt = readPluginState(home)?.openedAt ?? time;
  writePluginState(home, {
    pid: process.pid,
    version,
    openedAt,
    ...(text === undefined ? {} : { failure: { time, text } }),
  });
}

/** Closes the engine when OpenClaw stops. */
export async function closeSharedEngine(): Promise<void> {
  const shared = getSharedState();
  const { engine } = shared;
  shared.engine = undefined;
  const varve = await engine?.catch(() => undefined);
  await varve?.close();
}

/** Writes a summary with the model of the OpenClaw session. Outside of a maintenance there is none: the text is empty. */
const summariseWithHost: Summariser = async ({ system, user, targetTokens, signal }) => {
  const complete = getSharedState().completion.getStore();
  if (complete === undefined) return "";
  const { text } = await complete({
    messages: [{ role: "user", content: user }],
    systemPrompt: system,
    maxTokens: Math.max(512, targetTokens * 2),
    temperature: 0.2,
    purpose: "varve-summary",
    signal,
  });
  return text;
};
