/** The route that erases a person. */
import { z } from "@hono/zod-openapi";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { addRoute, createRoute, failures, jsonBody, jsonContent, needs, reply } from "../routing.ts";
import { fields, text } from "../schemas.ts";

const count = z.number();
const reportSchema = z
  .object({
    person: z.string(),
    dryRun: z.boolean(),
    forms: z.array(z.string()).describe("Every form of the person's id that was searched for."),
    erased: z.object({
      sessions: count,
      conversations: count,
      entries: count,
      messages: count.describe("Messages in conversations of others, replaced by a placeholder."),
      files: count,
      summaries: count,
      memories: count,
      recalls: count,
      reviews: count,
      inbox: count,
      quarantined: count,
      secrets: count,
    }),
    verification: z
      .object({ searched: count, found: count })
      .nullable()
      .describe("The search for erased text in the files of an SQLite database."),
    backups: z.array(z.string()).describe("Files that still contain what was erased: delete them."),
    notes: z.array(z.string()).describe("What was left, and why."),
  })
  .openapi("ErasureReport");

const forget = createRoute({
  method: "post",
  path: "/api/persons/{id}/forget",
  tags: ["maintenance"],
  summary: "Erase everything of a person: chats, messages in groups, summaries, memories, files, vectors",
  ...needs("admin"),
  request: {
    params: z.object({
      id: text(200).openapi({
        description: "The person's id in a channel, or a name of session.identityLinks.",
        example: "telegram:5054873275",
      }),
    }),
    body: jsonBody(
      fields({
        dryRun: z
          .boolean()
          .openapi({ description: "Whether to report what would be erased, and change nothing.", example: true }),
        names: z
          .array(text(200))
          .max(100)
          .optional()
          .describe("Further names under which the person writes in groups."),
      }),
    ),
  },
  responses: { 200: jsonContent(reportSchema, "What was erased, or would be."), ...failures },
});

export const personRoutes = { forget };

export function addPersonRoutes(app: GatewayApp, { varve }: GatewayContext): void {
  addRoute(app, forget, async (c) => {
    const report = await varve.forgetPerson(c.req.valid("param").id, c.req.valid("json"));
    return reply(c, reportSchema, { ...report, forms: [...report.forms] });
  });
}
