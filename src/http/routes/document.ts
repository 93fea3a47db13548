import { z } from "@hono/zod-openapi";
import { version } from "../../version.ts";
import type { GatewayApp } from "../context.ts";
import { addRoute, createRoute, failures, jsonContent, needs, reply } from "../routing.ts";

const documentSchema = z.looseObject({ openapi: z.string() });

const document = createRoute({
  method: "get",
  path: "/api/openapi.json",
  ...needs("read"),
  tags: ["maintenance"],
  summary: "Get this OpenAPI document",
  responses: { 200: jsonContent(documentSchema, "The OpenAPI document."), ...failures },
});

/** Adds the OpenAPI document. It is created on the first request and covers all routes added by then. */
export const documentRoutes = { document };

export function addDocumentRoute(app: GatewayApp): void {
  app.openAPIRegistry.registerComponent("securitySchemes", "token", { type: "http", scheme: "bearer" });
  let made: Record<string, unknown> | undefined;
  addRoute(app, document, (c) => {
    made ??= app.getOpenAPI31Document({
      openapi: "3.1.0",
      info: {
        title: "Varve",
        version,
        description:
          "Requests need an access token with the rights that `x-varve-right` of the operation names. The right admin " +
          "includes the others.",
      },
      security: [{ token: [] }],
    }) as unknown as Record<string, unknown>;
    return reply(c, documentSchema, made as z.input<typeof documentSchema>);
  });
}
