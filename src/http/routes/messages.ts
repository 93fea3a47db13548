import { z } from "@hono/zod-openapi";
import type { Message } from "../../domain/index.ts";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { createPageReader } from "../message-pages.ts";
import { createMessagesSchema } from "../message-schema.ts";
import { addRoute, createRoute, failures, jsonBody, jsonContent, needs, reply } from "../routing.ts";
import { agentQuery, fields, limitQuery, sessionParam, text, timeQuery } from "../schemas.ts";
import { requireReadableSession, requireSession } from "../session-access.ts";
import { toSessionFields } from "./sessions.ts";

const tags = ["messages"];
const query = fields({ agent: agentQuery });
/** A larger batch would hold the store's write lock for too long. */
const batchMax = 10_000;

const entrySchema = z
  .object({
    type: z.string().describe("message, or another kind of entry: session, compaction, reset, …"),
    id: z.string(),
    parentId: z.string().nullable(),
    time: z.number(),
    seq: z.number().describe("The sequence number; `msg#<seq>` is the citation."),
    sessionId: z.string(),
    tokens: z.number(),
    message: z
      .custom<Message>()
      .optional()
      .openapi({
        type: "object",
        properties: { role: { type: "string" }, content: {} },
        required: ["role", "content"],
      }),
    summary: z.string().optional().describe("Of an entry that records a compaction."),
    mode: z.string().optional(),
    reason: z.string().optional(),
    provider: z.string().optional(),
    model: z.string().optional(),
  })
  .openapi("Entry");

const pageSchema = z.object({
  entries: z.array(entrySchema),
  before: z
    .number()
    .optional()
    .describe("Pass as `before` to get the previous page; absent at the start of the conversation."),
  after: z.number().optional().describe("Pass as `after` to get the next page; absent at the end of the conversation."),
});
const seqQuery = z.coerce.number().int().min(0).optional();
const read = createRoute({
  method: "get",
  path: "/api/sessions/{key}/messages",
  ...needs("read"),
  tags,
  summary: "Get messages of the active branch, oldest first: the last ones, or those at a place",
  request: {
    params: sessionParam,
    query: fields({
      agent: agentQuery,
      limit: limitQuery,
      before: z.coerce.number().int().min(1).optional().describe("The `before` of the page that was read last."),
      after: seqQuery.describe("The entries after this sequence number."),
      around: seqQuery.describe("The entries before and after this sequence number, half of the limit each."),
      at: timeQuery.openapi({ description: "The entries around the first one from this time on." }),
      content: z
        .enum(["original", "reference"])
        .optional()
        .describe("Whether large content is returned in full (default) or by its description, as a model sees it."),
      branch: z.coerce.number().int().min(1).optional().describe("Another branch than the active one."),
      all: z.enum(["0", "1"]).optional().describe("1 to get all entries of the branch, not only messages."),
    }),
  },
  responses: { 200: jsonContent(pageSchema, "One page."), ...failures },
});

const appendedSchema = z.object({
  entries: z.array(z.object({ id: z.string(), seq: z.number(), status: z.enum(["appended", "duplicate", "orphan"]) })),
  appended: z.number(),
  duplicates: z.number(),
});
const append = createRoute({
  method: "post",
  path: "/api/sessions/{key}/messages",
  ...needs("write"),
  tags,
  summary: "Append messages atomically; they are durable when this answers, and known ids are skipped",
  request: {
    params: sessionParam,
    query,
    body: jsonBody(fields({ messages: createMessagesSchema(batchMax) })),
  },
  responses: { 200: jsonContent(appendedSchema, "The outcome for each message."), ...failures },
});

const show = createRoute({
  method: "get",
  path: "/api/sessions/{key}/entries/{id}",
  ...needs("read"),
  tags,
  summary: "Get one entry by its id or its citation msg#N (with # encoded as %23)",
  request: { params: sessionParam.extend({ id: text(512).openapi({ example: "msg#1" }) }), query },
  responses: { 200: jsonContent(entrySchema, "The entry."), ...failures },
});

const branchesSchema = z.object({
  branches: z.array(
    z.object({
      branch: z.number(),
      parentBranch: z.number().nullable(),
      forkSeq: z.number().nullable(),
      tipSeq: z.number().nullable(),
      active: z.boolean(),
    }),
  ),
  forks: z
    .array(z.object({ key: z.string(), displayName: z.string().nullable(), forkSeq: z.number() }))
    .describe("Sessions that continue the conversation after an entry, newest first, at most 200."),
});
const branches = createRoute({
  method: "get",
  path: "/api/sessions/{key}/branches",
  ...needs("read"),
  tags,
  summary: "List the branches of the conversation and the sessions that were forked from it",
  request: { params: sessionParam, query },
  responses: { 200: jsonContent(branchesSchema, "The branches."), ...failures },
});

export const messageRoutes = { read, append, show, branches };

export function addMessageRoutes(app: GatewayApp, { varve, bus }: GatewayContext): void {
  addRoute(app, read, async (c) => {
    const { agent, all, limit = 50, before, after, around, at, content, branch } = c.req.valid("query");
    const session = await requireReadableSession(varve, c.get("principal"), c.req.valid("param").key, agent);
    const reader = createPageReader(varve, session, { all: all === "1", limit, content, branch });
    if (after !== undefined) return reply(c, pageSchema, await reader.readAfter(after));
    const place =
      at === undefined ? around : ((await varve.transcripts.findTime(session, at)) ?? Number.MAX_SAFE_INTEGER);
    return reply(c, pageSchema, place === undefined ? await reader.readBefore(before) : await reader.readAround(place));
  });

  addRoute(app, append, async (c) => {
    const session = await requireSession(
      varve,
      c.get("principal"),
      c.req.valid("param").key,
      c.req.valid("query").agent,
    );
    // A token that is limited to some scopes does not speak for the owner.
    const trust = c.get("principal").scopes === undefined ? {} : { trust: "untrusted" as const };
    const result = await varve.context.ingest(session, c.req.valid("json").messages, trust);
    const fresh = result.entries.filter((entry) => entry.status !== "duplicate").map(({ id, seq }) => ({ id, seq }));
    if (fresh.length > 0)
      bus.publish({ type: "messages.appended", ...toSessionFields(session), data: { entries: fresh } });
    return reply(c, appendedSchema, result);
  });

  addRoute(app, show, async (c) => {
    const { key, id } = c.req.valid("param");
    const session = await requireSession(varve, c.get("principal"), key, c.req.valid("query").agent);
    return reply(c, entrySchema, await varve.transcripts.entry(session, id));
  });

  addRoute(app, branches, async (c) => {
    const session = await requireSession(
      varve,
      c.get("principal"),
      c.req.valid("param").key,
      c.req.valid("query").agent,
    );
    return reply(c, branchesSchema, {
      branches: await varve.transcripts.branches(session),
      forks: await varve.transcripts.forks(session),
    });
  });
}
