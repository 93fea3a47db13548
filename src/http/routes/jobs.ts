import { z } from "@hono/zod-openapi";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { addRoute, createRoute, failures, jsonContent, needs, reply } from "../routing.ts";
import { agentQuery, fields, limitQuery } from "../schemas.ts";
import { resolveAgent } from "../session-access.ts";

const jobsSchema = z.object({
  jobs: z.array(
    z
      .object({
        id: z.string(),
        agent: z.string(),
        kind: z.string(),
        key: z.string().describe("The object of the job, usually a session's key."),
        state: z.string().describe("waiting, running, or failed after the last retry."),
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
  ...needs("read"),
  tags: ["maintenance"],
  summary: "List an agent's background jobs: waiting, running or failed; the next one first",
  request: {
    query: fields({
      agent: agentQuery,
      state: z.enum(["waiting", "running", "failed"]).optional(),
      limit: limitQuery,
    }),
  },
  responses: { 200: jsonContent(jobsSchema, "The jobs."), ...failures },
});

export const jobRoutes = { list };

export function addJobRoutes(app: GatewayApp, { varve }: GatewayContext): void {
  addRoute(app, list, async (c) => {
    const { agent, ...options } = c.req.valid("query");
    const jobs = await varve.jobs.list({ ...options, agent: resolveAgent(c.get("principal"), agent) });
    return reply(c, jobsSchema, { jobs });
  });
}
