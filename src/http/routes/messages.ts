import { z } from "@hono/zod-openapi";
import type { Entry } from "../../domain/index.ts";
import type { Varve } from "../../engine.ts";
import type { GatewayApp, GatewayHost } from "../context.ts";
import { messageSchema } from "../message-schema.ts";
import { addRoute, createRoute, failures, jsonBody, jsonContent, reply } from "../routing.ts";
import { agentQuery, fields, limitQuery, sessionParam, text } from "../schemas.ts";
import { findSessionFor } from "../session-of.ts";
import { named } from "./sessions.ts";

const tags = ["messages"];
const query = fields({ agent: agentQuery });
/** What one append takes; more would hold the store's write lock for too long. */
const batchMax = 10_000;
const pagesMax = 20;
const pageMin = 100;

const entrySchema = z
  .object({
    type: z.string().describe("message, or what else a transcript holds: session, compaction, reset, …"),
    id: z.string(),
    parentId: z.string().nullable(),
    time: z.number(),
    seq: z.number().describe("Its number in the store; `msg#<seq>` is its citation."),
    sessionId: z.string(),
    tokens: z.number(),
    message: z.object({ role: z.string() }).optional(),
  })
  .openapi("Entry");

const pageSchema = z.object({
  entries: z.array(entrySchema),
  before: z.number().optional().describe("Pass as `before` for the page before; absent at the beginning."),
});
const read = createRoute({
  method: "get",
  path: "/api/sessions/{key}/messages",
  tags,
  summary: "The last messages of the active branch, oldest first",
  request: {
    params: sessionParam,
    query: fields({
      agent: agentQuery,
      limit: limitQuery,
      before: z.coerce.number().int().min(1).optional().describe("The `before` of the page that was read."),
      all: z.enum(["0", "1"]).optional().describe("1 for everything on the branch, not only messages."),
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
  tags,
  summary: "Append messages: all of them or none, durable when it answers; an id that is known is left alone",
  request: {
    params: sessionParam,
    query,
    body: jsonBody(fields({ messages: z.array(messageSchema).min(1).max(batchMax) })),
  },
  responses: { 200: jsonContent(appendedSchema, "What became of each message."), ...failures },
});

const show = createRoute({
  method: "get",
  path: "/api/sessions/{key}/entries/{id}",
  tags,
  summary: "One entry, by its id or its citation msg#N (the # URL-encoded as %23)",
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
  tags,
  summary: "The branches of the conversation, with the active one marked",
  request: { params: sessionParam, query },
  responses: { 200: jsonContent(branchesSchema, "The branches."), ...failures },
});

export function addMessageRoutes(app: GatewayApp, { varve, bus }: GatewayHost): void {
  addRoute(app, read, async (c) => {
    const { agent, all, limit = 50, before } = c.req.valid("query");
    const session = await findSessionFor(varve, c.get("principal"), c.req.valid("param").key, agent);
    const page =
      all === "1"
        ? await varve.transcripts.read(session, { limit, before })
        : await readMessages(varve, session, limit, before);
    return reply(c, pageSchema, page);
  });

  addRoute(app, append, async (c) => {
    const session = await findSessionFor(
      varve,
      c.get("principal"),
      c.req.valid("param").key,
      c.req.valid("query").agent,
    );
    const result = await varve.context.ingest(session, c.req.valid("json").messages);
    const fresh = result.entries.filter((entry) => entry.status !== "duplicate").map(({ id, seq }) => ({ id, seq }));
    if (fresh.length > 0) bus.publish({ type: "messages.appended", ...named(session), data: { entries: fresh } });
    return reply(c, appendedSchema, result);
  });

  addRoute(app, show, async (c) => {
    const { key, id } = c.req.valid("param");
    const session = await findSessionFor(varve, c.get("principal"), key, c.req.valid("query").agent);
    return reply(c, entrySchema, await varve.transcripts.entry(session, id));
  });

  addRoute(app, branches, async (c) => {
    const session = await findSessionFor(
      varve,
      c.get("principal"),
      c.req.valid("param").key,
      c.req.valid("query").agent,
    );
    return reply(c, branchesSchema, { branches: await varve.transcripts.branches(session) });
  });
}

type Session = Parameters<Varve["transcripts"]["read"]>[0];

/** Reads back until there are enough messages; past many other entries in a row it stops early, with its cursor. */
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
