const secondsPattern = /^\d{1,9}(?:\.\d{1,6})?$/;

/** How long a provider asks to wait, from the headers of its answer: as seconds, milliseconds, or a date. */
export function retryAfterMs(headers: Readonly<Record<string, string>> | undefined, now: number): number | undefined {
  if (headers === undefined) return undefined;
  const find = (name: string) =>
    Object.entries(headers)
      .find(([key]) => key.toLowerCase() === name)?.[1]
      .trim();
  const exact = find("retry-after-ms");
  if (exact !== undefined && secondsPattern.test(exact)) return Number(exact);
  const said = find("retry-after");
  if (said === undefined) return undefined;
  if (secondsPattern.test(said)) return Number(said) * 1_000;
  // Only a date has letters: `-5` would be one to the parser, and means nothing here.
  const date = /[A-Za-z]{3}/.test(said) ? Date.parse(said) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
