import { z } from "@hono/zod-openapi";
import { resultKinds } from "../../index.ts";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { addRoute, createRoute, failures, jsonContent, needs, reply } from "../routing.ts";
import { agentQuery, fields, text, timeQuery } from "../schemas.ts";
import { requireSession, resolveAgent } from "../session-access.ts";

const answerSchema = z.object({
  query: z.string(),
  mode: z.enum(["hybrid", "lexical", "vector"]),
  confidence: z.enum(["strong", "weak", "none"]),
  certainty: z.number(),
  results: z.array(
    z.object({
      kind: z.enum(resultKinds),
      id: z.string(),
      citation: z.string(),
      score: z.number(),
      snippet: z.string(),
      time: z.number(),
      sessionKey: z.string().nullable(),
      sources: z.array(z.string()),
      stages: z.record(z.string(), z.number()).optional(),
    }),
  ),
  cut: z.array(z.string()).describe("What was omitted and why."),
  degraded: z.array(z.string()).describe("Parts of the search that failed or were skipped."),
});

const search = createRoute({
  method: "get",
  path: "/api/search",
  ...needs("read"),
  tags: ["recall"],
  summary: "Search messages, summaries, memories and files by keywords and meaning, best first",
  request: {
    query: fields({
      agent: agentQuery,
      q: text(2_000).openapi({ example: "flight on Friday" }).describe("Words or a question."),
      kind: text(100)
        .refine((value) => value.split(",").every((one) => (resultKinds as readonly string[]).includes(one)), {
          error: `must be one or more of ${resultKinds.join(", ")}, comma-separated`,
        })
        .optional(),
      session: text(512).optional().describe("Only this session."),
      scope: text(512).optional().describe("Only memories of these scopes, comma-separated."),
      since: timeQuery,
      before: timeQuery,
      limit: z.coerce.number().int().min(1).max(200).optional(),
      explain: z.enum(["0", "1"]).optional(),
    }),
  },
  responses: { 200: jsonContent(answerSchema, "The results."), ...failures },
});

export function addSearchRoute(app: GatewayApp, { varve }: GatewayContext): void {
  addRoute(app, search, async (c) => {
    const { agent, q, kind, session: sessionName, explain, scope, ...rest } = c.req.valid("query");
    const principal = c.get("principal");
    const session = sessionName === undefined ? undefined : await requireSession(varve, principal, sessionName, agent);
    const answer = await varve.search.find(q, {
      ...rest,
      ...(session ? { session } : { agent: resolveAgent(principal, agent) }),
      ...(scope === undefined ? {} : { scopes: scope.split(",") }),
      principal,
      kinds: kind?.split(",") as (typeof resultKinds)[number][] | undefined,
      explain: explain === "1",
      signal: c.req.raw.signal,
    });
    return reply(c, answerSchema, answer);
  });
}
