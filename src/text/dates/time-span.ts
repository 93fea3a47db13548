import { toInstant } from "../../domain/index.ts";
import { toLocalDay } from "./annotate-dates.ts";
import { type FoundDate, findDates } from "./find-dates.ts";
import { dayMs } from "./local-span.ts";

/** A time span that a question names. */
export interface TimeSpan {
  from: number;
  to: number;
  /** The words of the question that name it. */
  text: string;
  /** A date without a year: `from` is the latest such date; those of other years score a little less. */
  anyYear?: boolean;
}

/** A question names few times; the first of the most exact ones counts. */
const datesMax = 8;

/** The time span in the past that a question names, in the zone of the person; undefined when it names none. */
export function parseTimeSpan(question: string, now: number, timeZone: string): TimeSpan | undefined {
  const today = toLocalDay(now, timeZone);
  const kinds = ["calendar", "relative", "counted", "yearless"] as const;
  const found = findDates(question, { today, yearless: "past", kinds, max: datesMax });
  // What was said is never found in the future.
  const date = found.find(({ from }) => from <= today);
  if (date === undefined) return undefined;
  const { from, to } = widenCount(date);
  return {
    from: toInstant(from, timeZone),
    to: toInstant(to, timeZone),
    text: question.slice(date.start, date.end).trim(),
    ...(date.kind === "yearless" ? { anyYear: true } : {}),
  };
}

const unitDays = { day: 1, week: 7, weekend: 7, month: 30, year: 365 } as const;

/** "Two weeks ago" is approximate: the span is as wide as the unit, around the day that it counts to. */
function widenCount({ from, to, unit, middle }: FoundDate): { from: number; to: number } {
  if (middle === undefined) return { from, to };
  const half = Math.floor(unitDays[unit] / 2) * dayMs;
  return { from: middle - half, to: middle + half + dayMs };
}

const slackMs = 2 * dayMs;

/** 1 inside the span, 0.5 just outside it, 0 elsewhere. */
export function scoreTimeFit(span: TimeSpan, time: number): number {
  const fit = scoreYearFit(span, time);
  if (!span.anyYear || fit > 0) return fit;
  const years = new Date(time).getUTCFullYear() - new Date(span.from).getUTCFullYear();
  const shifted = { ...span, from: shiftYears(span.from, years), to: shiftYears(span.to, years) };
  return otherYearShare * scoreYearFit(shifted, time);
}

const otherYearShare = 0.9;

function scoreYearFit(span: TimeSpan, time: number): number {
  if (time >= span.from && time < span.to) return 1;
  return time >= span.from - slackMs && time < span.to + slackMs ? 0.5 : 0;
}

function shiftYears(time: number, years: number): number {
  const date = new Date(time);
  return date.setUTCFullYear(date.getUTCFullYear() + years);
}
