/** Routes of the audit log. */
import { z } from "@hono/zod-openapi";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { addRoute, createRoute, failures, jsonContent, needs, reply } from "../routing.ts";
import { fields, limitQuery, text, timeQuery } from "../schemas.ts";

const tags = ["audit"];
const recordsSchema = z.object({
  enabled: z.boolean().describe("Whether events are recorded: the setting gateway.audit."),
  records: z.array(
    z
      .object({
        num: z.number(),
        time: z.number(),
        process: z.string(),
        principal: z
          .string()
          .describe("owner, the name of an access token (with the id of one in the database), or a browser."),
        action: z.string().openapi({ example: "GET /api/sessions/{key}" }),
        targets: z.record(z.string(), z.string()).describe("The ids of the objects, by kind."),
        status: z.string().describe("An HTTP status, ok, started, or the code of an error."),
        hash: z.string(),
      })
      .openapi("AuditRecord"),
  ),
});
const list = createRoute({
  method: "get",
  path: "/api/audit",
  tags,
  summary: "List who read or changed what, newest first",
  ...needs("admin"),
  request: {
    query: fields({
      since: timeQuery,
      principal: text(100).optional(),
      beforeNum: z.coerce
        .number()
        .int()
        .min(1)
        .optional()
        .openapi({ description: "The next page: the last num of this one." }),
      limit: limitQuery,
    }),
  },
  responses: { 200: jsonContent(recordsSchema, "The records."), ...failures },
});

const reportSchema = z.object({
  intact: z.boolean(),
  rows: z.number(),
  head: z.object({ num: z.number(), hash: z.string() }),
  fault: z.object({ num: z.number(), reason: z.string() }).nullable(),
});
const verify = createRoute({
  method: "get",
  path: "/api/audit/verification",
  tags,
  summary: "Check that no record of the audit log was changed or removed",
  ...needs("admin"),
  responses: { 200: jsonContent(reportSchema, "The result, with the last link of the chain."), ...failures },
});

export const auditRoutes = { list, verify };

export function addAuditRoutes(app: GatewayApp, { varve }: GatewayContext): void {
  addRoute(app, list, async (c) => {
    const records = await varve.audit.list(c.req.valid("query"));
    return reply(c, recordsSchema, { enabled: varve.audit.enabled, records });
  });
  addRoute(app, verify, async (c) => reply(c, reportSchema, await varve.audit.verify()));
}
