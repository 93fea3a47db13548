/** Routes that renew, reset, restore and fork a session. */
import { z } from "@hono/zod-openapi";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { addRoute, createRoute, failures, jsonBody, jsonContent, needs, reply } from "../routing.ts";
import { agentQuery, fields, sessionParam, text } from "../schemas.ts";
import { refuseForeignKey, requireSession } from "../session-access.ts";
import { sessionSchema } from "./session-schemas.ts";
import { toSessionFields } from "./sessions.ts";

const query = fields({ agent: agentQuery });
const tags = ["sessions"];
const params = sessionParam;

const renew = createRoute({
  method: "post",
  path: "/api/sessions/{key}/new",
  ...needs("read", "write"),
  tags,
  summary: "Start a new session id in the same conversation",
  request: { params, query },
  responses: { 200: jsonContent(sessionSchema, "The session with its new id."), ...failures },
});

const reset = createRoute({
  method: "post",
  path: "/api/sessions/{key}/reset",
  ...needs("read", "write"),
  tags,
  summary: "Archive the conversation and start an empty one",
  request: { params, query },
  responses: { 200: jsonContent(sessionSchema, "The session with its new id."), ...failures },
});

const restore = createRoute({
  method: "post",
  path: "/api/sessions/{key}/restore",
  ...needs("read", "write"),
  tags,
  summary: "Return to an earlier session id; default: the previous one",
  request: { params, query, body: jsonBody(fields({ sessionId: text(512).optional() }), false) },
  responses: { 200: jsonContent(sessionSchema, "The restored session."), ...failures },
});

const forkedSchema = z.object({
  session: sessionSchema,
  isolated: z.boolean().describe("True when the parent's history is too large for the child's context."),
  reason: z.string().optional(),
});
const fork = createRoute({
  method: "post",
  path: "/api/sessions/{key}/fork",
  ...needs("read", "write"),
  tags,
  summary: "Create a child session that shares the history up to an entry, without copying it",
  request: {
    params,
    query,
    body: jsonBody(
      fields({
        key: text(512).optional().describe("The child's key; default: a new sub-agent of the same agent."),
        atEntry: text(512).optional().describe("The id of the entry to fork at; default: the newest."),
      }),
      false,
    ),
  },
  responses: { 201: jsonContent(forkedSchema, "The child."), ...failures },
});

export const sessionLifecycleRoutes = { renew, reset, restore, fork };

export function addSessionLifecycleRoutes(app: GatewayApp, { varve, bus }: GatewayContext): void {
  for (const [route, kind] of [
    [renew, "new"],
    [reset, "reset"],
  ] as const) {
    addRoute(app, route, async (c) => {
      const session = await requireSession(
        varve,
        c.get("principal"),
        c.req.valid("param").key,
        c.req.valid("query").agent,
      );
      const renewed = await varve.sessions.renew(session, kind);
      const data = { mode: kind, fromSessionId: session.sessionId };
      bus.publish({ type: "session.renewed", ...toSessionFields(renewed), data });
      return reply(c, sessionSchema, renewed);
    });
  }

  addRoute(app, restore, async (c) => {
    const session = await requireSession(
      varve,
      c.get("principal"),
      c.req.valid("param").key,
      c.req.valid("query").agent,
    );
    const restored = await varve.sessions.restore(session, c.req.valid("json").sessionId);
    bus.publish({ type: "session.restored", ...toSessionFields(restored), data: { fromSessionId: session.sessionId } });
    return reply(c, sessionSchema, restored);
  });

  addRoute(app, fork, async (c) => {
    const session = await requireSession(
      varve,
      c.get("principal"),
      c.req.valid("param").key,
      c.req.valid("query").agent,
    );
    const options = c.req.valid("json");
    // A child shares its parent's transcript, and a transcript belongs to one agent.
    refuseForeignKey({ ...c.get("principal"), agents: [session.agent] }, options.key);
    const forked = await varve.sessions.fork(session, options);
    const data = { forkOf: session.key, isolated: forked.isolated };
    bus.publish({ type: "session.created", ...toSessionFields(forked.session), data });
    c.set("auditTargets", { child: forked.session.key });
    return reply(c, forkedSchema, forked, 201);
  });
}
