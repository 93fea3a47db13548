import type { EntryBody, JsonValue, Part } from "../domain/index.ts";

/** The searchable text of an entry: messages, tool calls and results, summaries and labels. */
export function getEntryText(body: EntryBody): string {
  switch (body.type) {
    case "message":
    case "custom_message":
      return typeof body.message.content === "string" ? body.message.content : getPartsText(body.message.content);
    case "compaction":
    case "branch_summary":
      return body.summary;
    case "label":
      return body.label ?? "";
    case "session":
    case "custom":
    case "reset":
    case "model_change":
      return "";
  }
}

export function getPartsText(parts: Part[]): string {
  return parts
    .map(getPartText)
    .filter((text) => text !== "")
    .join("\n");
}

function getPartText(part: Part): string {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text;
    case "tool_call":
      return `${part.name} ${part.inputText ?? collectStrings(part.input).join(" ")}`;
    case "tool_result":
      return typeof part.output === "string" ? part.output : getPartsText(part.output);
    case "file":
      return [part.name ?? "", part.source.kind === "text" ? part.source.text : ""].join(" ").trim();
    case "patch":
      return part.files.join(" ");
    case "subtask":
      return [part.description, part.prompt].filter(Boolean).join("\n");
    case "agent":
      return part.name;
    case "compaction":
      return part.summary ?? "";
    case "image":
    case "step_start":
    case "step_finish":
    case "snapshot":
    case "retry":
      return "";
    case "opaque":
      return collectStrings(part.raw.block).join(" ");
  }
}

/** Long base64 runs are not words; indexing them would only enlarge the index. */
const encodedRun = /^[A-Za-z0-9+/=_-]{256,}$/;

/** The strings and numbers inside a value, without keys. Iterative, so that deep nesting cannot overflow the stack. */
function collectStrings(value: JsonValue): string[] {
  const found: string[] = [];
  const stack: JsonValue[] = [value];
  while (stack.length > 0) {
    const item = stack.pop();
    if (typeof item === "string") {
      if (!encodedRun.test(item)) found.push(item);
    } else if (typeof item === "number") found.push(String(item));
    else if (Array.isArray(item)) stack.push(...item.toReversed());
    else if (item && typeof item === "object") stack.push(...Object.values(item).reverse());
  }
  return found;
}
