import type { LoadedConfig } from "../config/index.ts";
import type { FindPassages } from "../context/index.ts";
import type { Clock, Random } from "../domain/index.ts";
import type { AccessCounter, MemoryVectorCache, RecalledNote } from "../memory/index.ts";
import type { SessionSettings } from "../session/index.ts";
import type { Store } from "../store/index.ts";
import type { EngineEvent } from "./events.ts";
import type { ModelNotes } from "./model-notes.ts";
import type { Models } from "./models.ts";

export interface NotesRequest {
  agent: string;
  prompt: string;
  limit: number;
}

/** What the parts of the engine share. */
export interface EngineHost {
  loaded: LoadedConfig;
  store: Store;
  clock: Clock;
  random: Random;
  models: Models;
  /** Counts what models were asked in turns. */
  readonly modelNotes: ModelNotes;
  /** Content above this many tokens is stored beside its message. */
  largeContentTokens: number;
  /** The vectors of memories; words alone are compared where it is absent. */
  memoryShelf?: MemoryVectorCache;
  /** Counts how often memories are used. */
  accesses: AccessCounter;
  /** What was said about a question, the most fitting first. */
  find: FindPassages;
  /** The parts of notes and files that a prompt is about. */
  notes(request: NotesRequest): Promise<RecalledNote[]>;
  emit(event: EngineEvent): void;
  /** There is work in the queue: whoever works in this process may begin. */
  workSoon(): void;
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
