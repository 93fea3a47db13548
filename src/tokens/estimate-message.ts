import { getParts, type Message, type Part } from "../domain/index.ts";
import { estimateTokens } from "./estimate-text.ts";

/** What providers put around a call: its id, its type, the names of its fields. */
const toolCallTokens = 50;
/** What marks where a message begins, ends, and who speaks. */
const messageTokens = 4;
/** A picture of ordinary size, at the dearer ones of the providers. A file that is not text is taken for one page of it. */
const mediaTokens = 1_600;
/** Base64 holds three bytes in four characters, and an encrypted thought about as many bytes as it had characters. */
const encryptedCharsPerToken = 5;

/** The tokens of a message with everything in it that a model is sent, reasoning included. */
export function estimateMessageTokens(message: Pick<Message, "content" | "name">): number {
  let tokens = messageTokens + estimateTokens(message.name ?? "");
  // Results hold parts of their own. A stack of our own takes any depth, where the machine's would overflow.
  const waiting: Part[] = [...getParts(message)];
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    tokens += estimatePart(part);
    if (part.type !== "tool_result") continue;
    if (typeof part.output === "string") tokens += estimateTokens(part.output);
    else for (const inner of part.output) waiting.push(inner);
  }
  return tokens;
}

/** A part without the parts inside it. What only records how a turn went is never sent, and costs nothing. */
function estimatePart(part: Part): number {
  switch (part.type) {
    case "text":
      return estimateTokens(part.text);
    case "reasoning":
      return part.text === "" ? estimateEncrypted(part.encrypted) : estimateTokens(part.text);
    case "tool_call":
      return toolCallTokens + estimateTokens(part.name) + estimateTokens(part.inputText ?? jsonText(part.input));
    case "tool_result":
      return estimateTokens(part.name ?? "");
    case "file":
      return part.source.kind === "text" ? estimateTokens(part.source.text) : mediaTokens;
    case "image":
      return mediaTokens;
    case "patch":
      return estimateTokens(part.files.join("\n"));
    case "subtask":
      return estimateTokens(part.prompt) + estimateTokens(part.description ?? "");
    case "agent":
      return estimateTokens(part.name);
    case "compaction":
      return part.summary === undefined ? estimateEncrypted(part.encrypted) : estimateTokens(part.summary);
    case "opaque":
      return estimateTokens(jsonText(part.raw.block));
    case "step_start":
    case "step_finish":
    case "snapshot":
    case "retry":
      return 0;
  }
}

function estimateEncrypted(text: string | undefined): number {
  return Math.ceil((text?.length ?? 0) / encryptedCharsPerToken);
}

function jsonText(value: unknown): string {
  return JSON.stringify(value) ?? "";
}
