import {
  type CalendarForm,
  datesWithYear,
  daysWithoutYear,
  lastMonths,
  monthsWithoutYear,
  type WrittenDate,
  years,
} from "./calendar-forms.ts";
import { dayMs, daySpan, findWeekday, type LocalSpan, monthSpan, type SpanUnit, shiftDay } from "./local-span.ts";
import { bareWeekdays, countedSpans, countUnits, countWords, fixedSpans, weekdays } from "./relative-dates.ts";

/** How a date was given. */
export type DateKind =
  /** Relative to today: "yesterday", "last week", "last Friday". */
  | "relative"
  /** Counted from today: "three weeks ago". `middle` is the day that it counts to. */
  | "counted"
  /** With its year, or a month and a year. */
  | "calendar"
  /** A day or a month without a year. */
  | "yearless"
  /** The name of a weekday alone. */
  | "weekday";

export interface FoundDate extends LocalSpan {
  kind: DateKind;
  /** Where it stands in the text. */
  start: number;
  end: number;
  middle?: number;
}

export interface FindDatesOptions {
  /** Today, as a day of `LocalSpan`. */
  today: number;
  /**
   * What a date without a year means: `past`, the latest one up to today, for questions about what was; `near`, the next
   * one, unless it was within the last two months, for what is stated.
   */
  yearless: "past" | "near";
  kinds: readonly DateKind[];
  /** The most dates to find. */
  max: number;
}

interface Matcher {
  kind: DateKind;
  form: RegExp;
  read(
    groups: Record<string, string | undefined>,
    options: Pick<FindDatesOptions, "today" | "yearless">,
  ): (LocalSpan & { middle?: number }) | undefined;
}

const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** In scripts with spaces a word must be whole. */
function compile(form: string, isUnspaced = unspaced.test(form)): RegExp {
  return new RegExp(isUnspaced ? `(?:${form})` : `(?<![\\p{L}\\p{N}])(?:${form})(?![\\p{L}\\p{N}])`, "giu");
}

const nearPastDays = 60;

function resolveWritten(
  written: WrittenDate | undefined,
  { today, yearless }: Pick<FindDatesOptions, "today" | "yearless">,
): LocalSpan | undefined {
  if (written?.kind !== "yearless") return written?.span;
  const { month, day } = written;
  const inYear = (year: number) => (day === undefined ? monthSpan(year, month) : daySpan(year, month, day));
  const thisYear = new Date(today).getUTCFullYear();
  const span = inYear(thisYear);
  if (yearless === "past") return span === undefined || span.from > today ? inYear(thisYear - 1) : span;
  return span !== undefined && span.from >= today - nearPastDays * dayMs ? span : inYear(thisYear + 1);
}

function toMatchers(kind: DateKind, forms: readonly CalendarForm[], yearless?: "past"): Matcher[] {
  return forms.map(({ pattern, isUnspaced, read }) => ({
    kind,
    form: compile(pattern, isUnspaced ?? false),
    read: (groups, options) => resolveWritten(read(groups), { ...options, ...(yearless ? { yearless } : {}) }),
  }));
}

const unitDays: Readonly<Record<SpanUnit, number>> = { day: 1, week: 7, weekend: 7, month: 30, year: 365 };

function readCounted(groups: Record<string, string | undefined>, today: number, sign: 1 | -1) {
  const count = countWords[groups.count?.toLowerCase() ?? ""] ?? Number(groups.count);
  const unit = countUnits[groups.unit?.toLowerCase() ?? ""];
  // "A few days ago" names no day.
  if (unit === undefined || !Number.isFinite(count)) return undefined;
  return { ...shiftDay(today, unit, sign * count), middle: today + sign * count * unitDays[unit] * dayMs };
}

