const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
  y: 365 * 86_400_000,
};

/** The milliseconds of a length of time such as `90d`; `undefined` when the text is not one. */
export function durationMs(text: string): number | undefined {
  const match = /^(\d{1,6})\s*([smhdwy])$/.exec(text.trim());
  const unit = unitMs[match?.[2] ?? ""];
  return match === null || unit === undefined ? undefined : Number(match[1]) * unit;
}
