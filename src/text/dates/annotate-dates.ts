import { toWallClock } from "../../domain/index.ts";
import { findDates } from "./find-dates.ts";
import { dayMs, type LocalSpan } from "./local-span.ts";

/** Today's date in a zone, as a day of `LocalSpan`. */
export function toLocalDay(instant: number, timeZone: string): number {
  const { year, month, day } = toWallClock(instant, timeZone);
  return Date.UTC(year, month - 1, day);
}

/** A text with more relative dates than this is no fact; the others stay as they are. */
const spansMax = 6;
/** A date or a bracket that follows says already when it is. */
const isDated = /^\s*(?:[,(]\s*)?(?:\d{4}-\d\d|\(\d)/;

/**
 * Adds the date to each relative one: "I saw Ann yesterday (2026-11-16)". A fact is read long after it was said, when
 * "yesterday" means nothing; the message it came from keeps the original words.
 */
export function annotateDates(text: string, statedAt: number, timeZone: string): string {
  const today = toLocalDay(statedAt, timeZone);
  const kinds = ["relative", "counted"] as const;
  const found = findDates(text, { today, yearless: "near", kinds, max: spansMax });
  let annotated = text;
  for (const date of found.sort((a, b) => b.end - a.end)) {
    if (isDated.test(text.slice(date.end))) continue;
    annotated = `${annotated.slice(0, date.end)} (${formatSpan(date)})${annotated.slice(date.end)}`;
  }
  return annotated;
}

function formatSpan({ from, to, unit }: LocalSpan): string {
  const first = new Date(from).toISOString();
  if (unit === "year") return first.slice(0, 4);
  if (unit === "month") return first.slice(0, 7);
  const last = new Date(to - dayMs).toISOString();
  return to - from === dayMs ? first.slice(0, 10) : `${first.slice(0, 10)} to ${last.slice(0, 10)}`;
}
