import { z } from "zod";
import { keyLengthMax } from "../domain/index.ts";

const millisecondsMax = 8.64e15;
/** Smaller numbers are before 1973 in milliseconds: they are meant as seconds. */
const millisecondsLeast = 100_000_000_000;
const isoDate = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:?\d\d)?)?$/i;

const dateHint = "send a date such as 2026-05-01 or 2026-05-01T12:00Z, or milliseconds since 1970";

/** Text that every store can save and compare. */
export function text(max: number) {
  return z
    .string()
    .min(1, "must not be empty")
    .max(max, `must not be longer than ${max} characters`)
    .refine((value) => !value.includes("\u0000") && value.isWellFormed(), "must hold no NUL and no broken characters");
}

export function whole(least: number, most: number) {
  const error = `must be a whole number from ${least} to ${most}`;
  return z.int(error).min(least, error).max(most, error);
}

export function flag() {
  return z.boolean("must be true or false");
}

export function choice<const T extends readonly [string, ...string[]]>(values: T) {
  return z.enum(values, `must be one of ${values.join(", ")}`);
}

/** A date, a time, or milliseconds; UTC without a zone, like all times in results. */
export function instant() {
  return z.union([z.number(), z.string()], `must be a date or milliseconds: ${dateHint}`).transform((value, check) => {
    const parsed = parseInstant(value);
    if (typeof parsed === "number") return parsed;
    check.addIssue({ code: "custom", message: parsed });
    return z.NEVER;
  });
}

function parseInstant(value: number | string): number | string {
  const number = typeof value === "number" ? value : /^\d{11,16}$/.test(value) ? Number(value) : undefined;
  if (number !== undefined) {
    if (!Number.isInteger(number) || number < 0 || number > millisecondsMax) return `is no time: ${dateHint}`;
    return number > 0 && number < millisecondsLeast ? `looks like seconds: ${dateHint}` : number;
  }
  const [, day, clock = "00:00", zone = "Z"] = isoDate.exec(String(value)) ?? [];
  const midnight = Date.parse(`${day}T00:00Z`);
  const time = Date.parse(`${day}T${clock}${zone.toUpperCase()}`);
  // Formatting the day again detects dates that do not exist: a 31st of February would become a day in March.
  if (Number.isNaN(time) || new Date(midnight).toISOString().slice(0, 10) !== day) return `is no date: ${dateHint}`;
  return time;
}

export const conversationId = z
  .union(
    [text(keyLengthMax), z.int().min(1).transform(String)],
    "must be a session key, a session id or a conversation's number",
  )
  .optional()
  .describe(
    "Only this conversation: a session key, a session id or a conversation's number, as session_list shows them.",
  );

export const allConversations = flag()
  .optional()
  .describe("true looks through all conversations of the agent instead of the present one.");

export const tokenCap = whole(1, 200_000).optional();

const summaryId = z
  .string()
  .regex(/^sum_[0-9a-f]{16}$/, "is not the id of a summary: sum_ and 16 hex digits, as lcm_grep shows them");

export const summaryIds = z
  .array(summaryId, "must be a list of ids such as sum_0123456789abcdef")
  .min(1, "must name at least one summary")
  .max(100, "must not name more than 100 summaries")
  .optional();

export const query = text(2_000).optional();

/** `conversationId` and `allConversations` exclude each other. */
export function oneScope({
  conversationId: one,
  allConversations: all,
}: {
  conversationId?: string;
  allConversations?: boolean;
}) {
  return one === undefined || all !== true;
}

export const oneScopeFault = {
  message: "conversationId and allConversations exclude each other: send one of them",
  path: ["allConversations"],
  params: { whole: true },
};

export const cuts = z.array(z.string()).describe("What was left out, in words; empty when nothing was.");
export const note = z.string().describe("How to treat what is quoted.");
