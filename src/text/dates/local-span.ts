/**
 * A span of days on the calendar of some place. Its days are numbers as `Date.UTC` gives them for their dates: what they
 * are in time depends on the zone.
 */
export interface LocalSpan {
  from: number;
  /** The day after the last one. */
  to: number;
  unit: SpanUnit;
}

export type SpanUnit = "day" | "week" | "weekend" | "month" | "year";

export const dayMs = 86_400_000;

/** Undefined for a day that no calendar has, such as June 31. */
export function daySpan(year: number, month: number, day: number): LocalSpan | undefined {
  const from = Date.UTC(year, month, day);
  const isReal = day >= 1 && month >= 0 && month <= 11 && new Date(from).getUTCMonth() === month;
  return isReal ? { from, to: from + dayMs, unit: "day" } : undefined;
}

export function monthSpan(year: number, month: number): LocalSpan | undefined {
  if (month < 0 || month > 11) return undefined;
  return { from: Date.UTC(year, month, 1), to: Date.UTC(year, month + 1, 1), unit: "month" };
}

export function yearSpan(year: number): LocalSpan {
  return { from: Date.UTC(year, 0, 1), to: Date.UTC(year + 1, 0, 1), unit: "year" };
}

/** The span that lies some units before or after a day. Weeks begin on Monday. */
export function shiftDay(today: number, unit: SpanUnit, offset: number): LocalSpan {
  const date = new Date(today);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const monday = today - ((date.getUTCDay() + 6) % 7) * dayMs;
  const days = (from: number, count: number): LocalSpan => ({ from, to: from + count * dayMs, unit });
  switch (unit) {
    case "day":
      return days(today + offset * dayMs, 1);
    case "week":
      return days(monday + offset * 7 * dayMs, 7);
    case "weekend":
      // On a Sunday "last weekend" is the one before; "this weekend" is the one of this week.
      return days(monday + (5 + offset * 7) * dayMs, 2);
    case "month":
      return { from: Date.UTC(year, month + offset, 1), to: Date.UTC(year, month + offset + 1, 1), unit };
    case "year":
      return yearSpan(year + offset);
  }
}

/** The nearest such weekday (0 is Sunday) after or before a day, never the day itself. */
export function findWeekday(today: number, index: number, sign: 1 | -1): number {
  const ahead = (index - new Date(today).getUTCDay() + 7) % 7;
  if (sign === 1) return today + (ahead === 0 ? 7 : ahead) * dayMs;
  return today - (ahead === 0 ? 7 : 7 - ahead) * dayMs;
}
