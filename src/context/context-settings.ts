import type { Config } from "../config/index.ts";
import { matchesPattern } from "../domain/index.ts";
import type { Session } from "../session/index.ts";
import type { CompactionPolicy } from "./compaction/policy.ts";

/** The context settings of one session, with the overrides that match it applied. */
export type ContextSettings = Config["context"];

export interface ContextTarget {
  session?: Pick<Session, "key">;
  model?: string;
  windowTokens?: number;
}

/** The settings for one session, model and window. Matching overrides are applied in order: later ones win. */
export function contextSettings(config: Config, target: ContextTarget): ContextSettings {
  const base = config.context;
  const windowTokens = target.windowTokens ?? base.windowTokens;
  const matching = base.overrides.filter(
    (one) =>
      (one.session === undefined ||
        (target.session !== undefined && matchesPattern(target.session.key, one.session))) &&
      (one.model === undefined || (target.model !== undefined && matchesModel(target.model, one.model))) &&
      windowTokens >= (one.minWindowTokens ?? 0) &&
      windowTokens <= (one.maxWindowTokens ?? Number.POSITIVE_INFINITY),
  );
  let settings = base;
  for (const { set } of matching) {
    const given = Object.fromEntries(Object.entries(set).filter(([, value]) => value !== undefined));
    settings = { ...settings, ...given };
  }
  return target.windowTokens === undefined ? settings : { ...settings, windowTokens: target.windowTokens };
}

function matchesModel(model: string, pattern: string): boolean {
  return matchesPattern(model, pattern.replaceAll(/\*+/g, "**"));
}

/** Whether a session may be compacted: the settings may exclude it. */
export function canCompact(config: Config, session: Pick<Session, "key">): boolean {
  const { context } = config;
  if (!contextSettings(config, { session }).enabled) return false;
  const matches = (patterns: string[]) => patterns.some((pattern) => matchesPattern(session.key, pattern));
  if (matches(context.ignoreSessionPatterns)) return false;
  return !(context.skipStatelessSessions && matches(context.statelessSessionPatterns));
}

export function createPolicy(settings: ContextSettings): CompactionPolicy {
  const { freshTailMaxTokens } = settings;
  return {
    contextThreshold: settings.contextThreshold,
    reserveTokens: settings.reserveTokens,
    freshTailCount: settings.freshTailCount,
    ...(freshTailMaxTokens === undefined ? {} : { freshTailMaxTokens }),
    tailHoldsNewestUser: true,
    leafChunkTokens: settings.leafChunkTokens,
    leafMinFanout: settings.leafMinFanout,
    condensedMinFanout: settings.condensedMinFanout,
    condensedMinFanoutHard: settings.condensedMinFanoutHard,
    incrementalMaxDepth: settings.incrementalMaxDepth,
    keepRecentTokens: settings.keepRecentTokens,
  };
}

/** How many tokens of an imported history stay message by message. */
export function bootstrapTokens(settings: ContextSettings): number {
  return settings.bootstrapMaxTokens ?? Math.max(6_000, Math.floor(0.3 * settings.leafChunkTokens));
}

/** The tokens of a window that the prompt may take. */
export function promptBudget({ windowTokens, reserveTokens }: ContextSettings): number {
  return windowTokens - Math.min(reserveTokens, Math.floor(windowTokens / 4));
}
