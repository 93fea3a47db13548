/** The source of time. Tests inject a clock that they advance by hand. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
}

/** The source of randomness. Tests inject a seeded one, so that ids are reproducible. */
export interface Random {
  bytes(count: number): Uint8Array;
}

export const systemClock: Clock = { now: () => Date.now() };
export const systemRandom: Random = { bytes: (count) => globalThis.crypto.getRandomValues(new Uint8Array(count)) };

const formats = new Map<string, Intl.DateTimeFormat>();

/** The local date and time of a time zone. Formats are cached, because creating one is slow. */
export function toWallClock(instant: number, timeZone: string) {
  if (timeZone === "UTC") return toUtcClock(new Date(instant));
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    formats.set(timeZone, format);
  }
  const parts: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(instant)) parts[type] = Number(value);
  const { year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return { year, month, day, hour, minute, second };
}

/** Without a formatter, which is slow to create and to use. */
function toUtcClock(date: Date) {
  if (Number.isNaN(date.getTime())) throw new RangeError("The time is not valid.");
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
  };
}

/** The date in a time zone, as `2026-11-16`. */
export function formatDay(instant: number, timeZone: string): string {
  const { year, month, day } = toWallClock(instant, timeZone);
  return [year, month, day].map((part) => String(part).padStart(2, "0")).join("-");
}

const latestInstant = 8_640_000_000_000_000;
const minuteMs = 60_000;

/**
 * A time with its zone, `2026-11-16 21:30+08:00`, or `2026-11-16 13:30Z` in UTC, to the minute. It reads the same
 * everywhere, also in the hour that a change of the clock repeats. An invalid time gives an empty text.
 */
export function formatStamp(instant: number, timeZone = "UTC"): string {
  if (!(Math.abs(instant) <= latestInstant)) return "";
  // Creating a formatter takes a millisecond; UTC needs none.
  if (timeZone === "UTC") return `${new Date(instant).toISOString().slice(0, -8).replace("T", " ")}Z`;
  const { year, month, day, hour, minute, second } = toWallClock(instant, timeZone);
  const wall = Date.UTC(year, month - 1, day, hour, minute, second);
  // Zones of the 19th century have offsets with seconds.
  const offset = Math.round((wall - Math.floor(instant / 1000) * 1000) / minuteMs);
  const shifted = new Date(instant + offset * minuteMs).toISOString().slice(0, -8).replace("T", " ");
  const two = (value: number) => String(value).padStart(2, "0");
  const zone = `${offset < 0 ? "-" : "+"}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`;
  return offset === 0 ? `${shifted}Z` : `${shifted}${zone}`;
}

/** The time of a date and a time of day that were written in a zone; undefined when they are none. */
export function parseLocalTime(day: string, timeOfDay: string, timeZone = "UTC"): number | undefined {
  const wall = Date.parse(`${day}T${timeOfDay}Z`);
  if (Number.isNaN(wall)) return undefined;
  return timeZone === "UTC" ? wall : toInstant(wall, timeZone);
}

/** The last time, not after `now`, at which the local time was `hour` o'clock. */
export function findLastHour(now: number, hour: number, timeZone: string): number {
  const today = toWallClock(now, timeZone);
  for (let daysBack = 0; daysBack <= 2; daysBack += 1) {
    const boundary = toInstant(Date.UTC(today.year, today.month - 1, today.day - daysBack, hour), timeZone);
    if (boundary <= now) return boundary;
  }
  return now - 2 * 86_400_000;
}

/** The time at which the local time is `wall` (given as if it were UTC). Computed twice, because the offset may change. */
export function toInstant(wall: number, timeZone: string): number {
  if (timeZone === "UTC") return wall;
  let guess = wall;
  for (let round = 0; round < 2; round += 1) {
    const { year, month, day, hour, minute, second } = toWallClock(guess, timeZone);
    guess += wall - Date.UTC(year, month - 1, day, hour, minute, second);
  }
  return guess;
}
