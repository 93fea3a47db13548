import type { Config } from "../config/index.ts";
import { getChatType, newId, parseSessionKey } from "../domain/index.ts";
import { admissionPresets, type ExtractOptions, type MemoryHost, type Reader, writeScope } from "../memory/index.ts";
import type { Session } from "../session/index.ts";
import type { NewJob } from "../store/index.ts";
import type { EngineHost } from "./host.ts";
import { fitsPattern } from "./patterns.ts";

export function memoryHost(host: EngineHost): MemoryHost {
  const { store, clock, random, models, memoryShelf } = host;
  return {
    store,
    clock,
    random,
    timeZone: host.loaded.config.timezone,
    ...(models.memory ? { generate: models.memory } : {}),
    ...(memoryShelf ? { shelf: memoryShelf } : {}),
  };
}

/** Who asks: an agent with the scopes of the settings, unless the caller is bound to others. */
export function readerOf(config: Config, asked: Partial<Reader> = {}): Reader {
  const agent = asked.agent ?? config.agent;
  const scopes = asked.scopes ?? config.memory.agentScopes[agent];
  return { agent, ...(scopes === undefined ? {} : { scopes }), ...(asked.system ? { system: true } : {}) };
}

/** Whether memories are drawn from a session: sessions that are left alone are left alone here too. */
export function mayExtract(config: Config, session: Pick<Session, "key">): boolean {
  const { context, memory } = config;
  const fits = (patterns: string[]) => patterns.some((pattern) => fitsPattern(session.key, pattern));
  if (!memory.extract || fits(context.ignoreSessionPatterns)) return false;
  return !(context.skipStatelessSessions && fits(context.statelessSessionPatterns));
}

export function extractOptions(
  config: Config,
  ref: ExtractOptions["ref"],
  { key, all }: { key: string; all: boolean },
): Omit<ExtractOptions, "signal"> | undefined {
  const { memory } = config;
  const reader = readerOf(config, { agent: ref.agent });
  // An agent that may write nowhere remembers nothing; that is a setting, not a failure.
  if (reader.scopes?.length === 0) return undefined;
  const scope = writeScope(reader);
  return {
    ref,
    scope,
    policy: memory.extractionByScope[scope] ?? "full",
    everyMessages: memory.extractEveryMessages,
    userTrust: getChatType(parseSessionKey(key)) === "direct" ? "owner" : "untrusted",
    all,
    ...(memory.admission === "off" ? {} : { admission: admissionPresets[memory.admission] }),
    budget: budgetOf(config),
  };
}

export function budgetOf({ memory }: Config): ExtractOptions["budget"] {
  return { callsPerHour: memory.callsPerHour, tokensPerDay: memory.tokensPerDay };
}

/** Several turns make one job: the key is the session's. */
export function extractJob(
  host: EngineHost,
  session: Pick<Session, "agent" | "key">,
  because: "turn" | "compaction",
): NewJob {
  const { agent, key } = session;
  return {
    agent,
    id: newId(host.clock, host.random),
    kind: because === "turn" ? "extract memories" : "extract all memories",
    key,
    payload: JSON.stringify({ because }),
    runAt: host.clock.now(),
  };
}
