import { toInstant } from "../domain/index.ts";
import { dayMs, type FoundDate, findDates, toLocalDay } from "../text/index.ts";
import type { TemporalType } from "./memory.ts";

export interface Temporal {
  temporalType: TemporalType;
  /** The end of the day that the text names. */
  expiresAt?: number;
}

const aboutNow =
  /\b(?:today|tonight|tomorrow|currently|at the moment|right now|these days|soon|this (?:week|month|year|weekend|morning|evening)|next (?:week|month|year|weekend)|(?:plan(?:s|ning)?|going|about|hoping|intend(?:s|ing)?) to|appointment|deadline|flight|heute|morgen|gerade|derzeit|momentan|bald|nächste[nrs]? (?:woche|monat|jahr)|diese woche|aujourd'hui|demain|bientôt|actuellement|la semaine prochaine|hoy|mañana|pronto|actualmente|la próxima semana)\b|今天|明天|后天|今晚|目前|现在|最近|下周|下个月|打算|计划|今日|明日|来週|今週|予定/iu;
const recurring = /\b(?:every|each|always|usually|jeden|immer|chaque|tous les|cada|todos los)\b|每/iu;

/** Whether a text is about the present or a plan (`dynamic`), and when it expires, relative to the time of the message. */
export function parseTemporal(text: string, statedAt: number, timeZone: string): Temporal {
  if (recurring.test(text)) return { temporalType: "static" };
  const today = toLocalDay(statedAt, timeZone);
  const day = findDay(text, today);
  const isDynamic = aboutNow.test(text) || (day !== undefined && day >= today);
  if (!isDynamic) return { temporalType: "static" };
  if (day === undefined || day < today) return { temporalType: "dynamic" };
  return { temporalType: "dynamic", expiresAt: toInstant(day + dayMs, timeZone) };
}

const datesMax = 8;
/** A date on the calendar says more than a day relative to today, and both more than the name of a weekday. */
const kinds = ["calendar", "yearless", "relative", "counted", "weekday"] as const;

/** The last day of the time that a text names; undefined without one. */
function findDay(text: string, today: number): number | undefined {
  const found = findDates(text, { today, yearless: "near", kinds, max: datesMax }).filter(isDay);
  const [first] = found.sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind));
  return first && (first.middle ?? first.to - dayMs);
}

/** A month or a year on the calendar is no day on which something ends. */
function isDay({ kind, unit }: FoundDate): boolean {
  return unit === "day" || (kind !== "calendar" && kind !== "yearless");
}
