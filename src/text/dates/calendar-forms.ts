import { alternate, monthNames, numberNames } from "./calendar-names.ts";
import type { LocalSpan } from "./local-span.ts";
import { daySpan, monthSpan, yearSpan } from "./local-span.ts";

/** A date as it is written, without what it means today. */
export type WrittenDate =
  | { kind: "span"; span: LocalSpan }
  /** A day or a month without a year. */
  | { kind: "yearless"; month: number; day?: number };

/** A way to write a date. */
export interface CalendarForm {
  pattern: string;
  /** Whether it stands between characters of a script without spaces. */
  isUnspaced?: boolean;
  read(groups: Record<string, string | undefined>): WrittenDate | undefined;
}

const months = numberNames(Object.values(monthNames));
const month = `(?<month>${alternate(months.keys())})\\.?`;
const year = "(?<year>(?:19|20)\\d\\d)";
const day = "(?<day>\\d{1,2})";
const ordinal = "(?:st|nd|rd|th|er|º|\\.)?";
const of = "(?:of\\s+|de\\s+|do\\s+|di\\s+)?";
/** Words before a month or a year that is no name of something else. */
const within = "(?:in|during|im|en|durante|nel|em|в|за)";

function readMonth(name: string | undefined): number {
  return months.get((name ?? "").toLowerCase()) ?? 0;
}

function toSpan(span: LocalSpan | undefined): WrittenDate | undefined {
  return span && { kind: "span", span };
}

function readWhole({ year: y, month: m, day: d }: Record<string, string | undefined>): WrittenDate | undefined {
  const index = /^\d/.test(m ?? "") ? Number(m) - 1 : readMonth(m);
  return toSpan(d === undefined ? monthSpan(Number(y), index) : daySpan(Number(y), index, Number(d)));
}

function readYearless({ month: m, day: d }: Record<string, string | undefined>): WrittenDate | undefined {
  const index = /^\d/.test(m ?? "") ? Number(m) - 1 : readMonth(m);
  if (index < 0 || index > 11) return undefined;
  if (d === undefined) return { kind: "yearless", month: index };
  // A leap year: the year is not known here.
  return daySpan(2024, index, Number(d)) && { kind: "yearless", month: index, day: Number(d) };
}

/** The most exact first: a full date before a month, a month before a year. */
export const datesWithYear: readonly CalendarForm[] = [
  { pattern: `(?<!\\d)${year}-(?<month>\\d\\d)-(?<day>\\d\\d)(?!\\d)`, isUnspaced: true, read: readWhole },
  { pattern: `${day}${ordinal}\\s+${of}${month},?\\s+${of}${year}`, read: readWhole },
  { pattern: `${month}\\s+${day}${ordinal},?\\s+${year}`, read: readWhole },
  { pattern: `${month},?\\s+${of}${year}`, read: readWhole },
  {
    pattern: `(?<!\\d)${year}\\s?[年년]\\s?(?<month>\\d{1,2})\\s?[月월](?:\\s?(?<day>\\d{1,2})\\s?[日号號일])?`,
    isUnspaced: true,
    read: readWhole,
  },
];

/** A year alone needs a word before it: numbers of four digits are many things. */
export const years: readonly CalendarForm[] = [
  {
    pattern: `(?:${within}|since|of|im\\s+jahre?|en\\s+el\\s+año|dans\\s+l'année)\\s+${year}`,
    read: (groups) => toSpan(yearSpan(Number(groups.year))),
  },
  { pattern: `(?<!\\d)${year}\\s?[年년]`, isUnspaced: true, read: (groups) => toSpan(yearSpan(Number(groups.year))) },
];

export const daysWithoutYear: readonly CalendarForm[] = [
  { pattern: `${day}${ordinal}\\s+${of}${month}`, read: readYearless },
  { pattern: `${month}\\s+${day}${ordinal}`, read: readYearless },
  {
    pattern: "(?<!\\d)(?<month>\\d{1,2})\\s?[月월]\\s?(?<day>\\d{1,2})\\s?[日号號일]",
    isUnspaced: true,
    read: readYearless,
  },
];

export const monthsWithoutYear: readonly CalendarForm[] = [{ pattern: `${within}\\s+${month}`, read: readYearless }];

/** "Last May", as a month. */
export const lastMonths: readonly CalendarForm[] = [
  { pattern: `(?:last|past|previous|letzte[nrms]?|vorige[nrms]?)\\s+${month}`, read: readYearless },
];
