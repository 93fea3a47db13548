import { z } from "zod";

const tokens = z.int().min(1).max(100_000_000);
const milliseconds = z.int().min(0).max(86_400_000);
const fanout = z.int().min(2).max(1_000);
const pattern = z.string().min(1).max(300);

/** What can be set for some sessions, models or windows only, beside for all. */
const tunable = {
  enabled: z
    .boolean()
    .default(true)
    .describe("Whether conversations are compacted. Off, transcripts are still recorded and can be searched."),
  windowTokens: tokens.default(200_000).describe("The model's window where the caller does not name one, in tokens."),
  contextThreshold: z
    .number()
    .min(0.1)
    .max(1)
    .default(0.75)
    .describe("The share of the window above which a full sweep runs."),
  reserveTokens: z
    .int()
    .min(0)
    .default(20_000)
    .describe("What is kept free for the answer, in tokens; at most a quarter of the window."),
  freshTailCount: z.int().min(0).max(10_000).default(64).describe("How many of the newest messages are not compacted."),
  freshTailMaxTokens: tokens.optional().describe("What those newest messages may hold together, in tokens."),
  leafChunkTokens: tokens.min(200).default(20_000).describe("How much one leaf summary stands for at most, in tokens."),
  leafMinFanout: fanout.default(8).describe("How many leaf summaries are condensed into one."),
  condensedMinFanout: fanout.default(4).describe("How many condensed summaries of one depth are condensed into one."),
  condensedMinFanoutHard: fanout
    .default(2)
    .describe("The same for all depths when the window would overflow otherwise."),
  incrementalMaxDepth: z
    .int()
    .min(0)
    .max(20)
    .default(1)
    .describe("The deepest summary that is made after a turn, outside of full sweeps."),
  leafTargetTokens: tokens.min(96).default(2_400).describe("How long a leaf summary should be at most, in tokens."),
  condensedTargetTokens: tokens
    .min(96)
    .default(2_000)
    .describe("How long a condensed summary should be at most, in tokens."),
  summaryMaxOverageFactor: z
    .number()
    .min(1)
    .max(100)
    .default(3)
    .describe("How many times its target a model's summary may be long before it is refused."),
  keepRecentTokens: tokens
    .default(20_000)
    .describe(
      "What a manual compaction leaves as it is, in tokens, when this is set or the caller asks to keep what is recent. Otherwise it is a hard checkpoint that leaves nothing.",
    ),
  maxAssemblyTokenBudget: tokens
    .min(256)
    .optional()
    .describe("The most an assembled context may hold, whatever budget the caller names."),
  promptAware: z
    .boolean()
    .default(true)
    .describe("Whether older messages that match the prompt are brought back into the context."),
  customInstructions: z
    .string()
    .max(4_000)
    .default("")
    .describe("What every summariser is told beside its own instructions."),
};

type Tunable = typeof tunable;

/** The same settings without their defaults: what an override does not name stays as it is. */
const changed = Object.fromEntries(
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
  set: z.strictObject(changed),
});

export const contextSection = z.strictObject({
  ...tunable,
  maxSweepIterations: z
    .int()
    .min(1)
    .max(100_000)
    .default(12)
    .describe("How many summaries a model writes in one sweep; what is left waits for the next."),
  sweepDeadlineMs: milliseconds.default(120_000).describe("How long one sweep may take, in milliseconds."),
  compactUntilUnderRounds: z
    .int()
    .min(1)
    .max(1_000)
    .default(10)
    .describe("How many sweeps a compaction to a budget makes at most."),
  compactUntilUnderDeadlineMs: milliseconds
    .default(300_000)
    .describe("How long a compaction to a budget may take, in milliseconds."),
  summaryWindowTokens: tokens
    .min(2_000)
    .optional()
    .describe("What the window of the summary model holds; larger inputs are split, summarised in parts and merged."),
  summaryTimeoutMs: milliseconds
    .min(1)
    .default(60_000)
    .describe("How long one call of a model may take, in milliseconds."),
  summaryMaxCallsPerWindow: z
    .int()
    .min(1)
    .default(24)
    .describe("How often a summary model is called in ten minutes; then it rests for half an hour."),
  circuitBreakerThreshold: z.int().min(1).default(5).describe("How many refused keys in a row make a model rest."),
  circuitBreakerCooldownMs: milliseconds
    .default(1_800_000)
    .describe("How long a model rests after its key was refused so often, in milliseconds."),
  maxExpandTokens: tokens.default(4_000).describe("How much one expansion returns where the caller names nothing."),
  delegationTimeoutMs: milliseconds
    .min(1)
    .default(120_000)
    .describe("How long a delegated reader may take, and how long its grant holds, in milliseconds."),
  largeFileTokenThreshold: tokens
    .min(100)
    .default(25_000)
    .describe("Content above this many tokens is stored beside its message, with a short description in its place."),
  newSessionRetainDepth: z
    .int()
    .min(-1)
    .max(20)
    .default(2)
    .describe("What /new keeps in the context: summaries of this depth and deeper; -1 keeps everything."),
  bootstrapMaxTokens: tokens
    .optional()
    .describe(
      "How much of an imported history stays message by message, in tokens: the larger of 6000 and 30% of leafChunkTokens when not set. What is before it is summarised by what is built in; all of it is stored.",
    ),
  maxActiveTranscriptBytes: z
    .int()
    .min(1_000)
    .optional()
    .describe("Above this many bytes behind the summaries, a turn compacts before it begins."),
  midTurnPrecheck: z
    .boolean()
    .default(false)
    .describe("Whether the prompt is checked against the window again after each tool result, inside a turn."),
  pruneHeartbeatOk: z
    .boolean()
    .default(false)
    .describe("Whether heartbeats that were answered with HEARTBEAT_OK are left out of the context at a compaction."),
  ignoreSessionPatterns: z
    .array(pattern)
    .default([])
    .describe("Sessions that are never compacted; * stands for anything between colons, ** for anything."),
  statelessSessionPatterns: z
    .array(pattern)
    .default([])
    .describe("Sessions that read the context and cause no work of their own, such as subagents."),
  skipStatelessSessions: z.boolean().default(true).describe("Whether statelessSessionPatterns have an effect."),
  overrides: z
    .array(override)
    .default([])
    .describe("Other values for some sessions, models or windows: later ones come before earlier ones."),
});
