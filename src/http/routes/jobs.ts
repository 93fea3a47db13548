import { z } from "@hono/zod-openapi";
import { VarveError } from "../../domain/index.ts";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { addRoute, createRoute, failures, jsonContent, needs, reply } from "../routing.ts";
import { agentQuery, errorSchema, fields, limitQuery, text } from "../schemas.ts";
import { resolveAgent } from "../session-access.ts";

const jobSchema = z
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
  .openapi("Job");
const jobsSchema = z.object({ jobs: z.array(jobSchema) });

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

const retry = createRoute({
  method: "post",
  path: "/api/jobs/{id}/retry",
  ...needs("read", "write"),
  tags: ["maintenance"],
  summary: "Queue a failed job again",
  request: { params: z.object({ id: text(64) }), query: fields({ agent: agentQuery }) },
  responses: {
    200: jsonContent(jobSchema, "The job, which waits."),
    404: jsonContent(errorSchema, "There is no failed job with this id."),
    ...failures,
  },
});

export const jobRoutes = { list, retry };

export function addJobRoutes(app: GatewayApp, { varve }: GatewayContext): void {
  addRoute(app, list, async (c) => {
    const { agent, ...options } = c.req.valid("query");
    const jobs = await varve.jobs.list({ ...options, agent: resolveAgent(c.get("principal"), agent) });
    return reply(c, jobsSchema, { jobs });
  });
  addRoute(app, retry, async (c) => {
    const { id } = c.req.valid("param");
    const job = await varve.jobs.retry(id, resolveAgent(c.get("principal"), c.req.valid("query").agent));
    if (job) return reply(c, jobSchema, job);
    throw new VarveError("NOT_FOUND", `There is no failed job ${JSON.stringify(id)}.`, {
      remedy: "GET /api/jobs?state=failed lists them; a job that waits runs by itself.",
    });
  });
}
