import { z } from "zod";

/**
 * `auto` is the default because one rule does not fit all callers: a chat that went quiet for hours is a new
 * conversation, while an imported history or a coding session that is opened again next week is the same one.
 */
const resetModes = ["auto", "none", "daily", "idle", "both"] as const;
const resetMode = z.enum(resetModes);
const atHour = z.int().min(0).max(23);
const idleMinutes = z.int().min(1).max(525_600);

/** What a channel or a type of chat does differently; what it does not name comes from `session.reset`. */
const resetRule = z.strictObject({
  mode: resetMode.optional(),
  atHour: atHour.optional(),
  idleMinutes: idleMinutes.optional(),
});

const name = z.string().min(1).max(200);

export const sessionSection = z.strictObject({
  dmScope: z
    .enum(["main", "per-peer", "per-channel-peer", "per-account-channel-peer"])
    .default("main")
    .describe("Which direct chats share a conversation: all of them (main), or those of one peer."),
  mainKey: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_.-]{0,63}$/, "must be lower-case letters, digits, -, _ and ., at most 64 of them")
    .default("main")
    .describe("The last part of the key that all direct chats share when dmScope is main."),
  identityLinks: z
    .record(name, z.array(name))
    .default({})
    .describe("Peers that are one person: the canonical peer, and the others. No effect when dmScope is main."),
  reset: z
    .strictObject({
      mode: resetMode
        .default("auto")
        .describe(
          "When a conversation gets a new session by itself: never (none), once a day (daily), after a silence (idle), whichever of the two comes first (both); auto is idle for messages from chat channels and none for everything else.",
        ),
      atHour: atHour.default(4).describe("The hour of the daily reset, in the time zone of the setting timezone."),
      idleMinutes: idleMinutes.default(240).describe("How long a silence ends a session, in minutes."),
    })
    .prefault({}),
  resetByType: z
    .strictObject({
      direct: resetRule.optional().describe("What direct chats do differently from session.reset."),
      group: resetRule.optional().describe("What groups, channels and rooms do differently from session.reset."),
      thread: resetRule.optional().describe("What threads and topics do differently from session.reset."),
    })
    .prefault({}),
  resetByChannel: z
    .record(name, resetRule)
    .default({})
    .describe("What a channel does differently; it comes before resetByType and reset."),
  resetTriggers: z
    .array(z.string().regex(/^\S+$/, "must be one word, such as /new"))
    .default(["/new", "/reset"])
    .describe(
      "Words at the start of a message that begin a new session, in any case. /reset archives what was; the others go on from it.",
    ),
  forkMaxTokens: z
    .int()
    .min(0)
    .default(100_000)
    .describe("A fork of a larger active branch than this begins with an isolated context, in tokens."),
});
