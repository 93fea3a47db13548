import type { JsonValue } from "../../domain/index.ts";

/** The latest moment a `Date` can name. */
const timeMax = 8.64e15;

/** Milliseconds since 1970 from an ISO date, or from seconds, milliseconds or microseconds; told apart by their size. */
export function parseTime(value: JsonValue | undefined): number | undefined {
  if (typeof value === "number") return fromNumber(value);
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return fromNumber(Number(text));
  if (!/^\d{4}-\d\d-\d\d/.test(text)) return undefined;
  // A date without a zone would be read in the zone of whichever machine imports it.
  const zoned = /(Z|[+-]\d\d:?\d\d)$/i.test(text) || text.length <= 10 ? text : `${text}Z`;
  const time = Date.parse(zoned.replace(" ", "T").replace(/\s+/g, ""));
  return Number.isNaN(time) || time <= 0 ? undefined : time;
}

function fromNumber(value: number): number | undefined {
  if (!(value > 0)) return undefined;
  const time = value < 1e11 ? value * 1000 : value < 1e14 ? value : value / 1000;
  return time <= timeMax ? Math.round(time) : undefined;
}

/** Gives every record a time: its own, else the one before it, else the file's. */
export class RecordTimes {
  #last: number;

  constructor(fileTime: number, last?: JsonValue) {
    this.#last = typeof last === "number" ? last : fileTime;
  }

  get last(): number {
    return this.#last;
  }

  /** `lost` is the original value where the time alone cannot give it back. */
  at(value: JsonValue | undefined): { time: number; lost?: JsonValue } {
    const parsed = parseTime(value);
    if (parsed !== undefined) this.#last = parsed;
    const time = this.#last;
    if (value === undefined || value === time || value === new Date(time).toISOString()) return { time };
    return { time, lost: value };
  }
}
