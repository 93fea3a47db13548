import { z } from "zod";
import { durationForm, parseDuration } from "../../domain/index.ts";

const period = z
  .string()
  .refine((text) => (parseDuration(text) ?? 0) > 0, `must be ${durationForm}`)
  .optional();

export const retentionSection = z.strictObject({
  messages: period.describe(
    "How long the content of messages is kept, such as 365d; forever when not set. Summaries follow when all of their messages are older.",
  ),
  memories: period.describe("How long a memory is kept after it was last stored or used; forever when not set."),
  turns: period.describe("How long answered messages of the inbox and the results of turns are kept."),
  audit: period.describe("How long records of the audit log are kept."),
});
