import { z } from "zod";

const tokens = z.int().min(0).max(100_000_000);
const someTokens = z.int().min(1).max(100_000_000);
const milliseconds = z.int().min(0).max(86_400_000);
const fanout = z.int().min(2).max(1000);
const patterns = z.array(z.string().min(1).max(500));

/** What the model sees of a conversation: when older parts become summaries, and how. */
export const contextSection = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .describe("Whether conversations are compacted. When off, transcripts are recorded all the same."),
  contextThreshold: z
    .number()
    .min(0.05)
    .max(1)
    .default(0.75)
    .describe("The share of the window above which everything outside the fresh tail is compacted."),
  reserveTokens: tokens
    .default(20_000)
    .describe("What is kept free of the window for the answer, in tokens; at most a quarter of the window."),
  freshTailCount: z
    .int()
    .min(0)
    .max(100_000)
    .default(64)
    .describe("How many of the newest messages are never compacted."),
  freshTailMaxTokens: someTokens
    .optional()
    .describe("What those messages may have together, in tokens. The newest user message is kept in any case."),
  leafChunkTokens: someTokens
    .default(20_000)
    .describe("How many tokens of messages make one summary, and how many outside the fresh tail start one."),
  leafMinFanout: fanout.default(8).describe("How many summaries of messages make one summary above them."),
  condensedMinFanout: fanout.default(4).describe("How many summaries of summaries make one above them."),
  condensedMinFanoutHard: fanout
    .default(2)
    .describe("How many summaries make one above them when the window is about to overflow."),
  incrementalMaxDepth: z
    .int()
    .min(0)
    .max(20)
    .default(1)
    .describe("How deep summaries are made after a turn; 0 makes only summaries of messages."),
  newSessionRetainDepth: z
    .int()
    .min(0)
    .max(20)
    .default(2)
    .describe("From which depth on summaries go along into a new session that goes on from an old one."),
  leafTargetTokens: someTokens.default(2_400).describe("How long a summary of messages should be, in tokens."),
  condensedTargetTokens: someTokens.default(2_000).describe("How long a summary of summaries should be, in tokens."),
  summaryMaxOverageFactor: z
    .number()
    .min(1)
    .max(20)
    .default(3)
    .describe("How many times its target a summary may have before it is written again, more briefly."),
  summaryTimeoutMs: milliseconds
    .default(60_000)
    .describe("How long a model may take for one summary, in milliseconds."),
  summaryMaxCallsPerWindow: z
    .int()
    .min(1)
    .max(10_000)
    .default(24)
    .describe("How often models are asked for summaries in ten minutes; then there is a pause of half an hour."),
  circuitBreakerThreshold: z
    .int()
    .min(1)
    .max(1000)
    .default(5)
    .describe("After how many refused keys in a row no model is asked for summaries for a while."),
  circuitBreakerCooldownMs: milliseconds.default(1_800_000).describe("How long that while is, in milliseconds."),
  maxSweepIterations: z.int().min(1).max(1000).default(12).describe("How many passes one full sweep makes at most."),
  sweepDeadlineMs: milliseconds.default(120_000).describe("How long one full sweep may take, in milliseconds."),
  compactUntilUnderRounds: z
    .int()
    .min(1)
    .max(1000)
    .default(10)
    .describe("How many sweeps are made at most to get a context under a given size."),
  compactUntilUnderDeadlineMs: milliseconds
    .default(300_000)
    .describe("How long getting a context under a given size may take, in milliseconds."),
  keepRecentTokens: tokens
    .default(20_000)
    .describe("What a compaction by hand leaves as it is when asked to keep what is recent, in tokens."),
  bootstrapMaxTokens: someTokens
    .optional()
    .describe(
      "What enters the context when a history is first imported, in tokens; everything is stored. When not set, 30% of leafChunkTokens and at least 6000.",
    ),
  maxAssemblyTokenBudget: someTokens
    .optional()
    .describe("The most tokens a context is ever given, whatever the model's window."),
  customInstructions: z
    .string()
    .max(10_000)
    .default("")
    .describe("What summaries should also heed, in your own words."),
  ignoreSessionPatterns: patterns
    .default([])
    .describe("Sessions that are not compacted at all, by patterns of their keys in which * stands for anything."),
  statelessSessionPatterns: patterns
    .default([])
    .describe("Sessions that may read summaries but never write any, by patterns of their keys."),
  skipStatelessSessions: z.boolean().default(true).describe("Whether statelessSessionPatterns has any effect."),
});
