import { z } from "@hono/zod-openapi";
import type { GatewayApp, GatewayHost } from "../context.ts";
import { addRoute, createRoute, failures, jsonBody, jsonContent, reply } from "../routing.ts";
import { agentQuery, fields, limitQuery, sessionParam, text } from "../schemas.ts";
import { agentFor, findSessionFor, refuseForeignKey } from "../session-of.ts";
import { addressSchema, patchSchema, sessionSchema, transcriptInfoSchema } from "./session-schemas.ts";

const query = fields({ agent: agentQuery });
const tags = ["sessions"];

const pageSchema = z.object({
  sessions: z.array(sessionSchema),
  next: z.string().optional().describe("Pass as `after` for the next page; absent on the last."),
});
const list = createRoute({
  method: "get",
  path: "/api/sessions",
  tags,
  summary: "The sessions of an agent, the latest used first",
  request: {
    query: fields({
      agent: agentQuery,
      limit: limitQuery,
      after: text(4096).optional().describe("The `next` of the page before."),
      channel: text(200).optional(),
      chatType: text(200).optional(),
      match: text(512).optional().describe("Only keys that contain this."),
    }),
  },
  responses: { 200: jsonContent(pageSchema, "One page of sessions."), ...failures },
});

const open = createRoute({
  method: "post",
  path: "/api/sessions",
  tags,
  summary: "The session of an address: found, renewed when it had expired, or made",
  request: { body: jsonBody(addressSchema) },
  responses: {
    200: jsonContent(sessionSchema, "It was there."),
    201: jsonContent(sessionSchema, "It was made."),
    ...failures,
  },
});

const show = createRoute({
  method: "get",
  path: "/api/sessions/{key}",
  tags,
  summary: "One session",
  request: { params: sessionParam, query },
  responses: { 200: jsonContent(sessionSchema, "The session."), ...failures },
});

const patch = createRoute({
  method: "patch",
  path: "/api/sessions/{key}",
  tags,
  summary: "Set fields of a session; null clears one",
  request: { params: sessionParam, query, body: jsonBody(patchSchema) },
  responses: { 200: jsonContent(sessionSchema, "The session as it is now."), ...failures },
});

const removedSchema = z.object({ conversations: z.number(), entries: z.number() });
const remove = createRoute({
  method: "delete",
  path: "/api/sessions/{key}",
  tags,
  summary: "Remove a session with everything that was said in it",
  request: { params: sessionParam, query },
  responses: { 200: jsonContent(removedSchema, "What was removed."), ...failures },
});

const historySchema = z.object({ history: z.array(transcriptInfoSchema) });
const history = createRoute({
  method: "get",
  path: "/api/sessions/{key}/history",
  tags,
  summary: "Every session id the key has had, oldest first",
  request: { params: sessionParam, query },
  responses: { 200: jsonContent(historySchema, "The session ids."), ...failures },
});

export function addSessionRoutes(app: GatewayApp, { varve, bus }: GatewayHost): void {
  addRoute(app, list, async (c) => {
    const { agent: named, ...options } = c.req.valid("query");
    const agent = agentFor(c.get("principal"), named);
    const page = await varve.sessions.list({ ...options, ...(agent === undefined ? {} : { agent }) });
    return reply(c, pageSchema, page);
  });

  addRoute(app, open, async (c) => {
    const address = c.req.valid("json");
    const principal = c.get("principal");
    refuseForeignKey(principal, address.key);
    const { session, created, expired } = await varve.sessions.open({
      ...address,
      agent: agentFor(principal, address.agent),
    });
    if (created) bus.publish({ type: "session.created", ...named(session) });
    else if (expired) bus.publish({ type: "session.renewed", ...named(session), data: { reason: expired } });
    return reply(c, sessionSchema, session, created ? 201 : 200);
  });

  addRoute(app, show, async (c) => {
    const session = await findSessionFor(
      varve,
      c.get("principal"),
      c.req.valid("param").key,
      c.req.valid("query").agent,
    );
    return reply(c, sessionSchema, session);
  });

  addRoute(app, patch, async (c) => {
    const session = await findSessionFor(
      varve,
      c.get("principal"),
      c.req.valid("param").key,
      c.req.valid("query").agent,
    );
    const given = c.req.valid("json");
    const changed = await varve.sessions.update(session, given as Parameters<typeof varve.sessions.update>[1]);
    bus.publish({ type: "session.updated", ...named(changed), data: { fields: Object.keys(given) } });
    return reply(c, sessionSchema, changed);
  });

  addRoute(app, remove, async (c) => {
    const session = await findSessionFor(
      varve,
      c.get("principal"),
      c.req.valid("param").key,
      c.req.valid("query").agent,
    );
    const removed = await varve.sessions.delete(session);
    bus.publish({ type: "session.deleted", ...named(session), data: removed });
    return reply(c, removedSchema, removed);
  });

  addRoute(app, history, async (c) => {
    const session = await findSessionFor(
      varve,
      c.get("principal"),
      c.req.valid("param").key,
      c.req.valid("query").agent,
    );
    return reply(c, historySchema, { history: await varve.sessions.history(session) });
  });
}

/** What an event says of its session. */
export function named({ agent, key, sessionId }: { agent: string; key: string; sessionId: string }) {
  return { agent, key, sessionId };
}
