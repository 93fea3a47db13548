/** Numbers, sizes and times for people, in their language and zone. */
const numbers = new Intl.NumberFormat(undefined);
const compact = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const dayTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });

export const formatNumber = (value: number): string => numbers.format(value);
export const formatCompact = (value: number): string => compact.format(value);
export const formatExactTime = (time: number): string => exact.format(time);
export const formatDay = (time: number): string => day.format(time);
export const formatDayTime = (time: number): string => dayTime.format(time);
export const formatPercent = (share: number): string => `${Math.round(share * 100)} %`;

/** `1 message`, `2 messages` */
export function count(value: number, one: string, many = `${one}s`): string {
  return `${formatNumber(value)} ${value === 1 ? one : many}`;
}

export function formatBytes(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];

/** `5 minutes ago` within a week, else the date. */
export function formatRecent(time: number, now = Date.now()): string {
  const passed = now - time;
  if (Math.abs(passed) > 7 * 86_400_000) return formatDay(time);
  for (const [unit, ms] of steps) {
    if (Math.abs(passed) >= ms) return relative.format(-Math.round(passed / ms), unit);
  }
  return "just now";
}

export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
