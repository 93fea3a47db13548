import { z } from "zod";

const tokens = z.int().min(1).max(100_000_000);
const milliseconds = z.int().min(0).max(86_400_000);
const fanout = z.int().min(2).max(1_000);
const pattern = z.string().min(1).max(300);

/** Settings that can also be set for some sessions, models or windows only. */
const tunable = {
  enabled: z
    .boolean()
    .default(true)
    .describe("Whether conversations are compacted. When off, transcripts are still recorded and searchable."),
  windowTokens: tokens
    .default(200_000)
    .describe("The context window of the model, in tokens, when the caller does not specify it."),
  contextThreshold: z
    .number()
    .min(0.1)
    .max(1)
    .default(0.75)
    .describe("The share of the window above which a full compaction sweep runs."),
  reserveTokens: z
    .int()
    .min(0)
    .default(20_000)
    .describe("Tokens reserved for the reply; at most a quarter of the window."),
  freshTailCount: z
    .int()
    .min(0)
    .max(10_000)
    .default(64)
    .describe("How many of the newest messages are never compacted."),
  freshTailMaxTokens: tokens.optional().describe("The maximum total tokens of those newest messages."),
  leafChunkTokens: tokens
    .min(200)
    .default(20_000)
    .describe("The maximum tokens of messages that one leaf summary covers."),
  leafMinFanout: fanout.default(8).describe("How many leaf summaries are condensed into one."),
  condensedMinFanout: fanout
    .default(4)
    .describe("How many condensed summaries of the same depth are condensed into one."),
  condensedMinFanoutHard: fanout
    .default(2)
    .describe("The same at every depth when the window would overflow otherwise."),
  incrementalMaxDepth: z
    .int()
    .min(0)
    .max(20)
    .default(1)
    .describe("The maximum depth of summaries created after a turn; deeper ones are created by full sweeps."),
  leafTargetTokens: tokens.min(96).default(2_400).describe("The target length of a leaf summary, in tokens."),
  condensedTargetTokens: tokens.min(96).default(2_000).describe("The target length of a condensed summary, in tokens."),
  summaryMaxOverageFactor: z
    .number()
    .min(1)
    .max(100)
    .default(3)
    .describe("How many times its target length a model's summary may have before it is rejected."),
  keepRecentTokens: tokens
    .default(20_000)
    .describe(
      "Tokens of recent messages that a manual compaction keeps, when this is set or the caller asks to keep recent messages. Otherwise a manual compaction summarises everything.",
    ),
  maxAssemblyTokenBudget: tokens
    .min(256)
    .optional()
    .describe("The maximum tokens of an assembled context, whatever budget the caller requests."),
  promptAware: z
    .boolean()
    .default(true)
    .describe("Whether older messages that match the prompt are added back to the context."),
  summariser: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe(
      "The id of a summariser that the program registered with openVarve; it is asked before the model and the built-in summariser.",
    ),
  customInstructions: z.string().max(4_000).default("").describe("Additional instructions for every summariser."),
};

type Tunable = typeof tunable;

/** The same settings without defaults: an override changes only what it names. */
const overridable = Object.fromEntries(
  Object.entries(tunable).map(([name, schema]) => [
    name,
    (schema instanceof z.ZodDefault ? (schema.unwrap() as z.ZodType) : schema).optional(),
  ]),
) as unknown as { [Name in keyof Tunable]: z.ZodOptional<z.ZodType<z.output<Tunable[Name]>>> };

const override = z.strictObject({
  model: pattern.optional(),
  session: pattern.optional(),
  minWindowTokens: tokens.optional(),
  maxWindowTokens: tokens.optional(),
  set: z.strictObject(overridable),
});

export const contextSection = z.strictObject({
  ...tunable,
  maxSweepIterations: z
    .int()
    .min(1)
    .max(100_000)
    .default(12)
    .describe("How many summaries a model writes in one sweep; the rest waits for the next sweep."),
  sweepDeadlineMs: milliseconds.default(120_000).describe("The time limit of one sweep, in milliseconds."),
  compactUntilUnderDeadlineMs: milliseconds
    .default(300_000)
    .describe("The time limit of a compaction to a budget, in milliseconds."),
  summaryWindowTokens: tokens
    .min(2_000)
    .optional()
    .describe(
      "The context window of the summary model, in tokens; larger inputs are split, summarised in parts and merged. Default: the model's own window, from models.windows or the catalogue.",
    ),
  summaryTimeoutMs: milliseconds.min(1).default(60_000).describe("The time limit of one model call, in milliseconds."),
  summaryMaxCallsPerWindow: z
    .int()
    .min(1)
    .default(24)
    .describe("How many times a summary model is called within ten minutes before it is paused for half an hour."),
  maxExpandTokens: tokens
    .default(4_000)
    .describe("The maximum tokens one expansion returns, when the caller does not specify it."),
  delegationTimeoutMs: milliseconds
    .min(1)
    .default(120_000)
    .describe("The time limit of a delegated reader and the lifetime of its grant, in milliseconds."),
  delegationSteps: z
    .int()
    .min(1)
    .max(20)
    .default(4)
    .describe("How many times a delegated reader may search or open something before it answers."),
  largeFileTokenThreshold: tokens
    .min(100)
    .default(25_000)
    .describe(
      "Content above this many tokens is stored as a file, and a short description replaces it in the context.",
    ),
  newSessionRetainDepth: z
    .int()
    .min(-1)
    .max(20)
    .default(2)
    .describe("What /new keeps in the context: summaries of at least this depth; -1 keeps everything."),
  bootstrapMaxTokens: tokens
    .optional()
    .describe(
      "How many tokens of an imported history stay as messages; default: 6000 or 30% of leafChunkTokens, whichever is larger. Everything before is summarised by the built-in summariser; all of it is stored.",
    ),
  maxActiveTranscriptBytes: z
    .int()
    .min(1_000)
    .optional()
    .describe("When the messages after the last summary exceed this many bytes, a turn compacts before it starts."),
  midTurnPrecheck: z
    .boolean()
    .default(false)
    .describe("Whether the prompt is checked against the window again after each tool result within a turn."),
  pruneHeartbeatOk: z
    .boolean()
    .default(false)
    .describe("Whether a compaction drops heartbeats that were answered with HEARTBEAT_OK from the context."),
  ignoreSessionPatterns: z
    .array(pattern)
    .default([])
    .describe("Sessions that are never compacted; * matches anything between colons, ** matches anything."),
  statelessSessionPatterns: z
    .array(pattern)
    .default([])
    .describe("Sessions that read the context but cause no background work, such as sub-agents."),
  skipStatelessSessions: z.boolean().default(true).describe("Whether statelessSessionPatterns is applied."),
  overrides: z
    .array(override)
    .default([])
    .describe("Different values for some sessions, models or windows; later entries take precedence."),
});
