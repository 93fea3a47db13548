import type { ReplyPart } from "../ai-sdk/reply.ts";
import type { CallResult } from "../ai-sdk/sdk-types.ts";

/** A part of a reply in Mastra's own form. */
export interface ReplyChunk {
  type: string;
  payload?: unknown;
}

/** The content of a reply in the form of the AI SDK; undefined when the model failed. */
export function readReply(chunks: readonly ReplyChunk[]): CallResult | undefined {
  const content: ReplyPart[] = [];
  const open = new Map<string, ReplyPart & { text: string }>();
  let end: Pick<CallResult, "usage" | "finishReason"> = {};
  for (const { type, payload } of chunks) {
    const fields = (payload ?? {}) as Record<string, unknown>;
    switch (type) {
      case "error":
        return undefined;
      case "text-delta":
      case "reasoning-delta":
        addText(content, open, type === "text-delta" ? "text" : "reasoning", fields);
        break;
      case "reasoning-end":
      case "text-end":
        addMetadata(open.get(String(fields.id)), fields);
        break;
      case "tool-call":
        content.push({ ...fields, type, input: fields.args ?? {} });
        break;
      case "tool-result":
        // Results of tools that the provider ran; those of the program come with the next request.
        if (fields.providerExecuted === true) content.push({ ...fields, type });
        break;
      case "finish": {
        const { stepResult, output } = fields as { stepResult?: { reason?: unknown }; output?: { usage?: unknown } };
        end = { usage: output?.usage, finishReason: stepResult?.reason };
      }
    }
  }
  return { content, ...end };
}

function addText(
  content: ReplyPart[],
  open: Map<string, ReplyPart & { text: string }>,
  type: string,
  fields: Record<string, unknown>,
): void {
  const id = String(fields.id);
  let part = open.get(id);
  if (!part) {
    part = { type, text: "" };
    open.set(id, part);
    content.push(part);
  }
  part.text += String(fields.text ?? "");
  addMetadata(part, fields);
}

/** Signatures of reasoning must come back as they were. */
function addMetadata(part: ReplyPart | undefined, { providerMetadata }: Record<string, unknown>): void {
  if (part && providerMetadata !== undefined) part.providerMetadata = providerMetadata;
}
