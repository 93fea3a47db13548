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
  inbox: period.describe(
    "How long answered messages stay in the inbox, whose transcript has them too; as long as retention.turns when not set. A channel that delivers a message again after this time is answered again.",
  ),
  turns: period.describe("How long the results of turns are kept, and answered messages of the inbox."),
  audit: period.describe("How long records of the audit log are kept."),
});
