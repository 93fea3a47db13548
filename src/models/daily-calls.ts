import { findLastHour, formatDay } from "../domain/index.ts";
import type { DailyCap } from "./generate.ts";
import type { ModelState } from "./model-state.ts";

const longestDayAndHalfMs = 36 * 3_600_000;

/**
 * Counts one call, or starts a pause until midnight when the day's calls are used up. A changed cap takes effect with
 * the next call.
 */
export function admitDailyCall(state: ModelState, now: number, cap: DailyCap): ModelState {
  const { callsMax, timeZone } = cap;
  const isSameDay = formatDay(state.windowStartedAt, timeZone) === formatDay(now, timeZone);
  const used = isSameDay ? state.windowCalls : 0;
  if (used >= callsMax) {
    const pausedBecause = `the ${callsMax} calls a day are used up`;
    return { ...state, pausedUntil: findNextMidnight(now, timeZone), pausedBecause };
  }
  const { pausedBecause: _, ...rest } = state;
  return { ...rest, calls: state.calls + 1, windowStartedAt: now, windowCalls: used + 1, pausedUntil: 0 };
}

function findNextMidnight(now: number, timeZone: string): number {
  return findLastHour(findLastHour(now, 0, timeZone) + longestDayAndHalfMs, 0, timeZone);
}
