import type { ModelMessage, ToolModelMessage } from "ai";
import { getParts, type JsonObject, type Message, type Part, type ToolResultPart } from "../../domain/index.ts";

type UserPart = Exclude<Extract<ModelMessage, { role: "user" }>["content"], string>[number];
type AssistantPart = Exclude<Extract<ModelMessage, { role: "assistant" }>["content"], string>[number];
type ToolPart = ToolModelMessage["content"][number];
type Options = Extract<AssistantPart, { type: "text" }>["providerOptions"];

/** The conversation in the AI SDK's form. What a provider signed goes back to it as it came. */
export function toSdkMessages(messages: readonly Message[]): ModelMessage[] {
  const names = new Map<string, string>();
  for (const message of messages) {
    for (const part of getParts(message)) if (part.type === "tool_call") names.set(part.callId, part.name);
  }
  return messages.flatMap((message) => {
    if (message.role === "assistant") return assistantMessage(message);
    return heardMessages(message, names);
  });
}

/** Results of tools stand in messages of their own; everything else people and programs said is the user's. */
function heardMessages(message: Message, names: ReadonlyMap<string, string>): ModelMessage[] {
  const results: ToolPart[] = [];
  const said: UserPart[] = [];
  for (const part of getParts(message)) {
    if (part.type === "tool_result") results.push(resultPart(part, names));
    else said.push(...userParts(part));
  }
  const prefix = message.role === "system" ? "[system] " : "";
  const [first] = said;
  if (prefix && first?.type === "text") said[0] = { type: "text", text: prefix + first.text };
  return [
    ...(results.length > 0 ? [{ role: "tool" as const, content: results }] : []),
    ...(said.length > 0 ? [{ role: "user" as const, content: said }] : []),
  ];
}

function userParts(part: Part): UserPart[] {
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [{ type: "text", text: part.text }];
    case "image":
    case "file": {
      const { source } = part;
      if (source.kind === "text") return [{ type: "text", text: source.text }];
      if (source.kind === "file_id") return [{ type: "text", text: `[file ${source.fileId}]` }];
      const mediaType = part.mediaType ?? (part.type === "image" ? "image/png" : "application/octet-stream");
      const data = source.kind === "url" ? new URL(source.url) : source.data;
      return [{ type: "file", data, mediaType, ...(part.type === "file" && part.name ? { filename: part.name } : {}) }];
    }
    default:
      return [];
  }
}

function assistantMessage(message: Message): ModelMessage[] {
  const signed = (message.meta?.providerOptions ?? {}) as JsonObject;
  const content = getParts(message).flatMap((part): AssistantPart[] => {
    switch (part.type) {
      case "text":
        return part.text === "" ? [] : [{ type: "text", text: part.text }];
      case "reasoning":
        return [{ type: "reasoning", text: part.text, ...withOptions(reasoningOptions(part, message)) }];
      case "tool_call": {
        const { callId, name, input } = part;
        const options = withOptions(signed[callId] as Options);
        return [{ type: "tool-call", toolCallId: callId, toolName: name, input: input ?? {}, ...options }];
      }
      default:
        return [];
    }
  });
  return content.length > 0 ? [{ role: "assistant", content }] : [];
}

function reasoningOptions(part: Extract<Part, { type: "reasoning" }>, message: Message): Options {
  const signed = (message.meta?.providerOptions ?? {}) as JsonObject;
  const kept = signed[`reasoning ${part.text}`] as Options;
  if (kept !== undefined) return kept;
  if (part.signature !== undefined) return { anthropic: { signature: part.signature } };
  return part.encrypted === undefined ? undefined : { anthropic: { redactedData: part.encrypted } };
}

function withOptions(providerOptions: Options): { providerOptions?: NonNullable<Options> } {
  return providerOptions === undefined ? {} : { providerOptions };
}

function resultPart(part: ToolResultPart, names: ReadonlyMap<string, string>): ToolPart {
  const text = outputText(part);
  return {
    type: "tool-result",
    toolCallId: part.callId,
    toolName: part.name ?? names.get(part.callId) ?? "unknown",
    output: part.isError ? { type: "error-text", value: text } : { type: "text", value: text },
  };
}

function outputText({ output }: ToolResultPart): string {
  if (typeof output === "string") return output;
  return output.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");
}
