import { createHash } from "node:crypto";
import type { JsonObject, JsonValue } from "../../domain/index.ts";

/**
 * Ids for records that have none, derived from the content and its number of repetitions so far. Reading a file again,
 * after it grew or was rotated, gives the same ids.
 */
export class ContentIds {
  readonly #seen = new Map<string, number>();

  constructor(state?: JsonObject) {
    for (const [hash, count] of Object.entries(state ?? {})) {
      if (typeof count === "number") this.#seen.set(hash, count);
    }
  }

  /** The number of distinct records; a reader that resumes must know all of them. */
  get size(): number {
    return this.#seen.size;
  }

  next(sessionId: string, kind: string, content: JsonValue | undefined, time: JsonValue | undefined): string {
    const hash = createHash("sha256")
      .update(JSON.stringify([sessionId, kind, content ?? null, time ?? null]))
      .digest("hex")
      .slice(0, 24);
    const occurrence = this.#seen.get(hash) ?? 0;
    this.#seen.set(hash, occurrence + 1);
    return occurrence === 0 ? `h-${hash}` : `h-${hash}-${occurrence}`;
  }

  state(): JsonObject {
    return Object.fromEntries(this.#seen);
  }
}

/** The latest time that a `Date` can represent. */
const timeMax = 8.64e15;

/** Parses an ISO date, or seconds, milliseconds or microseconds since 1970, which are distinguished by magnitude. */
export function parseTime(value: JsonValue | undefined): number | undefined {
  if (typeof value === "number") return parseNumericTime(value);
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return parseNumericTime(Number(text));
  if (!/^\d{4}-\d\d-\d\d/.test(text)) return undefined;
  // A date without a zone would otherwise depend on the zone of the importing machine.
  const zoned = /(Z|[+-]\d\d:?\d\d)$/i.test(text) || text.length <= 10 ? text : `${text}Z`;
  const time = Date.parse(zoned.replace(" ", "T").replace(/\s+/g, ""));
  return Number.isNaN(time) || time <= 0 ? undefined : time;
}

function parseNumericTime(value: number): number | undefined {
  if (!(value > 0)) return undefined;
  const time = value < 1e11 ? value * 1000 : value < 1e14 ? value : value / 1000;
  return time <= timeMax ? Math.round(time) : undefined;
}

/** Assigns a time to every record: its own, else that of the previous record, else that of the file. */
export class RecordTimes {
  #last: number;

  constructor(fileTime: number, last?: JsonValue) {
    this.#last = typeof last === "number" ? last : fileTime;
  }

  get last(): number {
    return this.#last;
  }

  /** `original` is the source value, when the time alone cannot reproduce it. */
  resolve(value: JsonValue | undefined): { time: number; original?: JsonValue } {
    const parsed = parseTime(value);
    if (parsed !== undefined) this.#last = parsed;
    const time = this.#last;
    if (value === undefined || value === time || value === new Date(time).toISOString()) return { time };
    return { time, original: value };
  }
}
