import { z } from "@hono/zod-openapi";
import { type Message, roles, wireFormats } from "../domain/index.ts";
import { fields, isTooDeep, jsonObject, text } from "./schemas.ts";

const messageShape = fields({
  id: text(512)
    .optional()
    .describe(
      "The client's id of the message. A message with an id that the conversation already has is not stored again.",
    ),
  role: z.enum(roles as [Message["role"], ...Message["role"][]]),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))], {
    error: 'must be a string, or a list of parts such as {"type": "text", "text": "…"}',
  }),
  time: z.number().optional().describe("Milliseconds since 1970; default: now."),
  name: z.string().optional().describe("The name of the speaker, in conversations of several people."),
  provider: z.string().optional(),
  model: z.string().optional(),
  usage: jsonObject.optional(),
  stopReason: z.string().optional(),
  wire: fields({ format: z.enum(listWireFormats()), fields: jsonObject }).optional(),
  meta: jsonObject.optional().describe("Any data that is stored with the message."),
});

function listWireFormats(): [string, ...string[]] {
  return Object.keys(wireFormats) as [string, ...string[]];
}

/**
 * The message is validated but not copied, so that it is stored exactly as sent, including the order of its keys. The
 * transcript validates the parts of its content.
 */
export const messageSchema = z
  .custom<Message>()
  .superRefine((value, context) => {
    if (isTooDeep(value)) {
      context.addIssue({ code: "custom", message: "is nested too deep" });
      return;
    }
    for (const issue of messageShape.safeParse(value).error?.issues ?? []) {
      context.addIssue({ code: "custom", message: issue.message, path: [...issue.path] });
    }
  })
  .openapi({ ...describeMessageShape(), example: { id: "m1", role: "user", content: "My flight is on Friday at 7." } });

/** Returns the shape for the OpenAPI document. */
function describeMessageShape(): Record<`x-${string}`, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(messageShape, { io: "input", unrepresentable: "any" });
  return schema as Record<`x-${string}`, unknown>;
}
