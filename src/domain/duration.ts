const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
  y: 365 * 86_400_000,
};

/** The longest duration that is accepted: times stay valid dates when it is added to them. */
const durationMsMax = 1000 * 365 * 86_400_000;

/** How a duration is written, for error messages. */
export const durationForm = "a number and a unit, such as 90s, 15m, 12h, 30d, 4w or 1y";

/** Reads `90s`, `15m`, `12h`, `30d`, `4w` or `1y` (365 days) as milliseconds; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,9})([smhdwy])$/.exec(text.trim()) ?? [];
  const ms = Number(count) * (unitMs[unit ?? ""] ?? Number.NaN);
  return ms <= durationMsMax ? ms : undefined;
}
