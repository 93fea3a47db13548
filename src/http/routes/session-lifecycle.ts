/** Where a session's story turns: renewed, put away, taken up again, forked. */
import { z } from "@hono/zod-openapi";
import type { GatewayApp, GatewayHost } from "../context.ts";
import { addRoute, createRoute, failures, jsonBody, jsonContent, reply } from "../routing.ts";
import { agentQuery, fields, sessionParam, text } from "../schemas.ts";
import { findSessionFor, refuseForeignKey } from "../session-of.ts";
import { sessionSchema } from "./session-schemas.ts";
import { named } from "./sessions.ts";

const query = fields({ agent: agentQuery });
const tags = ["sessions"];
const params = sessionParam;

const renew = createRoute({
  method: "post",
  path: "/api/sessions/{key}/new",
  tags,
  summary: "Open another session id in the same conversation",
  request: { params, query },
  responses: { 200: jsonContent(sessionSchema, "The session with its new id."), ...failures },
});

const reset = createRoute({
  method: "post",
  path: "/api/sessions/{key}/reset",
  tags,
  summary: "Archive the conversation and begin a fresh one",
  request: { params, query },
  responses: { 200: jsonContent(sessionSchema, "The session with its new id."), ...failures },
});

const restore = createRoute({
  method: "post",
  path: "/api/sessions/{key}/restore",
  tags,
  summary: "Go back to an earlier session id: the one before, unless one is named",
  request: { params, query, body: jsonBody(fields({ sessionId: text(512).optional() }), false) },
  responses: { 200: jsonContent(sessionSchema, "The session as it was."), ...failures },
});

const forkedSchema = z.object({
  session: sessionSchema,
  isolated: z.boolean().describe("True when the parent's branch was too large for the child to see it."),
  reason: z.string().optional(),
});
const fork = createRoute({
  method: "post",
  path: "/api/sessions/{key}/fork",
  tags,
  summary: "A child that continues from here, or from an entry, without copying",
  request: {
    params,
    query,
    body: jsonBody(
      fields({
        key: text(512).optional().describe("The child's key; a new sub-agent of the same agent when absent."),
        atEntry: text(512).optional().describe("The id of the entry to fork at; the newest when absent."),
      }),
      false,
    ),
  },
  responses: { 201: jsonContent(forkedSchema, "The child."), ...failures },
});

export function addSessionLifecycleRoutes(app: GatewayApp, { varve, bus }: GatewayHost): void {
  for (const [route, kind] of [
    [renew, "new"],
    [reset, "reset"],
  ] as const) {
    addRoute(app, route, async (c) => {
      const session = await findSessionFor(
        varve,
        c.get("principal"),
        c.req.valid("param").key,
        c.req.valid("query").agent,
      );
      const renewed = await varve.sessions.renew(session, kind);
      const data = { mode: kind, fromSessionId: session.sessionId };
      bus.publish({ type: "session.renewed", ...named(renewed), data });
      return reply(c, sessionSchema, renewed);
    });
  }

  addRoute(app, restore, async (c) => {
    const session = await findSessionFor(
      varve,
      c.get("principal"),
      c.req.valid("param").key,
      c.req.valid("query").agent,
    );
    const restored = await varve.sessions.restore(session, c.req.valid("json").sessionId);
    bus.publish({ type: "session.restored", ...named(restored), data: { fromSessionId: session.sessionId } });
    return reply(c, sessionSchema, restored);
  });

  addRoute(app, fork, async (c) => {
    const session = await findSessionFor(
      varve,
      c.get("principal"),
      c.req.valid("param").key,
      c.req.valid("query").agent,
    );
    const options = c.req.valid("json");
    // A child shares its parent's log, and a log belongs to one agent.
    refuseForeignKey({ ...c.get("principal"), agents: [session.agent] }, options.key);
    const forked = await varve.sessions.fork(session, options);
    const data = { forkOf: session.key, isolated: forked.isolated };
    bus.publish({ type: "session.created", ...named(forked.session), data });
    return reply(c, forkedSchema, forked, 201);
  });
}
