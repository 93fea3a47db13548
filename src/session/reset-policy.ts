import { findLastHour, getOwn, type ResetType } from "../domain/index.ts";

/**
 * When a session expires. `both`: at the earlier of the two. `auto`: after inactivity for sessions of a chat channel,
 * never for others: a coding session that is opened again next week is the same session.
 */
export interface ResetRule {
  mode: "auto" | "none" | "daily" | "idle" | "both";
  atHour: number;
  idleMinutes: number;
}

export interface ResetSettings {
  reset: ResetRule;
  resetByType: Partial<Record<ResetType, Partial<ResetRule>>>;
  resetByChannel: Record<string, Partial<ResetRule>>;
  timezone: string;
}

/** The rule for a session: its channel's, else its type's, else the default. `fromChat`: a chat channel speaks. */
export function ruleFor(
  settings: ResetSettings,
  type: ResetType,
  channel: string | undefined,
  fromChat: boolean,
): ResetRule {
  const special =
    (channel === undefined ? undefined : getOwn(settings.resetByChannel, channel)) ?? settings.resetByType[type];
  const rule = { ...settings.reset, ...special };
  return rule.mode === "auto" ? { ...rule, mode: fromChat ? "idle" : "none" } : rule;
}

export interface SessionClocks {
  sessionStartedAt: number;
  lastInteractionAt: number;
}

/** Why a session has expired at `now`; undefined when it has not. */
export function expiry(
  rule: ResetRule,
  clocks: SessionClocks,
  now: number,
  timezone: string,
): "daily" | "idle" | undefined {
  const daily =
    rule.mode === "daily" || rule.mode === "both" ? findLastHour(now, rule.atHour, timezone) : Number.NEGATIVE_INFINITY;
  const dailyExpired = clocks.sessionStartedAt < daily;
  const idleAt = clocks.lastInteractionAt + rule.idleMinutes * 60_000;
  const idleExpired = (rule.mode === "idle" || rule.mode === "both") && now >= idleAt;
  if (dailyExpired && idleExpired) return idleAt < daily ? "idle" : "daily";
  if (dailyExpired) return "daily";
  return idleExpired ? "idle" : undefined;
}

export interface Trigger {
  kind: "new" | "reset";
  /** The text after the trigger: the first message of the new session. */
  rest: string;
}

/** Whether a message asks for a new session. Triggers are whole words, in any case. */
export function findTrigger(text: string, triggers: string[]): Trigger | undefined {
  const trimmed = text.trim();
  for (const trigger of triggers) {
    const word = trigger.toLowerCase();
    const start = trimmed.slice(0, word.length).toLowerCase();
    const behind = trimmed.slice(word.length);
    if (start !== word || (behind !== "" && !/^\s/.test(behind))) continue;
    return { kind: word.endsWith("reset") ? "reset" : "new", rest: behind.trim() };
  }
  return undefined;
}
