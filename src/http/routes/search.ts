/** Finding anything by its words and its meaning. */
import { z } from "@hono/zod-openapi";
import { resultKinds } from "../../engine.ts";
import type { GatewayApp, GatewayHost } from "../context.ts";
import { addRoute, createRoute, failures, jsonContent, reply } from "../routing.ts";
import { agentQuery, fields, text, timeQuery } from "../schemas.ts";
import { agentFor, findSessionFor } from "../session-of.ts";

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
  cut: z.array(z.string()).describe("What was left out, and why."),
  degraded: z.array(z.string()).describe("What did not work as it should."),
});

const search = createRoute({
  method: "get",
  path: "/api/search",
  tags: ["recall"],
  summary: "Messages, summaries and large content by words and meaning, best first",
  request: {
    query: fields({
      agent: agentQuery,
      q: text(2_000).openapi({ example: "flight on Friday" }).describe("A question, or words."),
      kind: text(100)
        .refine((value) => value.split(",").every((one) => (resultKinds as readonly string[]).includes(one)), {
          error: `must be some of ${resultKinds.join(", ")}, with commas between`,
        })
        .optional(),
      session: text(512).optional().describe("Only this session."),
      scope: text(512).optional().describe("Memories of these scopes only, with commas between."),
      since: timeQuery,
      before: timeQuery,
      limit: z.coerce.number().int().min(1).max(200).optional(),
      explain: z.enum(["0", "1"]).optional(),
    }),
  },
  responses: { 200: jsonContent(answerSchema, "The results."), ...failures },
});

export function addSearchRoute(app: GatewayApp, { varve }: GatewayHost): void {
  addRoute(app, search, async (c) => {
    const { agent, q, kind, session: named, explain, scope, ...rest } = c.req.valid("query");
    const principal = c.get("principal");
    const session = named === undefined ? undefined : await findSessionFor(varve, principal, named, agent);
    const answer = await varve.search.find(q, {
      ...rest,
      ...(session ? { session } : { agent: agentFor(principal, agent) }),
      ...(scope === undefined ? {} : { scopes: scope.split(",") }),
      principal,
      kinds: kind?.split(",") as (typeof resultKinds)[number][] | undefined,
      explain: explain === "1",
      signal: c.req.raw.signal,
    });
    return reply(c, answerSchema, answer);
  });
}
