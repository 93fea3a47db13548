import { z } from "zod";

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
    .describe("Rules by channel, chat type and prefix of the session key. The first deny that matches wins."),
});
