/** The names of months and weekdays in the languages that are understood, each by its number. */
const months = {
  en: "january february march april may june july august september october november december",
  de: "januar februar märz april mai juni juli august september oktober november dezember",
  fr: "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
  es: "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
} as const;
const shortMonths = "jan feb mar apr may jun jul aug sep oct nov dec";
const weekdays = {
  en: "sunday monday tuesday wednesday thursday friday saturday",
  de: "sonntag montag dienstag mittwoch donnerstag freitag samstag",
  fr: "dimanche lundi mardi mercredi jeudi vendredi samedi",
  es: "domingo lunes martes miércoles jueves viernes sábado",
} as const;

function numbered(lists: readonly string[]): Map<string, number> {
  const numbers = new Map<string, number>();
  for (const list of lists) for (const [index, name] of list.split(" ").entries()) numbers.set(name, index);
  return numbers;
}

export const monthNumbers = numbered([...Object.values(months), shortMonths]);
export const weekdayNumbers = numbered(Object.values(weekdays));

/** A name of any of them, the longest first, so that "march" is not read as "mar". */
export function alternation(names: ReadonlyMap<string, number>): string {
  return [...names.keys()].sort((a, b) => b.length - a.length).join("|");
}

export const dayMs = 86_400_000;

export function dayStart(time: number): number {
  return Math.floor(time / dayMs) * dayMs;
}

export function monthSpan(year: number, month: number): { from: number; to: number } {
  return { from: Date.UTC(year, month, 1), to: Date.UTC(year, month + 1, 1) };
}

export function yearSpan(year: number): { from: number; to: number } {
  return { from: Date.UTC(year, 0, 1), to: Date.UTC(year + 1, 0, 1) };
}

/** The week, from Monday, that a time lies in. */
export function weekSpan(time: number): { from: number; to: number } {
  const weekday = (new Date(time).getUTCDay() + 6) % 7;
  const from = dayStart(time) - weekday * dayMs;
  return { from, to: from + 7 * dayMs };
}
