import { z } from "@hono/zod-openapi";
import type { Entry } from "../../domain/index.ts";
import type { Varve } from "../../index.ts";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { createMessagesSchema } from "../message-schema.ts";
import { addRoute, createRoute, failures, jsonBody, jsonContent, needs, reply } from "../routing.ts";
import { agentQuery, fields, limitQuery, sessionParam, text } from "../schemas.ts";
import { requireReadableSession, requireSession } from "../session-access.ts";
import { toSessionFields } from "./sessions.ts";

const tags = ["messages"];
const query = fields({ agent: agentQuery });
/** A larger batch would hold the store's write lock for too long. */
const batchMax = 10_000;
const pagesMax = 20;
const pageMin = 100;

const entrySchema = z
  .object({
    type: z.string().describe("message, or another kind of entry: session, compaction, reset, …"),
    id: z.string(),
    parentId: z.string().nullable(),
    time: z.number(),
    seq: z.number().describe("The sequence number; `msg#<seq>` is the citation."),
    sessionId: z.string(),
    tokens: z.number(),
    message: z.object({ role: z.string() }).optional(),
  })
  .openapi("Entry");

const pageSchema = z.object({
  entries: z.array(entrySchema),
  before: z
    .number()
    .optional()
    .describe("Pass as `before` to get the previous page; absent at the start of the conversation."),
});
const read = createRoute({
  method: "get",
  path: "/api/sessions/{key}/messages",
  ...needs("read"),
  tags,
  summary: "Get the last messages of the active branch, oldest first",
  request: {
    params: sessionParam,
    query: fields({
      agent: agentQuery,
      limit: limitQuery,
      before: z.coerce.number().int().min(1).optional().describe("The `before` of the page that was read last."),
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
});
const branches = createRoute({
  method: "get",
  path: "/api/sessions/{key}/branches",
  ...needs("read"),
  tags,
  summary: "List the branches of the conversation",
  request: { params: sessionParam, query },
  responses: { 200: jsonContent(branchesSchema, "The branches."), ...failures },
});

export function addMessageRoutes(app: GatewayApp, { varve, bus }: GatewayContext): void {
  addRoute(app, read, async (c) => {
    const { agent, all, limit = 50, before } = c.req.valid("query");
    const session = await requireReadableSession(varve, c.get("principal"), c.req.valid("param").key, agent);
    const page =
      all === "1"
        ? await varve.transcripts.read(session, { limit, before })
        : await readMessages(varve, session, limit, before);
    return reply(c, pageSchema, page);
  });

  addRoute(app, append, async (c) => {
    const session = await requireSession(
      varve,
      c.get("principal"),
      c.req.valid("param").key,
      c.req.valid("query").agent,
    );
    const result = await varve.context.ingest(session, c.req.valid("json").messages);
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
    return reply(c, branchesSchema, { branches: await varve.transcripts.branches(session) });
  });
}

type Session = Parameters<Varve["transcripts"]["read"]>[0];

/** Reads backwards until there are enough messages; stops after 20 pages and returns the cursor to continue from. */
async function readMessages(
  varve: Varve,
  session: Session,
  limit: number,
  from: number | undefined,
): Promise<{ entries: Entry[]; before?: number }> {
  let entries: Entry[] = [];
  let before = from;
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const page = await varve.transcripts.read(session, { limit: Math.max(limit, pageMin), before });
    entries = [...page.entries.filter((entry) => entry.type === "message"), ...entries];
    before = page.before;
    if (entries.length >= limit || before === undefined) break;
  }
  const kept = entries.slice(-limit);
  return { entries: kept, before: kept.length < entries.length ? kept[0]?.seq : before };
}
