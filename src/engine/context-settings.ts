import type { Config } from "../config/index.ts";
import type { CompactionPolicy } from "../context/index.ts";
import type { Session } from "../session/index.ts";
import { fitsPattern } from "./patterns.ts";

/** What a session's context is governed by, once everything that changes it for this session was looked at. */
export type ContextSettings = Config["context"];

export interface ContextTarget {
  session?: Pick<Session, "key">;
  model?: string;
  windowTokens?: number;
}

/** The settings for one session, model and window: what the overrides that fit it say, later ones first. */
export function contextSettings(config: Config, target: ContextTarget): ContextSettings {
  const base = config.context;
  const windowTokens = target.windowTokens ?? base.windowTokens;
  const fitting = base.overrides.filter(
    (one) =>
      (one.session === undefined || (target.session !== undefined && fitsPattern(target.session.key, one.session))) &&
      (one.model === undefined || (target.model !== undefined && fitsModel(target.model, one.model))) &&
      windowTokens >= (one.minWindowTokens ?? 0) &&
      windowTokens <= (one.maxWindowTokens ?? Number.POSITIVE_INFINITY),
  );
  let settings = base;
  for (const { set } of fitting) {
    const given = Object.fromEntries(Object.entries(set).filter(([, value]) => value !== undefined));
    settings = { ...settings, ...given };
  }
  return target.windowTokens === undefined ? settings : { ...settings, windowTokens: target.windowTokens };
}

function fitsModel(model: string, pattern: string): boolean {
  return fitsPattern(model, pattern.replaceAll(/\*+/g, "**"));
}

/** Whether anything may be compacted for a session, and why not when it may not. */
export function mayCompact(config: Config, session: Pick<Session, "key">): { may: boolean; because?: string } {
  const { context } = config;
  if (!contextSettings(config, { session }).enabled) return { may: false, because: "context.enabled is false" };
  const fits = (patterns: string[]) => patterns.some((pattern) => fitsPattern(session.key, pattern));
  if (fits(context.ignoreSessionPatterns)) return { may: false, because: "context.ignoreSessionPatterns names it" };
  if (context.skipStatelessSessions && fits(context.statelessSessionPatterns)) {
    return { may: false, because: "context.statelessSessionPatterns names it" };
  }
  return { may: true };
}

export function policyOf(settings: ContextSettings): CompactionPolicy {
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

/** How much of a history that was imported stays message by message. */
export function bootstrapTokens(settings: ContextSettings): number {
  return settings.bootstrapMaxTokens ?? Math.max(6_000, Math.floor(0.3 * settings.leafChunkTokens));
}
