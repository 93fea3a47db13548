import { z } from "zod";
import { maskDatabase, secrets } from "../secrets.ts";

/** The settings that stand alone, outside any section. */
export const general = {
  database: z
    .string()
    .min(1)
    .refine((text) => !/^(?!postgres(ql)?:)[a-z][a-z0-9+.-]+:\/\//i.test(text), "must be a path or a postgres:// URL")
    .default("varve.db")
    .describe(
      "Where everything is kept: an SQLite file, or a postgres:// URL. A relative path starts at the home folder.",
    )
    .register(secrets, { mask: maskDatabase }),
  agent: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "must be lower-case letters, digits, - and _, at most 64 of them")
    .default("main")
    .describe("The agent whose memory is used when none is named."),
  timezone: z
    .string()
    .refine(isTimezone, "must be the name of a time zone, such as Europe/Berlin or UTC")
    .default(() => Intl.DateTimeFormat().resolvedOptions().timeZone)
    .describe("The time zone of daily resets and of times shown to people. The machine's own when not set."),
  redact: z
    .boolean()
    .default(true)
    .describe(
      "Whether secrets of well-known kinds are blacked out in what people read: logs, Markdown and HTML exports. JSON lines stay exact.",
    ),
};

function isTimezone(name: string): boolean {
  try {
    return Intl.DateTimeFormat("en", { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}
