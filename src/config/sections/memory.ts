import { z } from "zod";

const scope = z
  .string()
  .max(300)
  .regex(
    /^(?:global|agent:\S+|user:\S+|project:\S+|custom:\S+|reflection:agent:\S+)$/,
    "must be global, agent:<id>, user:<id>, project:<id>, custom:<name> or reflection:agent:<id>",
  );

/** What is drawn from conversations and kept, and what of it comes back into a turn. */
export const memorySection = z.strictObject({
  extract: z.boolean().default(true).describe("Whether memories are drawn from conversations after their turns."),
  extractEveryMessages: z
    .int()
    .min(1)
    .max(1_000)
    .default(5)
    .describe("How many new messages it takes; what somebody asks to remember is not put off."),
  extractionByScope: z
    .record(scope, z.enum(["full", "episodic", "none"]))
    .default({})
    .describe("What is drawn into a scope: full, episodic (only events and cases) or none. full when not set."),
  admission: z
    .enum(["off", "balanced", "conservative", "high-recall"])
    .default("off")
    .describe("How strict the gate before the store is; what is doubtful waits in a list for a person to decide."),
  callsPerHour: z.int().min(0).default(60).describe("How often a model is asked about memories in an hour, per agent."),
  tokensPerDay: z
    .int()
    .min(0)
    .default(500_000)
    .describe("How many tokens models may use for memories in a day, per agent."),
  agentScopes: z
    .record(z.string().min(1).max(64), z.array(scope).max(100))
    .default({})
    .describe(
      "What an agent sees instead of global and its own scope, by agent; its reflection stays. An empty list denies everything.",
    ),
  mirror: z
    .string()
    .min(1)
    .optional()
    .describe(
      "A folder in which memories stand as Markdown, a file a day; edits there come back as new versions. A relative path starts at the home folder. No mirror when not set.",
    ),
  recall: z.boolean().default(true).describe("Whether memories and notes that fit a prompt are put beside it."),
  recallMaxItems: z.int().min(1).max(100).default(5).describe("How many memories come with a prompt at most."),
  recallMaxTokens: z.int().min(50).max(100_000).default(1_500).describe("How many tokens they may have together."),
  recallNotesMaxItems: z
    .int()
    .min(0)
    .max(100)
    .default(3)
    .describe("How many parts of notes and files come with a prompt at most; 0 for none."),
  recallNotesMaxTokens: z
    .int()
    .min(50)
    .max(10_000)
    .default(10_000)
    .describe("How many tokens those may have together."),
  recallRepeatTurns: z
    .int()
    .min(0)
    .max(1_000)
    .default(8)
    .describe("For how many turns what was shown is not shown again, unless it changed."),
});