function weekdayMatchers(): Matcher[] {
  const relative = weekdays.flatMap(({ names, last, next, lastAfter, nextAfter }): Matcher[] => {
    const list = names.split(" ");
    const name = `(?<name>${list.join("|")})`;
    const before = [
      ...(last === "" ? [] : [`(?:${last}) ${name}`]),
      ...(lastAfter ? [`${name} (?:${lastAfter})`] : []),
    ];
    const after = [`(?:${next}) ${name}`, ...(nextAfter ? [`${name} (?:${nextAfter})`] : [])];
    const toMatcher = (form: string, sign: 1 | -1): Matcher => ({
      kind: "relative",
      form: compile(form),
      read: (groups, { today }) =>
        shiftDay(findWeekday(today, list.indexOf(groups.name?.toLowerCase() ?? ""), sign), "day", 0),
    });
    return [...before.map((form) => toMatcher(form, -1)), ...after.map((form) => toMatcher(form, 1))];
  });
  const bare = bareWeekdays.map(({ form, names }): Matcher => {
    const list = names.split(" ");
    return {
      kind: "weekday",
      form: compile(form),
      read: (groups, { today }) => {
        const index = list.findIndex((name) => name.split("/").includes(groups.name?.toLowerCase() ?? ""));
        const ahead = (index - new Date(today).getUTCDay() + 7) % 7;
        return shiftDay(today + (ahead === 0 && groups.next !== undefined ? 7 : ahead) * dayMs, "day", 0);
      },
    };
  });
  return [...relative, ...bare];
}

/** The more exact before the less exact. */
const createMatchers = (): readonly Matcher[] => [
  ...toMatchers("calendar", datesWithYear),
  ...fixedSpans.map(
    ([form, { unit, offset }]): Matcher => ({
      kind: "relative",
      form: compile(form),
      read: (_, { today }) => shiftDay(today, unit, offset),
    }),
  ),
  ...countedSpans.map(
    ({ form, sign }): Matcher => ({
      kind: "counted",
      form: compile(form),
      read: (groups, { today }) => readCounted(groups, today, sign),
    }),
  ),
  ...weekdayMatchers(),
  ...toMatchers("relative", lastMonths, "past"),
  ...toMatchers("calendar", years),
  ...toMatchers("yearless", daysWithoutYear),
  ...toMatchers("yearless", monthsWithoutYear),
];

/** Compiled with the first text that may name a date: compiling takes longer than most searches. */
let matchers: readonly Matcher[] | undefined;

/** The dates that a text names, the most exact first. No two of them overlap. */
export function findDates(text: string, options: FindDatesOptions): FoundDate[] {
  if (!mayNameDate.test(text)) return [];
  const found: FoundDate[] = [];
  matchers ??= createMatchers();
  for (const { kind, form, read } of matchers) {
    if (!options.kinds.includes(kind)) continue;
    // Nearly all forms are in no text; a search is much cheaper than an iterator.
    if (text.search(form) === -1) continue;
    for (const match of text.matchAll(form)) {
      if (found.length >= options.max) return found;
      const [start, end] = [match.index, match.index + match[0].length];
      if (found.some((one) => start < one.end && one.start < end)) continue;
      const span = read(match.groups ?? {}, options);
      if (span) found.push({ ...span, kind, start, end });
    }
  }
  return found;
}

/** Parts of words that dates have; every date has a digit, a Chinese character, kana, hangul or one of them. */
const dateWords = [
  "yesterday today tonight tomorrow last.night this.(?:morn|after|even) week month year ago sunday monday tuesday",
  "wednesday thursday friday saturday jan feb mar apr may jun jul aug sep oct nov dec in.(?:a|one|two|three)",
  "gestern heute morgen woche monat jahr vor.(?:ein|zwei|drei|vier|fünf|sechs) in.(?:ein|zwei|drei|vier) sonntag montag",
  "dienstag mittwoch donnerstag freitag samstag märz mai okt dez",
  "hier aujourd ce.(?:matin|soir) demain semaine mois l'année cette.année dimanche lundi mardi mercredi jeudi vendredi",
  "samedi fév avr juin juil août déc il.y.a",
  "ayer anteayer anoche hoy esta.no mañana semana el.mes este.mes el.año este.año próximo hace ene abr ago dic lunes",
  "martes miércoles jueves viernes sábado domingo",
  "altro.ieri ieri oggi stasera stamattina domani settimana mese anno gen mag giu lug set ott domenica lunedì martedì",
  "mercoledì giovedì venerdì sabato giorn mesi anni",
  "ontem hoje esta.noite amanhã mês ano há fev out",
  "вчера сегодня завтра недел месяц год выходн назад янв фев мар апр май мая мае июн июл авг сен окт ноя дек",
]
  .join(" ")
  .replaceAll(" ", "|");
const mayNameDate = new RegExp(`[\\d\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Hangul}]|${dateWords}`, "iu");
