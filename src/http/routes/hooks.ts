/** What the hooks of other programs' plugins ask. */
import { z } from "@hono/zod-openapi";
import { hasRight } from "../../authorization/index.ts";
import { VarveError } from "../../domain/index.ts";
import { answerHook, parseHookInput } from "../../plugins/index.ts";
import type { GatewayApp, GatewayHost } from "../context.ts";
import { addRoute, createRoute, failures, jsonBody, jsonContent, reply } from "../routing.ts";
import { agentQuery, fields, jsonObject } from "../schemas.ts";
import { agentFor } from "../session-of.ts";

const answerSchema = z.object({
  output: z.record(z.string(), z.unknown()).nullable().describe("What the hook prints; null for nothing."),
  pending: z.boolean().describe("Whether the work goes on behind this answer."),
});
const hook = createRoute({
  method: "post",
  path: "/api/hooks/claude-code",
  tags: ["plugins"],
  summary: "An event of Claude Code: its transcript is read, and what fits a prompt is answered",
  description:
    "The body is the hook's input as Claude Code sends it. Needs the rights to read and to write. Files are read only " +
    "where Claude Code keeps the transcripts of the session.",
  request: {
    query: fields({ agent: agentQuery }),
    body: jsonBody(
      jsonObject.openapi({
        type: "object",
        example: {
          hook_event_name: "UserPromptSubmit",
          session_id: "0e2d9e84-3985-4cd9-9c23-63772f2793e0",
          prompt: "Which port does the gateway listen on?",
        },
      }),
    ),
  },
  responses: { 200: jsonContent(answerSchema, "What to answer the event with."), ...failures },
});

export function addHookRoutes(app: GatewayApp, host: GatewayHost): void {
  const underWay = new Set<Promise<unknown>>();
  host.closers.push(async () => {
    await Promise.allSettled(underWay);
  });
  addRoute(app, hook, async (c) => {
    const principal = c.get("principal");
    if (!hasRight(principal, "read")) {
      throw new VarveError("FORBIDDEN", "A hook reads as well as writes; the token does not carry the right to read.");
    }
    const input = parseHookInput(c.req.valid("json"));
    const agent = agentFor(principal, c.req.valid("query").agent);
    const setting = { agent, principal, byMeaning: true, now: host.clock.now() };
    const work = answerHook(host.varve, input, setting);
    let isAnswered = false;
    const tracked = work.catch((error: unknown) => {
      // What fails before that is the answer.
      if (isAnswered) host.log({ event: "error", method: "POST", path: c.req.path, error });
    });
    underWay.add(tracked);
    void tracked.finally(() => underWay.delete(tracked));
    const answers = input.hook_event_name === "SessionStart" || input.hook_event_name === "UserPromptSubmit";
    if (answers) {
      const output = await work;
      return reply(c, answerSchema, { output: output === undefined ? null : { ...output }, pending: false });
    }
    // Reading a long transcript goes on after the answer: a person who types does not wait for it.
    const done = await Promise.race([work.then(() => true), falseAfter(host.deadlines.hookMs)]);
    isAnswered = true;
    return reply(c, answerSchema, { output: null, pending: !done });
  });
}

function falseAfter(ms: number): Promise<false> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(false), ms).unref();
  });
}
