import { z } from "@hono/zod-openapi";
import { type Message, roles, wireFormats } from "../domain/index.ts";
import { fields, isTooDeep, jsonObject, text } from "./schemas.ts";

const shape = fields({
  id: text(512).optional().describe("Your own id. The same id twice in one conversation is stored once."),
  role: z.enum(roles as [Message["role"], ...Message["role"][]]),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))], {
    error: 'must be a text, or a list of parts such as {"type": "text", "text": "…"}',
  }),
  time: z.number().optional().describe("Milliseconds since 1970; now when absent."),
  name: z.string().optional().describe("Who speaks, in conversations of several people."),
  provider: z.string().optional(),
  model: z.string().optional(),
  usage: jsonObject.optional(),
  stopReason: z.string().optional(),
  wire: fields({ format: z.enum(formats()), fields: jsonObject }).optional(),
  meta: jsonObject.optional().describe("Whatever you want to keep with it."),
});

function formats(): [string, ...string[]] {
  return Object.keys(wireFormats) as [string, ...string[]];
}

/**
 * A message is checked and passed on as it came, not as a copy: what is stored is what was sent, to the order of its
 * keys. The parts of its content are checked by the transcript itself.
 */
export const messageSchema = z
  .custom<Message>()
  .superRefine((value, context) => {
    if (isTooDeep(value)) {
      context.addIssue({ code: "custom", message: "is nested too deep" });
      return;
    }
    for (const issue of shape.safeParse(value).error?.issues ?? []) {
      context.addIssue({ code: "custom", message: issue.message, path: [...issue.path] });
    }
  })
  .openapi({ ...described(), example: { id: "m1", role: "user", content: "My flight is on Friday at 7." } });

/** The shape for the API's document, which knows the same words. */
function described(): Record<`x-${string}`, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, { io: "input", unrepresentable: "any" });
  return schema as Record<`x-${string}`, unknown>;
}
