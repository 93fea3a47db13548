import { toWallClock } from "../../domain/index.ts";
import { dayMs } from "../decay.ts";
import {
  countedSpans,
  countUnits,
  countWords,
  fixedSpans,
  type RelativeSpan,
  weekdays,
} from "../language/relative-dates.ts";

const wordEdge = { before: "(?<![\\p{L}\\p{N}])", after: "(?![\\p{L}\\p{N}])" };
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

interface Matcher {
  form: RegExp;
  read(
    groups: Record<string, string | undefined>,
    today: number,
  ): { from: number; unit: RelativeSpan["unit"] } | undefined;
}

/** In scripts with spaces a word must be whole. */
function compile(form: string): RegExp {
  return new RegExp(unspaced.test(form) ? `(?:${form})` : `${wordEdge.before}(?:${form})${wordEdge.after}`, "giu");
}

const createMatchers = (): readonly Matcher[] => [
  ...fixedSpans.map(([form, span]) => ({
    form: compile(form),
    read: (_: object, today: number) => shift(today, span),
  })),
  ...countedSpans.map(({ form, sign }) => ({
    form: compile(form),
    read(groups: Record<string, string | undefined>, today: number) {
      const count = countWords[groups.count?.toLowerCase() ?? ""] ?? Number(groups.count);
      const unit = countUnits[groups.unit?.toLowerCase() ?? ""];
      // "A few days ago" names no day.
      return unit === undefined || !Number.isFinite(count) ? undefined : shift(today, { unit, offset: sign * count });
    },
  })),
  ...weekdays.flatMap(({ names, last, next, lastAfter, nextAfter }) => {
    const list = names.split(" ");
    const find = (name: string | undefined) => list.indexOf(name?.toLowerCase() ?? "");
    const name = `(?<name>${list.join("|")})`;
    const before = [last === "" ? [] : [`(?:${last}) ${name}`], lastAfter ? [`${name} (?:${lastAfter})`] : []].flat();
    const after = [`(?:${next}) ${name}`, ...(nextAfter ? [`${name} (?:${nextAfter})`] : [])];
    const toMatcher = (form: string, sign: 1 | -1): Matcher => ({
      form: compile(form),
      read: (groups, today) => ({ from: findWeekday(today, find(groups.name), sign), unit: "day" }),
    });
    return [...before.map((form) => toMatcher(form, -1)), ...after.map((form) => toMatcher(form, 1))];
  }),
];

/** Compiled with the first text: a program that extracts no memories does without them. */
let matchers: readonly Matcher[] | undefined;

/** The nearest such weekday after or before a day, never the day itself. */
function findWeekday(today: number, index: number, sign: 1 | -1): number {
  const ahead = (index - new Date(today).getUTCDay() + 7) % 7;
  if (sign === 1) return today + (ahead === 0 ? 7 : ahead) * dayMs;
  return today - (ahead === 0 ? 7 : 7 - ahead) * dayMs;
}

function shift(today: number, { unit, offset }: RelativeSpan): { from: number; unit: RelativeSpan["unit"] } {
  const date = new Date(today);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  // Monday is the first day of a week.
  const monday = today - ((date.getUTCDay() + 6) % 7) * dayMs;
  switch (unit) {
    case "day":
      return { from: today + offset * dayMs, unit };
    case "week":
      return { from: monday + offset * 7 * dayMs, unit };
    case "weekend":
      // On a Sunday "last weekend" is the one before; "this weekend" is the one of this week.
      return { from: monday + (5 + offset * 7) * dayMs, unit };
    case "month":
      return { from: Date.UTC(year, month + offset, 1), unit };
    case "year":
      return { from: Date.UTC(year + offset, 0, 1), unit };
  }
}

function format({ from, unit }: { from: number; unit: RelativeSpan["unit"] }): string {
  const iso = new Date(from).toISOString();
  if (unit === "year") return iso.slice(0, 4);
  if (unit === "month") return iso.slice(0, 7);
  const days = unit === "week" ? 6 : unit === "weekend" ? 1 : 0;
  return days === 0
    ? iso.slice(0, 10)
    : `${iso.slice(0, 10)} to ${new Date(from + days * dayMs).toISOString().slice(0, 10)}`;
}

/** A text with more relative dates than this is no fact; the others stay as they are. */
const spansMax = 6;
/** A date or a bracket that follows says already when it is. */
const isDated = /^\s*(?:[,(]\s*)?(?:\d{4}-\d\d|\(\d)/;

/**
 * Adds the date to each relative one: "I saw Ann yesterday (2026-11-16)". A fact is read long after it was said, when
 * "yesterday" means nothing; the message it came from keeps the original words.
 */
export function resolveDates(text: string, statedAt: number, timeZone: string): string {
  const { year, month, day } = toWallClock(statedAt, timeZone);
  const today = Date.UTC(year, month - 1, day);
  const found: { start: number; end: number; date: string }[] = [];
  matchers ??= createMatchers();
  for (const { form, read } of matchers) {
    // Nearly all forms are in no text; a search is much cheaper than an iterator.
    if (text.search(form) === -1) continue;
    for (const match of text.matchAll(form)) {
      if (found.length >= spansMax) break;
      const [start, end] = [match.index, match.index + match[0].length];
      if (found.some((one) => start < one.end && one.start < end) || isDated.test(text.slice(end))) continue;
      const span = read(match.groups ?? {}, today);
      if (span) found.push({ start, end, date: format(span) });
    }
  }
  let resolved = text;
  for (const { end, date } of found.sort((a, b) => b.end - a.end)) {
    resolved = `${resolved.slice(0, end)} (${date})${resolved.slice(end)}`;
  }
  return resolved;
}
