import { toWallClock } from "../domain/index.ts";
import { dayMs } from "./decay.ts";
import type { TemporalType } from "./memory.ts";

export interface Temporal {
  temporalType: TemporalType;
  /** The end of the day that the text names. */
  expiresAt?: number;
}

const weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const germanDays = ["sonntag", "montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag"];
const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const chineseDays = "日一二三四五六";

const aboutNow =
  /\b(?:today|tonight|tomorrow|currently|at the moment|right now|these days|soon|this (?:week|month|year|weekend|morning|evening)|next (?:week|month|year|weekend)|(?:plan(?:s|ning)?|going|about|hoping|intend(?:s|ing)?) to|appointment|deadline|flight|heute|morgen|gerade|derzeit|momentan|bald|nächste[nrs]? (?:woche|monat|jahr)|diese woche|aujourd'hui|demain|bientôt|actuellement|la semaine prochaine|hoy|mañana|pronto|actualmente|la próxima semana)\b|今天|明天|后天|今晚|目前|现在|最近|下周|下个月|打算|计划|今日|明日|来週|今週|予定/iu;
const recurring = /\b(?:every|each|always|usually|jeden|immer|chaque|tous les|cada|todos los)\b|每/iu;

const monthName = `(?<month>${months.join("|")})[a-z]*\\.?`;
const isoDay = /\b(?<year>\d{4})-(?<monthNumber>\d\d)-(?<day>\d\d)\b/;
const monthFirst = new RegExp(`\\b${monthName} (?<day>\\d{1,2})(?:st|nd|rd|th)?(?:,? (?<year>\\d{4}))?\\b`, "i");
const dayFirst = new RegExp(
  `\\b(?<day>\\d{1,2})(?:st|nd|rd|th)?\\.? (?:of )?${monthName}(?: (?<year>\\d{4}))?\\b`,
  "i",
);
const chineseDate = /(?:(?<year>\d{4})年)?(?<monthNumber>\d{1,2})月(?<day>\d{1,2})[日号]/;
const weekday = new RegExp(`\\b(?<next>next |nächsten )?(?<name>${[...weekdays, ...germanDays].join("|")})\\b`, "i");
const chineseWeekday = /(?<next>下)?(?:周|星期|礼拜)(?<name>[日天一二三四五六])/;
const inSome = /\bin (?<count>\d{1,3}|a|an|two|three|four|five|six) (?<unit>day|week|month|year)s?\b/i;
const counts: Readonly<Record<string, number>> = { a: 1, an: 1, two: 2, three: 3, four: 4, five: 5, six: 6 };
const unitDays: Readonly<Record<string, number>> = { day: 1, week: 7, month: 30, year: 365 };

const offsets: readonly [RegExp, number][] = [
  [/\b(?:today|tonight|this (?:morning|evening)|heute|aujourd'hui|hoy)\b|今天|今晚|今日/iu, 0],
  [/\b(?:tomorrow|morgen|demain|mañana)\b|明天|明日/iu, 1],
  [/后天/u, 2],
  [/\b(?:next week|nächste woche|la semaine prochaine|la próxima semana)\b|下周(?![日天一二三四五六])|来週/iu, 14],
  [/\b(?:next month|nächsten monat)\b|下个月/iu, 61],
];

/** Whether a text is about the present or a plan (`dynamic`), and when it expires, relative to the time of the message. */
export function parseTemporal(text: string, statedAt: number, timeZone: string): Temporal {
  if (recurring.test(text)) return { temporalType: "static" };
  const shift = computeZoneOffset(statedAt, timeZone);
  const today = Math.floor((statedAt + shift) / dayMs) * dayMs;
  const day = parseDay(text, today);
  const isDynamic = aboutNow.test(text) || (day !== undefined && day >= today);
  if (!isDynamic) return { temporalType: "static" };
  if (day === undefined || day < today) return { temporalType: "dynamic" };
  return { temporalType: "dynamic", expiresAt: day + dayMs - shift };
}

/** The offset of a time zone from UTC at a time, in milliseconds. */
function computeZoneOffset(time: number, timeZone: string): number {
  const { year, month, day, hour, minute, second } = toWallClock(time, timeZone);
  const local = Date.UTC(year, month - 1, day, hour, minute, second);
  return local - Math.floor(time / 1000) * 1000;
}

/** The start of the day that a text names; undefined without one. */
function parseDay(text: string, today: number): number | undefined {
  for (const pattern of [isoDay, monthFirst, dayFirst, chineseDate]) {
    const groups = pattern.exec(text)?.groups;
    if (groups) return resolveCalendarDay(groups, today);
  }
  for (const [pattern, days] of offsets) if (pattern.test(text)) return today + days * dayMs;
  const some = inSome.exec(text)?.groups;
  if (some) {
    const count = counts[some.count ?? ""] ?? Number(some.count);
    return today + count * (unitDays[(some.unit ?? "").toLowerCase()] ?? 1) * dayMs;
  }
  return resolveWeekday(text, today);
}

function resolveCalendarDay(groups: Record<string, string | undefined>, today: number): number | undefined {
  const month =
    groups.monthNumber === undefined
      ? months.indexOf((groups.month ?? "").slice(0, 3).toLowerCase())
      : Number(groups.monthNumber) - 1;
  const day = Number(groups.day);
  if (month < 0 || month > 11 || day < 1 || day > 31) return undefined;
  if (groups.year !== undefined) return Date.UTC(Number(groups.year), month, day);
  const year = new Date(today).getUTCFullYear();
  const thisYear = Date.UTC(year, month, day);
  // Without a year the next such date is meant, unless it was within the last 60 days.
  return thisYear >= today - 60 * dayMs ? thisYear : Date.UTC(year + 1, month, day);
}

function resolveWeekday(text: string, today: number): number | undefined {
  const groups = weekday.exec(text)?.groups ?? chineseWeekday.exec(text)?.groups;
  if (!groups) return undefined;
  const name = (groups.name ?? "").toLowerCase();
  const index = Math.max(
    weekdays.indexOf(name),
    germanDays.indexOf(name),
    chineseDays.indexOf(name === "天" ? "日" : name),
  );
  const ahead = (index - new Date(today).getUTCDay() + 7) % 7;
  return today + (ahead + (groups.next !== undefined && ahead === 0 ? 7 : 0)) * dayMs;
}
