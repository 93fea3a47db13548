/** The names of months and weekdays in the supported languages. */
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

function numberNames(lists: readonly string[]): Map<string, number> {
  const numbers = new Map<string, number>();
  for (const list of lists) for (const [index, name] of list.split(" ").entries()) numbers.set(name, index);
  return numbers;
}

const monthNumbers = numberNames([...Object.values(months), shortMonths]);
const weekdayNumbers = numberNames(Object.values(weekdays));

/** A pattern for any of the names, the longest first, so that "march" is not read as "mar". */
function alternation(names: ReadonlyMap<string, number>): string {
  return [...names.keys()].sort((a, b) => b.length - a.length).join("|");
}

const dayMs = 86_400_000;

function dayStart(time: number): number {
  return Math.floor(time / dayMs) * dayMs;
}

function monthSpan(year: number, month: number): { from: number; to: number } {
  return { from: Date.UTC(year, month, 1), to: Date.UTC(year, month + 1, 1) };
}

function yearSpan(year: number): { from: number; to: number } {
  return { from: Date.UTC(year, 0, 1), to: Date.UTC(year + 1, 0, 1) };
}

/** The week of a time, starting on Monday. */
function weekSpan(time: number): { from: number; to: number } {
  const weekday = (new Date(time).getUTCDay() + 6) % 7;
  const from = dayStart(time) - weekday * dayMs;
  return { from, to: from + 7 * dayMs };
}

/** A time span that a query names. */
export interface TimeSpan {
  from: number;
  to: number;
  /** The words of the query that name it. */
  text: string;
  /** A date without a year: `from` is the latest such date; those of other years score a little less. */
  anyYear?: boolean;
}

interface Rule {
  pattern: RegExp;
  read(match: RegExpExecArray, now: number): Omit<TimeSpan, "text"> | undefined;
}

const month = `(${alternation(monthNumbers)})\\.?`;
const weekday = `(${alternation(weekdayNumbers)})`;
const last = "(?:last|past|previous|letzte[nrms]?|vorige[nrms]?|dernier|dernière|pasad[oa]|últim[oa])";
const year = "((?:19|20)\\d\\d)";
const words = (pattern: string) => new RegExp(`(?<![\\p{L}\\p{N}])(?:${pattern})(?![\\p{L}\\p{N}])`, "iu");
const number = (text: string | undefined) => Number(text);
const parseMonth = (text: string | undefined) => monthNumbers.get((text ?? "").toLowerCase()) ?? 0;

const units: Readonly<Record<string, number>> = { day: 1, week: 7, month: 30, year: 365 };
const unitWord =
  "(days?|weeks?|months?|years?|tage?n?|wochen?|monate?n?|jahre?n?|jours?|semaines?|mois|ans?|días?|semanas?|meses|mes|años?)";

const timeWords =
  "yesterday vorgestern avant-hier anteayer gestern hier ayer today heute aujourd hoy ago vor hace il week woche sema " +
  "month monat mois mes year jahr année año last past prev letzt vorig derni pasad últim";

/**
 * Whether any rule can match: each needs a digit, a Chinese or Japanese name of a time, or the start of one of these words.
 * Compiling the rules takes longer than the rest of a short search, and most queries name no time.
 */
const mayNameTime = new RegExp(
  `[\\d昨上先]|${[...monthNumbers.keys(), ...weekdayNumbers.keys()].map((name) => name.slice(0, 3)).join("|")}|${timeWords.replaceAll(" ", "|")}`,
  "iu",
);

