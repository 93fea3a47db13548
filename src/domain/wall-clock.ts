const formats = new Map<string, Intl.DateTimeFormat>();

/** What the clocks of a time zone show at an instant. Making a format is slow, so each is made once. */
export function wallClock(instant: number, timeZone: string) {
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

/** The day in a time zone, as `2026-11-16`. */
export function dayIn(instant: number, timeZone: string): string {
  const { year, month, day } = wallClock(instant, timeZone);
  return [year, month, day].map((part) => String(part).padStart(2, "0")).join("-");
}
