import { z } from "@hono/zod-openapi";
import { VarveError } from "../../domain/index.ts";
import { sourceNames } from "../../index.ts";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { createImports } from "../imports.ts";
import { addRoute, createRoute, failures, jsonBody, jsonContent, needs, reply } from "../routing.ts";
import { errorSchema, fields, text } from "../schemas.ts";

const tags = ["imports"];
const importSchema = z
  .object({
    id: z.string(),
    label: z.string().describe("The folder, or the names of the files."),
    state: z.enum(["running", "done", "failed", "stopped"]),
    startedAt: z.number(),
    endedAt: z.number().optional(),
    progress: z
      .object({
        file: z.string(),
        filesDone: z.number(),
        files: z.number(),
        bytesDone: z.number(),
        bytes: z.number(),
        imported: z.number(),
      })
      .optional(),
    report: z
      .object({
        files: z.number(),
        sessions: z.number(),
        imported: z.number(),
        duplicates: z.number(),
        quarantined: z.number(),
        seconds: z.number(),
        skipped: z.array(z.string()).describe("Files of an unknown format, at most 100."),
        broken: z
          .array(z.object({ path: z.string(), record: z.number(), reason: z.string() }))
          .describe("Records that were set aside, at most 100."),
        remarks: z.array(z.string()),
      })
      .optional(),
    error: z.string().optional(),
  })
  .openapi("Import");
const importsSchema = z.object({ imports: z.array(importSchema) });
const options = {
  agent: text(128).optional(),
  source: z
    .enum(["auto", ...sourceNames])
    .optional()
    .describe("The format; default: recognised by the content."),
};
const idParam = z.object({ id: text(64) });
const missing = { 404: jsonContent(errorSchema, "There is no such folder, upload or import.") } as const;

const list = createRoute({
  method: "get",
  path: "/api/imports",
  ...needs("admin"),
  tags,
  summary: "List the imports of this gateway, newest first",
  responses: { 200: jsonContent(importsSchema, "The last 20 imports."), ...failures },
});

const start = createRoute({
  method: "post",
  path: "/api/imports",
  ...needs("admin"),
  tags,
  summary: "Import a folder of this machine, or files that were uploaded; the event stream tells the progress",
  request: {
    body: jsonBody(
      fields({
        folder: text(4096).optional().describe("A folder or file within the setting import.folders."),
        upload: text(64).optional().describe("The id of an upload."),
        ...options,
      }).openapi({ example: { upload: "1m7hjn85qafg23en6h7" } }),
    ),
  },
  responses: { 201: jsonContent(importSchema, "The import, which runs."), ...missing, ...failures },
});

const uploadSchema = z.object({ id: z.string() });
const openUpload = createRoute({
  method: "post",
  path: "/api/imports/uploads",
  ...needs("admin"),
  tags,
  summary: "Open an upload of files to import",
  responses: { 201: jsonContent(uploadSchema, "The id of the upload."), ...failures },
});

const receivedSchema = z.object({ received: z.number().describe("How many bytes of the file have arrived.") });
const addBytes = createRoute({
  method: "post",
  path: "/api/imports/uploads/{id}/files",
  ...needs("admin"),
  tags,
  summary: "Append bytes to a file of an upload",
  request: {
    params: idParam,
    query: fields({
      index: z.coerce
        .number()
        .int()
        .min(0)
        .max(99_999)
        .default(0)
        .describe("The number of the file in the upload.")
        .openapi({ example: 0 }),
      name: text(1024).describe("The name of the file.").openapi({ example: "session.jsonl" }),
      offset: z.coerce
        .number()
        .int()
        .min(0)
        .default(0)
        .describe("How many bytes of the file were sent before.")
        .openapi({ example: 0 }),
    }),
    body: {
      required: true,
      content: { "application/octet-stream": { schema: z.any().openapi({ type: "string", format: "binary" }) } },
    },
  },
  responses: { 200: jsonContent(receivedSchema, "The bytes are stored."), ...missing, ...failures },
});

const stop = createRoute({
  method: "post",
  path: "/api/imports/{id}/stop",
  ...needs("admin"),
  tags,
  summary: "Stop an import; what was imported stays, and another import continues there",
  request: { params: idParam },
  responses: { 200: jsonContent(importSchema, "The import."), ...missing, ...failures },
});

export const importRoutes = { list, start, openUpload, addBytes, stop };

export function addImportRoutes(app: GatewayApp, gateway: GatewayContext): void {
  const imports = createImports(gateway);
  gateway.closers.push(imports.close);
  addRoute(app, list, (c) => reply(c, importsSchema, { imports: imports.list() }));
  addRoute(app, start, (c) => {
    const { folder, upload, ...rest } = c.req.valid("json");
    if ((folder === undefined) === (upload === undefined)) {
      throw new VarveError("BAD_REQUEST", "An import is of a folder or of an upload.", {
        remedy: "Send either folder or upload.",
      });
    }
    const state = folder === undefined ? imports.startUpload(upload ?? "", rest) : imports.startFolder(folder, rest);
    c.set("auditTargets", { import: state.id });
    return reply(c, importSchema, state, 201);
  });
  addRoute(app, openUpload, (c) => reply(c, uploadSchema, imports.openUpload(), 201));
  addRoute(app, addBytes, async (c) => {
    const { index, name, offset } = c.req.valid("query");
    const bytes = new Uint8Array(await c.req.arrayBuffer());
    await imports.addBytes(c.req.valid("param").id, { index, name, offset }, bytes);
    return reply(c, receivedSchema, { received: offset + bytes.byteLength });
  });
  addRoute(app, stop, (c) => reply(c, importSchema, imports.stop(c.req.valid("param").id)));
}
