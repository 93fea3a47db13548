import { z } from "@hono/zod-openapi";
import { fields, jsonObject, text } from "../schemas.ts";

const line = text(1000);

export const sessionSchema = z
  .object({
    agent: z.string(),
    key: z.string(),
    sessionId: z.string(),
    conversation: z.number(),
    transcript: z.number(),
    sessionStartedAt: z.number(),
    lastInteractionAt: z.number(),
    updatedAt: z.number(),
    createdAt: z.number(),
    chatType: z.string(),
    channel: z.string().optional(),
    subject: z.string().optional(),
    room: z.string().optional(),
    space: z.string().optional(),
    displayName: z.string().optional(),
    thinkingLevel: z.string().optional(),
    verboseLevel: z.string().optional(),
    reasoningLevel: z.string().optional(),
    elevatedLevel: z.string().optional(),
    sendPolicy: z.enum(["allow", "deny"]).optional(),
    providerOverride: z.string().optional(),
    modelOverride: z.string().optional(),
    authProfileOverride: z.string().optional(),
    inputTokens: z.number(),
    outputTokens: z.number(),
    totalTokens: z.number(),
    contextTokens: z.number(),
    messageCount: z.number(),
    compactionCount: z.number(),
    memoryFlushAt: z.number().optional(),
    memoryFlushCompactionCount: z.number().optional(),
    origin: z.string().optional(),
    metadata: z.record(z.string(), z.unknown()),
    cwd: z.string().optional().describe("The folder that it was started in."),
    parentKey: z.string().optional().describe("For a sub-agent: the key of the session that started it."),
    subagents: z.number().optional().describe("In a list: how many sub-agents the session started."),
    audience: z
      .string()
      .optional()
      .describe("Whom it belongs to: `user:…`, `group:…`, or `session:…` for nobody but itself; absent for the owner."),
    door: z.string().optional().describe("How it came in: owner, library, channel, http or proxy."),
    current: z.boolean().optional().describe("False for a session id that its key no longer points to."),
  })
  .openapi("Session");

export const addressSchema = fields({
  agent: text(128)
    .transform((agent) => agent.toLowerCase())
    .optional(),
  key: text(512).optional().describe("The session's key; if given, the other fields are ignored."),
  channel: line.optional(),
  account: line.optional(),
  peer: line.optional().describe("The id of the person in the channel; never that of a thread or a chat."),
  owner: z
    .boolean()
    .optional()
    .describe(
      "Whether the owner speaks. It needs this machine's token, or one with the right admin and without an agent and scopes; so does an address that names nobody.",
    ),
  group: fields({
    type: z.enum(["group", "channel", "room"]),
    id: line,
    thread: fields({ type: z.enum(["thread", "topic"]), id: line }).optional(),
  }).optional(),
  thread: fields({ type: z.enum(["thread", "topic"]), id: line })
    .optional()
    .describe("A thread of a direct chat."),
}).openapi("Address", { example: { channel: "telegram", peer: "5054873275" } });

/** An absent field is not changed, null clears it. */
export const patchSchema = fields({
  subject: line.nullish(),
  room: line.nullish(),
  space: line.nullish(),
  displayName: line.nullish(),
  thinkingLevel: line.nullish(),
  verboseLevel: line.nullish(),
  reasoningLevel: line.nullish(),
  elevatedLevel: line.nullish(),
  sendPolicy: z.enum(["allow", "deny"]).nullish(),
  providerOverride: line.nullish(),
  modelOverride: line.nullish(),
  authProfileOverride: line.nullish(),
  origin: line.nullish(),
  metadata: jsonObject.nullish(),
}).openapi("SessionPatch", { example: { displayName: "Travel" } });

export const transcriptInfoSchema = z.object({
  sessionId: z.string(),
  conversation: z.number(),
  startedAt: z.number(),
  endedAt: z.number().nullable(),
  archived: z.boolean(),
  title: z.string().nullable(),
  parentSession: z.string().nullable(),
});
