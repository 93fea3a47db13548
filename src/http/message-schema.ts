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
  content: z
    .custom<Message["content"]>()
    .superRefine((content, context) => {
      const fault = findContentFault(content);
      if (fault !== undefined) context.addIssue({ code: "custom", message: fault });
    })
    .describe("A string, or a list of parts with a type each."),
  time: z.number().optional().describe("Milliseconds since 1970; default: now."),
  name: z.string().optional().describe("The name of the speaker, in conversations of several people."),
  provider: z.string().optional(),
  model: z.string().optional(),
  usage: jsonObject.optional(),
  stopReason: z.string().optional(),
  wire: fields({ format: z.enum(listWireFormats()), fields: jsonObject }).optional(),
  meta: jsonObject.optional().describe("Any data that is stored with the message."),
});

/** The transcript has no use for more; each part costs more than its bytes. */
const partsMax = 10_000;

/** Stops at the first fault: a list of a million wrong parts must not take a million errors to refuse. */
function findContentFault(content: unknown): string | undefined {
  const expected = 'must be a string, or a list of parts such as {"type": "text", "text": "…"}';
  if (typeof content === "string") return undefined;
  if (!Array.isArray(content)) return expected;
  if (content.length > partsMax) return `has ${content.length} parts, more than ${partsMax}`;
  const hasType = (part: unknown): boolean =>
    typeof part === "object" && part !== null && "type" in part && typeof part.type === "string";
  return content.every(hasType) ? undefined : expected;
}

function listWireFormats(): [string, ...string[]] {
  return Object.keys(wireFormats) as [string, ...string[]];
}

/**
 * The message is validated but not copied, so that it is stored exactly as sent, including the order of its keys. The
 * transcript validates the parts of its content.
 */
export function createMessagesSchema(max: number) {
  return z
    .custom<Message[]>()
    .superRefine((messages, context) => {
      for (const { message, path } of listMessageFaults(messages, max)) {
        context.addIssue({ code: "custom", message, path });
      }
    })
    .openapi({ type: "array", minItems: 1, maxItems: max, items: messageDescription, example: [messageExample] });
}

interface MessageFault {
  message: string;
  path: PropertyKey[];
}

/** Enough to correct a request; more would take long to collect. */
const faultsMax = 20;

function listMessageFaults(messages: unknown, max: number): MessageFault[] {
  if (!Array.isArray(messages) || messages.length === 0) return [{ message: "must be a list of messages", path: [] }];
  if (messages.length > max) return [{ message: `has ${messages.length} messages, more than ${max}`, path: [] }];
  const faults: MessageFault[] = [];
  for (const [index, value] of messages.entries()) {
    if (faults.length >= faultsMax) break;
    if (isTooDeep(value)) faults.push({ message: "is nested too deep", path: [index] });
    else {
      const issues = messageShape.safeParse(value).error?.issues ?? [];
      faults.push(...issues.map(({ message, path }) => ({ message, path: [index, ...path] })));
    }
  }
  return faults;
}

const messageExample = { id: "m1", role: "user", content: "My flight is on Friday at 7." };
const messageDescription = { ...describeMessageShape(), example: messageExample };

/** Returns the shape for the OpenAPI document. */
function describeMessageShape(): Record<`x-${string}`, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(messageShape, { io: "input", unrepresentable: "any" });
  return schema as Record<`x-${string}`, unknown>;
}
