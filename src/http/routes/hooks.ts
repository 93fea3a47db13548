/** The route that the hooks of other programs' plugins call. */
import { z } from "@hono/zod-openapi";
import { hasRight } from "../../authorization/index.ts";
import { VarveError } from "../../domain/index.ts";
import { answerHook, parseHookInput } from "../../plugins/index.ts";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { addRoute, createRoute, failures, jsonBody, jsonContent, needs, reply } from "../routing.ts";
import { agentQuery, fields, jsonObject } from "../schemas.ts";
import { resolveAgent } from "../session-access.ts";

const answerSchema = z.object({
  output: z.record(z.string(), z.unknown()).nullable().describe("The text that the hook prints; null for nothing."),
  pending: z.boolean().describe("Whether the work continues after this answer."),
});
const hook = createRoute({
  method: "post",
  path: "/api/hooks/claude-code",
  ...needs("read", "write"),
  tags: ["plugins"],
  summary: "Handle a hook event of Claude Code: read its transcript and recall what relates to the prompt",
  description:
    "The body is the hook's input as Claude Code sends it. Needs the rights read and write. Only files in the folder " +
    "where Claude Code keeps the session's transcripts are read.",
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
  responses: { 200: jsonContent(answerSchema, "The answer to the event."), ...failures },
});

export function addHookRoutes(app: GatewayApp, gateway: GatewayContext): void {
  const running = new Set<Promise<unknown>>();
  gateway.closers.push(async () => {
    await Promise.allSettled(running);
  });
  addRoute(app, hook, async (c) => {
    const principal = c.get("principal");
    if (!hasRight(principal, "read")) {
      throw new VarveError("FORBIDDEN", "The access token does not have the right read, which hooks need.", {
        remedy: "Use a token with the rights read and write.",
      });
    }
    const input = parseHookInput(c.req.valid("json"));
    const agent = resolveAgent(principal, c.req.valid("query").agent);
    const setting = { agent, principal, byMeaning: true, now: gateway.clock.now() };
    const work = answerHook(gateway.varve, input, setting);
    let isAnswered = false;
    const tracked = work.catch((error: unknown) => {
      // A failure before the answer is the answer itself.
      if (isAnswered) gateway.log({ event: "error", method: "POST", path: c.req.path, error });
    });
    running.add(tracked);
    void tracked.finally(() => running.delete(tracked));
    const answers = input.hook_event_name === "SessionStart" || input.hook_event_name === "UserPromptSubmit";
    if (answers) {
      const output = await work;
      return reply(c, answerSchema, { output: output === undefined ? null : { ...output }, pending: false });
    }
    // Reading a long transcript goes on after the answer: a person who types does not wait for it.
    const done = await Promise.race([work.then(() => true), falseAfter(gateway.deadlines.hookMs)]);
    isAnswered = true;
    return reply(c, answerSchema, { output: null, pending: !done });
  });
}

function falseAfter(ms: number): Promise<false> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(false), ms).unref();
  });
}
