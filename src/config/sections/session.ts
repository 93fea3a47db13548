import { z } from "zod";

/**
 * The default is `auto` because one rule does not fit all: a chat that was silent for hours is a new conversation,
 * while an imported history or a coding session that is reopened next week is the same one.
 */
const resetModes = ["auto", "none", "daily", "idle", "both"] as const;
const resetMode = z.enum(resetModes);
const atHour = z.int().min(0).max(23);
const idleMinutes = z.int().min(1).max(525_600);

/** Exceptions for a channel or chat type; missing fields come from `session.reset`. */
const resetRule = z.strictObject({
  mode: resetMode.optional(),
  atHour: atHour.optional(),
  idleMinutes: idleMinutes.optional(),
});

const name = z.string().min(1).max(200);

export const sessionSection = z.strictObject({
  dmScope: z
    .enum(["auto", "main", "per-peer", "per-channel-peer", "per-account-channel-peer"])
    .default("auto")
    .describe(
      "Which direct chats share a conversation: those of the owner (auto); everybody's while no owner is named (main); or only those of the same peer, for an agent without an owner's chat (per-peer, per-channel-peer, per-account-channel-peer).",
    ),
  mainKey: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_.-]{0,63}$/, "must be at most 64 lower-case letters, digits, -, _ and .")
    .default("main")
    .describe("The last part of the session key that the direct chats of the owner share."),
  identityLinks: z
    .record(name, z.array(name))
    .default({})
    .describe(
      'Peers that are the same person: a name of your choice, and the peers as channel:peer, such as {ann: ["telegram:5054873275", "slack:U1"]}.',
    ),
  reset: z
    .strictObject({
      mode: resetMode
        .default("auto")
        .describe(
          "When a conversation gets a new session automatically: never (none), once a day (daily), after a silence (idle), or whichever comes first (both). auto is idle for chat channels and none for everything else.",
        ),
      atHour: atHour.default(4).describe("The hour of the daily reset, in the time zone of the setting timezone."),
      idleMinutes: idleMinutes.default(240).describe("The length of the silence that ends a session, in minutes."),
    })
    .prefault({}),
  resetByType: z
    .strictObject({
      direct: resetRule.optional().describe("Exceptions from session.reset for direct chats."),
      group: resetRule.optional().describe("Exceptions from session.reset for groups, channels and rooms."),
      thread: resetRule.optional().describe("Exceptions from session.reset for threads and topics."),
    })
    .prefault({}),
  resetByChannel: z
    .record(name, resetRule)
    .default({})
    .describe("Exceptions by channel; they take precedence over resetByType and reset."),
  resetTriggers: z
    .array(z.string().regex(/^\S+$/, "must be one word, such as /new"))
    .default(["/new", "/reset"])
    .describe(
      "Words at the start of a message that start a new session, in any case. /reset archives the conversation; the others continue it.",
    ),
  forkMaxTokens: z
    .int()
    .min(0)
    .default(100_000)
    .describe("A fork of an active branch larger than this many tokens starts with an empty context."),
});

const action = z.enum(["allow", "deny"]);

export const sendPolicySection = z.strictObject({
  default: action.default("allow").describe("Whether replies are sent when no rule matches."),
  rules: z
    .array(
      z.strictObject({
        action,
        match: z.strictObject({
          channel: z.string().min(1).optional(),
          chatType: z.enum(["direct", "group", "room"]).optional(),
          keyPrefix: z.string().min(1).optional(),
        }),
      }),
    )
    .default([])
    .describe("Rules by channel, chat type and session key prefix. The first matching deny wins."),
});