/** The most exact first: a full date before a month, a month before a year. */
const createRules = (): readonly Rule[] => [
  {
    pattern: /(?<!\d)((?:19|20)\d\d)-(\d\d)-(\d\d)(?!\d)/,
    read: (m) => makeDaySpan(number(m[1]), number(m[2]) - 1, number(m[3])),
  },
  {
    pattern: words(`(\\d{1,2})(?:st|nd|rd|th|er|\\.)?\\s+(?:of\\s+|de\\s+)?${month},?\\s+(?:de\\s+)?${year}`),
    read: (m) => makeDaySpan(number(m[3]), parseMonth(m[2]), number(m[1])),
  },
  {
    pattern: words(`${month}\\s+(\\d{1,2})(?:st|nd|rd|th)?,?\\s+${year}`),
    read: (m) => makeDaySpan(number(m[3]), parseMonth(m[1]), number(m[2])),
  },
  { pattern: words(`${month},?\\s+(?:of\\s+|de\\s+)?${year}`), read: (m) => monthSpan(number(m[2]), parseMonth(m[1])) },
  {
    pattern: /(?<!\d)((?:19|20)\d\d)年(\d{1,2})月(?:(\d{1,2})日)?/,
    read: (m) =>
      m[3] === undefined
        ? monthSpan(number(m[1]), number(m[2]) - 1)
        : makeDaySpan(number(m[1]), number(m[2]) - 1, number(m[3])),
  },
  {
    pattern: words("(?:the\\s+)?day before yesterday|vorgestern|avant-hier|anteayer"),
    read: (_m, now) => daysAgo(now, 2, 1),
  },
  { pattern: words("yesterday|gestern|hier|ayer"), read: (_m, now) => daysAgo(now, 1, 1) },
  { pattern: /昨天|昨日/, read: (_m, now) => daysAgo(now, 1, 1) },
  { pattern: words("today|heute|aujourd'hui|hoy"), read: (_m, now) => daysAgo(now, 0, 1) },
  {
    pattern: words(`(\\d{1,3}|a|one|two|three|four|five|six)\\s+${unitWord}\\s+ago`),
    read: (m, now) => makeSpanAgo(m[1], m[2], now),
  },
  {
    pattern: words(`vor\\s+(\\d{1,3}|eine[mr]|zwei|drei)\\s+${unitWord}`),
    read: (m, now) => makeSpanAgo(m[1], m[2], now),
  },
  {
    pattern: words(`(?:hace|il y a)\\s+(\\d{1,3}|un|una|une|dos|deux|tres|trois)\\s+${unitWord}`),
    read: (m, now) => makeSpanAgo(m[1], m[2], now),
  },
  {
    pattern: words(`${last}\\s+(?:week|woche)|la semaine dernière|la semana pasada`),
    read: (_m, now) => weekSpan(now - 7 * dayMs),
  },
  { pattern: /上周|上个星期|先週/, read: (_m, now) => weekSpan(now - 7 * dayMs) },
  { pattern: words("this week|diese[rn]? woche|cette semaine|esta semana"), read: (_m, now) => weekSpan(now) },
  {
    pattern: words(`${last}\\s+(?:month|monat)|le mois dernier|el mes pasado`),
    read: (_m, now) => monthBefore(now, 1),
  },
  { pattern: /上个月|先月/, read: (_m, now) => monthBefore(now, 1) },
  { pattern: words("this month|diese[nm] monat|ce mois-ci|este mes"), read: (_m, now) => monthBefore(now, 0) },
  {
    pattern: words(`${last}\\s+(?:year|jahr)|l'année dernière|el año pasado`),
    read: (_m, now) => yearSpan(new Date(now).getUTCFullYear() - 1),
  },
  { pattern: words(`${last}\\s+${weekday}`), read: (m, now) => lastWeekday(m[1], now) },
  { pattern: words(`${last}\\s+${month}`), read: (m, now) => resolveLastMonth(m[1], now) },
  { pattern: words(`(?:in|during|im|en|since|of)\\s+${year}`), read: (m) => yearSpan(number(m[1])) },
  {
    pattern: words(`(\\d{1,2})(?:st|nd|rd|th|\\.)?\\s+(?:of\\s+|de\\s+)?${month}`),
    read: (m, now) => resolveDay(m[2], m[1], now),
  },
  { pattern: words(`${month}\\s+(\\d{1,2})(?:st|nd|rd|th)?`), read: (m, now) => resolveDay(m[1], m[2], now) },
  {
    pattern: words(`(?:in|during|im|en|durante)\\s+${month}`),
    read: (m, now) => ({ ...resolveLastMonth(m[1], now), anyYear: true }),
  },
];

let rules: readonly Rule[] | undefined;

/** The time span that a query names, relative to `now`; undefined when it names none. */
export function parseTimeSpan(query: string, now: number): TimeSpan | undefined {
  if (!mayNameTime.test(query)) return undefined;
  rules ??= createRules();
  for (const { pattern, read } of rules) {
    const match = pattern.exec(query);
    const span = match && read(match, now);
    if (match && span) return { ...span, text: match[0].trim() };
  }
  return undefined;
}

