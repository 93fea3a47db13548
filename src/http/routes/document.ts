import { z } from "@hono/zod-openapi";
import { version } from "../../version.ts";
import type { GatewayApp } from "../context.ts";
import { addRoute, createRoute, failures, jsonContent, reply } from "../routing.ts";

const documentSchema = z.looseObject({ openapi: z.string() });

const document = createRoute({
  method: "get",
  path: "/api/openapi.json",
  tags: ["care"],
  summary: "This document",
  responses: { 200: jsonContent(documentSchema, "The OpenAPI document."), ...failures },
});

/** The document of all routes that were added to the app before it is first asked for. */
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
          "GET needs a token with the right to read, everything else the right to write; operations marked " +
          "`x-varve-right: admin` need a token with that right.",
      },
      security: [{ token: [] }],
    }) as unknown as Record<string, unknown>;
    return reply(c, documentSchema, made as z.input<typeof documentSchema>);
  });
}
