import { z } from "@hono/zod-openapi";
import type { GatewayApp, GatewayHost } from "../context.ts";
import { addRoute, createRoute, failures, jsonContent, reply } from "../routing.ts";
import { agentQuery, fields, limitQuery } from "../schemas.ts";
import { agentFor } from "../session-of.ts";

const jobsSchema = z.object({
  jobs: z.array(
    z
      .object({
        id: z.string(),
        agent: z.string(),
        kind: z.string(),
        key: z.string().describe("What it is for, most often a session's key."),
        state: z.string().describe("waiting, running, or failed when it was given up."),
        attempts: z.number(),
        runAt: z.number(),
        error: z.string().optional(),
        createdAt: z.number(),
        updatedAt: z.number(),
      })
      .openapi("Job"),
  ),
});

const list = createRoute({
  method: "get",
  path: "/api/jobs",
  tags: ["care"],
  summary: "Background work of an agent: what waits, runs or was given up, the next one first",
  request: {
    query: fields({
      agent: agentQuery,
      state: z.enum(["waiting", "running", "failed"]).optional(),
      limit: limitQuery,
    }),
  },
  responses: { 200: jsonContent(jobsSchema, "The jobs."), ...failures },
});

export function addJobRoutes(app: GatewayApp, { varve }: GatewayHost): void {
  addRoute(app, list, async (c) => {
    const { agent, ...options } = c.req.valid("query");
    const jobs = await varve.jobs.list({ ...options, agent: agentFor(c.get("principal"), agent) });
    return reply(c, jobsSchema, { jobs });
  });
}
