const formats = new Map<string, Intl.DateTimeFormat>();

/** The day in a time zone, as `2026-11-16`. Making a format is slow, so each is made once. */
export function dayIn(timeZone: string, time: number): string {
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat("en-CA", { timeZone, dateStyle: "short" });
  formats.set(timeZone, format);
  return format.format(time);
}
