import { z } from "zod";

/** How far recall, search, tools and commands reach from within a conversation. */
export const recallSection = z.strictObject({
  visibility: z
    .enum(["agent", "person", "session"])
    .optional()
    .describe(
      "What a conversation reaches of the agent's history and memories: everything (agent), only what belongs to the same person or group (person), or only the conversation itself (session). Default: person; the owner's own conversations reach everything.",
    ),
});
