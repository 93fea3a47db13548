import { z } from "zod";

const scope = z
  .string()
  .max(300)
  .regex(
    /^(?:global|agent:\S+|user:\S+|project:\S+|custom:\S+|reflection:agent:\S+)$/,
    "must be global, agent:<id>, user:<id>, project:<id>, custom:<name> or reflection:agent:<id>",
  );

/** Which memories are extracted from conversations, and which are recalled in a turn. */
export const memorySection = z.strictObject({
  extract: z.boolean().default(true).describe("Whether memories are extracted from conversations after turns."),
  extractImports: z
    .enum(["rules", "model", "off"])
    .default("rules")
    .describe(
      "How memories are extracted from imported history, in the background: by the built-in rules, by the model (see importCallsPerDay), or not at all (off).",
    ),
  importCallsPerDay: z
    .int()
    .min(0)
    .default(100)
    .describe("The maximum model calls per day and agent for imported history, with extractImports: model."),
  extractEveryMessages: z
    .int()
    .min(1)
    .max(1_000)
    .default(5)
    .describe(
      "How many new messages trigger an extraction; an explicit request to remember something is processed immediately.",
    ),
  extractionByScope: z
    .record(scope, z.enum(["full", "episodic", "none"]))
    .default({})
    .describe("What is extracted into a scope: full (default), episodic (only events and cases) or none."),
  singleValued: z
    .array(z.string().trim().min(1).max(100))
    .max(500)
    .default([])
    .describe(
      "Further attributes of which a thing has one value at a time, such as mascot: another value replaces the known one.",
    ),
  admission: z
    .enum(["off", "balanced", "conservative", "high-recall"])
    .default("off")
    .describe(
      "How strictly new memories are filtered; doubtful ones are kept as tentative: they are found when asked for, and forgotten after 30 days unless they are repeated or accepted in a review.",
    ),
  callsPerHour: z.int().min(0).default(60).describe("The maximum model calls for memories per hour and agent."),
  tokensPerDay: z.int().min(0).default(500_000).describe("The maximum model tokens for memories per day and agent."),
  agentScopes: z
    .record(z.string().min(1).max(64), z.array(scope).max(100))
    .default({})
    .describe(
      "The scopes each agent can see instead of global and its own; its reflection scope is always included. An empty list denies everything.",
    ),
  mirror: z
    .string()
    .min(1)
    .optional()
    .describe(
      "A folder where memories are mirrored as Markdown, one file per day; edits there become new versions. A relative path starts at the home folder. Default: no mirror.",
    ),
  recall: z.boolean().default(true).describe("Whether memories and notes relevant to a prompt are added to it."),
  recallMaxItems: z.int().min(1).max(100).default(5).describe("The maximum number of memories added to a prompt."),
  recallMaxTokens: z.int().min(50).max(100_000).default(1_500).describe("The maximum total tokens of those memories."),
  recallNotesMaxItems: z
    .int()
    .min(0)
    .max(100)
    .default(3)
    .describe("The maximum number of note and file excerpts added to a prompt; 0 for none."),
  recallNotesMaxTokens: z
    .int()
    .min(50)
    .max(10_000)
    .default(10_000)
    .describe("The maximum total tokens of those excerpts."),
  recallRepeatTurns: z
    .int()
    .min(0)
    .max(1_000)
    .default(8)
    .describe("For how many turns a memory is not shown again, unless it changed."),
});
