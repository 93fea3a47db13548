/** Routes for what the gateway has seen: clients, warnings, backups; and doctor with repair. */
import { z } from "@hono/zod-openapi";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { addRoute, createRoute, failures, jsonBody, jsonContent, needs, reply } from "../routing.ts";
import { fields } from "../schemas.ts";
import { doctorSchema } from "./maintenance.ts";

const tags = ["maintenance"];
const clientsSchema = z.object({
  clients: z.array(
    z.object({
      name: z.string(),
      kind: z.enum(["hooks", "mcp", "proxy", "api", "console"]),
      lastAt: z.number(),
      requests: z.number(),
    }),
  ),
});
const clients = createRoute({
  method: "get",
  path: "/api/clients",
  ...needs("admin"),
  tags,
  summary: "List the clients that used this gateway since it started, the last one first",
  responses: { 200: jsonContent(clientsSchema, "The clients."), ...failures },
});

const warningsSchema = z.object({
  warnings: z.array(z.object({ time: z.number(), event: z.string(), text: z.string() })),
});
const warnings = createRoute({
  method: "get",
  path: "/api/warnings",
  ...needs("admin"),
  tags,
  summary: "List what went wrong since the gateway started, newest first, at most 200",
  responses: { 200: jsonContent(warningsSchema, "The warnings."), ...failures },
});

const backupsSchema = z.object({
  backups: z.array(z.object({ file: z.string(), time: z.number(), bytes: z.number() })),
});
const backups = createRoute({
  method: "get",
  path: "/api/backups",
  ...needs("admin"),
  tags,
  summary: "List the backups in the backups folder, newest first",
  responses: { 200: jsonContent(backupsSchema, "The backups."), ...failures },
});

const repair = createRoute({
  method: "post",
  path: "/api/doctor",
  ...needs("admin"),
  tags,
  summary: "Check the database, and repair what can be repaired after a backup",
  request: { body: jsonBody(fields({ fix: z.boolean().optional() }), false) },
  responses: { 200: jsonContent(doctorSchema, "The result of each check, and what was done."), ...failures },
});

export const systemRoutes = { clients, warnings, backups, repair };

export function addSystemRoutes(app: GatewayApp, { varve, observations }: GatewayContext): void {
  addRoute(app, clients, (c) => reply(c, clientsSchema, { clients: observations.clients() }));
  addRoute(app, warnings, (c) => reply(c, warningsSchema, { warnings: observations.warnings() }));
  addRoute(app, backups, (c) => reply(c, backupsSchema, { backups: varve.listBackups() }));
  addRoute(app, repair, async (c) =>
    reply(c, doctorSchema, await varve.doctor({ fix: c.req.valid("json").fix === true })),
  );
}
