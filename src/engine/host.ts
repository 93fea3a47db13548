import type { LoadedConfig } from "../config/index.ts";
import type { Generate } from "../context/index.ts";
import type { Clock, Random } from "../domain/index.ts";
import type { Embedder } from "../models/index.ts";
import type { SessionSettings } from "../session/index.ts";
import type { Store } from "../store/index.ts";

/** What the parts of the engine share. */
export interface EngineHost {
  loaded: LoadedConfig;
  store: Store;
  clock: Clock;
  random: Random;
  models: Models;
}

/** The models a program brings along, by what they are for. Where one is missing, what is built in does the work. */
export interface Models {
  /** Writes summaries. */
  summary?: Generate;
  /** Makes vectors, in place of the model that comes with the package. */
  embedder?: Embedder;
}

export function sessionSettings({ config }: LoadedConfig): SessionSettings {
  const { session } = config;
  return {
    agent: config.agent,
    timezone: config.timezone,
    dmScope: session.dmScope,
    mainKey: session.mainKey,
    identityLinks: session.identityLinks,
    reset: session.reset,
    resetByType: session.resetByType,
    resetByChannel: session.resetByChannel,
    resetTriggers: session.resetTriggers,
  };
}
