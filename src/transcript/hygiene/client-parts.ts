import {
  getParts,
  isHosted,
  type Message,
  type Part,
  type ToolCallPart,
  type ToolResultPart,
} from "../../domain/index.ts";

/** The calls of a message that somebody here has to answer, which the provider's own tools are not. */
export function clientCalls(message: Message): ToolCallPart[] {
  return getParts(message).filter((part): part is ToolCallPart => part.type === "tool_call" && !isHosted(part));
}

export function clientResults(message: Message): ToolResultPart[] {
  return getParts(message).filter(isClientResult);
}

export function isClientResult(part: Part): part is ToolResultPart {
  return part.type === "tool_result" && !isHosted(part);
}
