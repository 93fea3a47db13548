import { z } from "zod";
import { findLocalTimeZone } from "../local-time-zone.ts";
import { maskDatabase, secrets } from "../secrets.ts";

/** Settings outside any section. */
export const generalSettings = {
  database: z
    .string()
    .min(1)
    .refine((text) => !/^(?!postgres(ql)?:)[a-z][a-z0-9+.-]+:\/\//i.test(text), "must be a path or a postgres:// URL")
    .default("varve.db")
    .describe("The database: a SQLite file or a postgres:// URL. A relative path starts at the home folder.")
    .register(secrets, { mask: maskDatabase }),
  databaseReplica: z
    .string()
    .regex(/^postgres(ql)?:\/\//i, "must be a postgres:// URL")
    .optional()
    .describe(
      "A replica of the PostgreSQL database, as a postgres:// URL. Searches by people and programs, status and metrics read it; while it is unreachable or more than 10 seconds behind, they read the database itself.",
    )
    .register(secrets, { mask: maskDatabase }),
  agent: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "must be at most 64 lower-case letters, digits, - and _")
    .default("main")
    .describe("The default agent."),
  timezone: z
    .string()
    .refine(isTimezone, "must be the name of a time zone, such as Europe/Berlin or UTC")
    .default(() => findLocalTimeZone())
    .describe("The time zone of daily resets and of times shown to people. Default: the time zone of the machine."),
  redact: z
    .strictObject({
      exports: z
        .boolean()
        .default(true)
        .describe(
          "Whether well-known kinds of secrets are removed from logs and from Markdown and HTML exports. JSON lines stay exact.",
        ),
      capture: z
        .enum(["off", "seal", "drop"])
        .optional()
        .describe(
          "What happens to credentials in messages when they are stored: they stay (off), are kept aside encrypted with a placeholder in their place (seal, needs encryption.key), or are dropped (drop). Default: seal when encryption.key is set, otherwise off.",
        ),
    })
    .prefault({}),
};

function isTimezone(name: string): boolean {
  if (name === "UTC") return true;
  try {
    return Intl.DateTimeFormat("en", { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}
