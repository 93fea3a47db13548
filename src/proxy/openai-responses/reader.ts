import type { JsonObject } from "../../domain/index.ts";
import { parseObject, readObject, readString } from "../json.ts";
import type { ReplyReader } from "../wire.ts";

/** Assembles the events of a stream into a response. */
export function responsesReader(): ReplyReader {
  let created: JsonObject | undefined;
  let ended: JsonObject | undefined;
  const items = new Map<number, JsonObject>();
  const texts = new Map<number, string>();
  let fault: string | undefined;
  return {
    take({ data }) {
      const event = parseObject(data);
      const type = readString(event?.type);
      if (event === undefined || type === undefined) return;
      const index = typeof event.output_index === "number" ? event.output_index : 0;
      switch (type) {
        case "response.created":
          created = readObject(event.response);
          break;
        case "response.output_item.added":
        case "response.output_item.done":
          items.set(index, readObject(event.item));
          if (type.endsWith("done")) texts.delete(index);
          break;
        case "response.output_text.delta":
          texts.set(index, (texts.get(index) ?? "") + (readString(event.delta) ?? ""));
          break;
        case "response.completed":
        case "response.incomplete":
          ended = readObject(event.response);
          break;
        case "response.failed":
          ended = readObject(event.response);
          fault = readString(readObject(ended.error).message) ?? "the response failed";
          break;
        case "error":
          fault = readString(event.message) ?? "the provider reported an error";
          break;
      }
    },
    body() {
      if (created === undefined && ended === undefined) return undefined;
      const output = [...items].sort(([a], [b]) => a - b).map(([index, item]) => addText(item, texts.get(index)));
      // Some servers omit the items in the last event.
      if (ended !== undefined) return { ...ended, output: isFilled(ended) ? (ended.output ?? []) : output };
      return { ...created, output, status: "incomplete" };
    },
    isComplete: () => ended !== undefined,
    error: () => fault,
  };
}

function isFilled({ output }: JsonObject): boolean {
  return Array.isArray(output) && output.length > 0;
}

/** Returns an incomplete message with the text received so far. */
function addText(item: JsonObject, text: string | undefined): JsonObject {
  if (text === undefined || item.type !== "message") return item;
  return { ...item, content: [{ type: "output_text", text, annotations: [] }] };
}
