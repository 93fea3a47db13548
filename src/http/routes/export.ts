import { z } from "@hono/zod-openapi";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { addRoute, createRoute, failures, needs } from "../routing.ts";
import { agentQuery, fields, sessionParam } from "../schemas.ts";
import { requireReadableSession } from "../session-access.ts";

const formats = {
  jsonl: { type: "application/x-ndjson; charset=utf-8", ending: "jsonl" },
  markdown: { type: "text/markdown; charset=utf-8", ending: "md" },
  html: { type: "text/html; charset=utf-8", ending: "html" },
} as const;

/** Messages may contain HTML: in the sandbox no script runs and the page has no access to the gateway's origin. */
const exportPolicy = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'none'";

const exportRoute = createRoute({
  method: "get",
  path: "/api/sessions/{key}/export",
  ...needs("read"),
  tags: ["messages"],
  summary: "Export the conversation as JSON lines (complete), Markdown or HTML",
  request: {
    params: sessionParam,
    query: fields({ agent: agentQuery, format: z.enum(["jsonl", "markdown", "html"]).default("jsonl") }),
  },
  responses: {
    200: {
      description: "The conversation, streamed.",
      content: {
        "application/x-ndjson": { schema: z.string() },
        "text/markdown": { schema: z.string() },
        "text/html": { schema: z.string() },
      },
    },
    ...failures,
  },
});

export const exportRoutes = { exportRoute };

export function addExportRoute(app: GatewayApp, { varve, log }: GatewayContext): void {
  addRoute(app, exportRoute, async (c) => {
    const { agent, format } = c.req.valid("query");
    const session = await requireReadableSession(varve, c.get("principal"), c.req.valid("param").key, agent);
    const pieces = varve.transcripts.export(session, format);
    // The first piece is read before the answer starts, so that a failure there still gets an error status.
    const first = await pieces.next();
    const { type, ending } = formats[format];
    const name = session.sessionId.replace(/[^A-Za-z0-9._-]+/g, "-").slice(0, 100);
    c.header("Content-Type", type);
    c.header("Content-Disposition", `attachment; filename="varve-${name}.${ending}"`);
    c.header("Content-Security-Policy", exportPolicy);
    return c.body(
      createByteStream(first, pieces, (error) => log({ event: "error", method: "GET", path: c.req.path, error })),
    );
  });
}

/** A failure breaks the connection off, so that an incomplete export does not look complete. */
function createByteStream(
  first: IteratorResult<string>,
  pieces: AsyncGenerator<string>,
  onError: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let next: IteratorResult<string> | undefined = first;
  return new ReadableStream({
    async pull(controller) {
      try {
        const piece: IteratorResult<string> = next ?? (await pieces.next());
        next = undefined;
        if (piece.done) controller.close();
        else controller.enqueue(encoder.encode(piece.value));
      } catch (error) {
        onError(error);
        controller.error(error);
      }
    },
    async cancel() {
      await pieces.return(undefined);
    },
  });
}
