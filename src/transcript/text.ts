import { type EntryBody, getParts, type JsonValue, type Part } from "../domain/index.ts";

/** What a person would call the text of an entry: everything in it that was said, called, answered or summarised. */
export function getEntryText(body: EntryBody): string {
  switch (body.type) {
    case "message":
    case "custom_message":
      return getPartsText(body.message.content === "" ? [] : getParts(body.message));
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
    .map(textOfPart)
    .filter((text) => text !== "")
    .join("\n");
}

function textOfPart(part: Part): string {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text;
    case "tool_call":
      return `${part.name} ${part.inputText ?? stringsOf(part.input).join(" ")}`;
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
      return stringsOf(part.raw.block).join(" ");
  }
}

/** Encoded bytes are no words: indexing them would only make the index large. */
const encodedRun = /^[A-Za-z0-9+/=_-]{256,}$/;

/** The strings inside a value, keys left out, walked without recursion so that no depth of nesting can end it. */
function stringsOf(value: JsonValue): string[] {
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
