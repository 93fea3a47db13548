import { z } from "@hono/zod-openapi";
import { sessionSorts } from "../../index.ts";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { addRoute, createRoute, failures, jsonBody, jsonContent, needs, reply } from "../routing.ts";
import { agentQuery, fields, limitQuery, sessionParam, text } from "../schemas.ts";
import { refuseForeignKey, requireReadableSession, requireSession, resolveAgent } from "../session-access.ts";
import { checkAddressSpeaker } from "../speaker.ts";
import { addressSchema, patchSchema, sessionSchema, transcriptInfoSchema } from "./session-schemas.ts";

const query = fields({ agent: agentQuery });
const tags = ["sessions"];

const pageSchema = z.object({
  sessions: z.array(sessionSchema),
  next: z.string().optional().describe("Pass as `after` to get the next page; absent on the last page."),
});
const list = createRoute({
  method: "get",
  path: "/api/sessions",
  ...needs("read"),
  tags,
  summary: "List an agent's sessions, most recently used first or in another order",
  request: {
    query: fields({
      agent: agentQuery,
      limit: limitQuery,
      after: text(4096).optional().describe("The `next` of the previous page."),
      channel: text(200).optional(),
      chatType: text(200).optional(),
      match: text(512).optional().describe("Only sessions whose key, name or folder contains this text."),
      sort: z.enum(sessionSorts).optional().describe("The order; default: recent, most recently used first."),
      parent: text(512).optional().describe("Only the sub-agents of the session with this key."),
      all: z.enum(["0", "1"]).optional().describe("1 lists sub-agents next to the sessions that started them."),
    }),
  },
  responses: { 200: jsonContent(pageSchema, "One page of sessions."), ...failures },
});

const open = createRoute({
  method: "post",
  path: "/api/sessions",
  ...needs("read", "write"),
  tags,
  summary: "Get or create the session of an address; an expired session is renewed",
  request: { body: jsonBody(addressSchema) },
  responses: {
    200: jsonContent(sessionSchema, "An existing session."),
    201: jsonContent(sessionSchema, "A new session."),
    ...failures,
  },
});

const show = createRoute({
  method: "get",
  path: "/api/sessions/{key}",
  ...needs("read"),
  tags,
  summary: "Get a session",
  request: { params: sessionParam, query },
  responses: { 200: jsonContent(sessionSchema, "The session."), ...failures },
});

const patch = createRoute({
  method: "patch",
  path: "/api/sessions/{key}",
  ...needs("read", "write"),
  tags,
  summary: "Set fields of a session; null clears one",
  request: { params: sessionParam, query, body: jsonBody(patchSchema) },
  responses: { 200: jsonContent(sessionSchema, "The changed session."), ...failures },
});

const removedSchema = z.object({ conversations: z.number(), entries: z.number() });
const remove = createRoute({
  method: "delete",
  path: "/api/sessions/{key}",
  ...needs("write"),
  tags,
  summary: "Delete a session and its messages permanently",
  request: { params: sessionParam, query },
  responses: { 200: jsonContent(removedSchema, "The number of deleted conversations and entries."), ...failures },
});

const historySchema = z.object({ history: z.array(transcriptInfoSchema) });
const history = createRoute({
  method: "get",
  path: "/api/sessions/{key}/history",
  ...needs("read"),
  tags,
  summary: "List every session id that the key has had, oldest first",
  request: { params: sessionParam, query },
  responses: { 200: jsonContent(historySchema, "The session ids."), ...failures },
});

export const sessionRoutes = { list, open, show, patch, remove, history };

export function addSessionRoutes(app: GatewayApp, { varve, bus }: GatewayContext): void {
  addRoute(app, list, async (c) => {
    const { agent: agentName, all, ...options } = c.req.valid("query");
    const agent = resolveAgent(c.get("principal"), agentName);
    const page = await varve.sessions.list({ ...options, all: all === "1", ...(agent === undefined ? {} : { agent }) });
    return reply(c, pageSchema, page);
  });

  addRoute(app, open, async (c) => {
    const address = c.req.valid("json");
    const principal = c.get("principal");
    refuseForeignKey(principal, address.key);
    checkAddressSpeaker(principal, address);
    const { session, created, expired } = await varve.sessions.open(
      { ...address, agent: resolveAgent(principal, address.agent) },
      { door: "http" },
    );
    if (created) bus.publish({ type: "session.created", ...toSessionFields(session) });
    else if (expired) bus.publish({ type: "session.renewed", ...toSessionFields(session), data: { reason: expired } });
    c.set("auditTargets", { session: session.key });
    return reply(c, sessionSchema, session, created ? 201 : 200);
  });

  addRoute(app, show, async (c) => {
    const session = await requireReadableSession(
      varve,
      c.get("principal"),
      c.req.valid("param").key,
      c.req.valid("query").agent,
    );
    return reply(c, sessionSchema, session);
  });

  addRoute(app, patch, async (c) => {
    const session = await requireSession(
      varve,
      c.get("principal"),
      c.req.valid("param").key,
      c.req.valid("query").agent,
    );
    const given = c.req.valid("json");
    const changed = await varve.sessions.update(session, given as Parameters<typeof varve.sessions.update>[1]);
    bus.publish({ type: "session.updated", ...toSessionFields(changed), data: { fields: Object.keys(given) } });
    return reply(c, sessionSchema, changed);
  });

  addRoute(app, remove, async (c) => {
    const session = await requireSession(
      varve,
      c.get("principal"),
      c.req.valid("param").key,
      c.req.valid("query").agent,
    );
    const removed = await varve.sessions.delete(session);
    bus.publish({ type: "session.deleted", ...toSessionFields(session), data: removed });
    return reply(c, removedSchema, removed);
  });

  addRoute(app, history, async (c) => {
    const session = await requireSession(
      varve,
      c.get("principal"),
      c.req.valid("param").key,
      c.req.valid("query").agent,
    );
    return reply(c, historySchema, { history: await varve.sessions.history(session) });
  });
}

/** Picks the fields that identify the session in an event. */
export function toSessionFields({ agent, key, sessionId }: { agent: string; key: string; sessionId: string }) {
  return { agent, key, sessionId };
}