const slackMs = 2 * dayMs;

/** 1 inside the span, 0.5 just outside it, 0 elsewhere. */
export function scoreTimeFit(span: TimeSpan, time: number): number {
  const fit = scoreYearFit(span, time);
  if (!span.anyYear || fit > 0) return fit;
  const years = new Date(time).getUTCFullYear() - new Date(span.from).getUTCFullYear();
  return (
    otherYearShare * scoreYearFit({ ...span, from: shiftYears(span.from, years), to: shiftYears(span.to, years) }, time)
  );
}

const otherYearShare = 0.9;

function scoreYearFit(span: TimeSpan, time: number): number {
  if (time >= span.from && time < span.to) return 1;
  return time >= span.from - slackMs && time < span.to + slackMs ? 0.5 : 0;
}

function shiftYears(time: number, years: number): number {
  const date = new Date(time);
  return date.setUTCFullYear(date.getUTCFullYear() + years);
}

function makeDaySpan(yearNumber: number, monthNumber: number, day: number): { from: number; to: number } | undefined {
  const from = Date.UTC(yearNumber, monthNumber, day);
  // Date.UTC turns June 31 into July 1; such days are rejected.
  return new Date(from).getUTCMonth() === monthNumber && day >= 1 ? { from, to: from + dayMs } : undefined;
}

function daysAgo(now: number, days: number, length: number): { from: number; to: number } {
  const from = dayStart(now) - days * dayMs;
  return { from, to: from + length * dayMs };
}

const small: Readonly<Record<string, number>> = {
  a: 1,
  one: 1,
  einem: 1,
  einer: 1,
  un: 1,
  una: 1,
  une: 1,
  two: 2,
  zwei: 2,
  dos: 2,
  deux: 2,
  three: 3,
  drei: 3,
  tres: 3,
  trois: 3,
  four: 4,
  five: 5,
  six: 6,
};

/** "Two weeks ago" is approximate: the span is as wide as the unit. */
function makeSpanAgo(count: string | undefined, unit: string | undefined, now: number): { from: number; to: number } {
  const length = units[parseUnit(unit ?? "")] ?? 1;
  const days = (small[(count ?? "").toLowerCase()] ?? number(count)) * length;
  const middle = dayStart(now) - days * dayMs;
  const half = Math.floor(length / 2) * dayMs;
  return { from: middle - half, to: middle + half + dayMs };
}

function parseUnit(word: string): string {
  const lower = word.toLowerCase();
  if (/^(week|woche|semaine|semana)/.test(lower)) return "week";
  if (/^(month|monat|mois|mes)/.test(lower)) return "month";
  return /^(year|jahr|an|año)/.test(lower) ? "year" : "day";
}

function monthBefore(now: number, count: number): { from: number; to: number } {
  const date = new Date(now);
  return monthSpan(date.getUTCFullYear(), date.getUTCMonth() - count);
}

/** The latest month of that name, the current one included. */
function resolveLastMonth(name: string | undefined, now: number): { from: number; to: number } {
  const date = new Date(now);
  const wanted = parseMonth(name);
  const inThisYear = wanted <= date.getUTCMonth();
  return monthSpan(date.getUTCFullYear() - (inThisYear ? 0 : 1), wanted);
}

/** A day of a month without a year: the latest one in the past. */
function resolveDay(
  name: string | undefined,
  day: string | undefined,
  now: number,
): Omit<TimeSpan, "text"> | undefined {
  const thisYear = new Date(now).getUTCFullYear();
  const span = makeDaySpan(thisYear, parseMonth(name), number(day));
  if (!span) return undefined;
  const found = span.from <= now ? span : makeDaySpan(thisYear - 1, parseMonth(name), number(day));
  return found && { ...found, anyYear: true };
}

function lastWeekday(name: string | undefined, now: number): { from: number; to: number } {
  const wanted = weekdayNumbers.get((name ?? "").toLowerCase()) ?? 0;
  const back = (new Date(now).getUTCDay() - wanted + 7) % 7 || 7;
  return daysAgo(now, back, 1);
}
