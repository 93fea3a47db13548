import type { JsonObject } from "../../domain/index.ts";
import { objectOf, parseObject, stringOf } from "../json.ts";
import type { ReplyReader } from "../wire.ts";

/** The events of a response, put together as the response they stand for. */
export function responsesReader(): ReplyReader {
  let begun: JsonObject | undefined;
  let ended: JsonObject | undefined;
  const items = new Map<number, JsonObject>();
  const texts = new Map<number, string>();
  let fault: string | undefined;
  return {
    take({ data }) {
      const event = parseObject(data);
      const type = stringOf(event?.type);
      if (event === undefined || type === undefined) return;
      const index = typeof event.output_index === "number" ? event.output_index : 0;
      switch (type) {
        case "response.created":
          begun = objectOf(event.response);
          break;
        case "response.output_item.added":
        case "response.output_item.done":
          items.set(index, objectOf(event.item));
          if (type.endsWith("done")) texts.delete(index);
          break;
        case "response.output_text.delta":
          texts.set(index, (texts.get(index) ?? "") + (stringOf(event.delta) ?? ""));
          break;
        case "response.completed":
        case "response.incomplete":
          ended = objectOf(event.response);
          break;
        case "response.failed":
          ended = objectOf(event.response);
          fault = stringOf(objectOf(ended.error).message) ?? "the response failed";
          break;
        case "error":
          fault = stringOf(event.message) ?? "the provider reported an error";
          break;
      }
    },
    body() {
      if (begun === undefined && ended === undefined) return undefined;
      const output = [...items].sort(([a], [b]) => a - b).map(([index, item]) => withText(item, texts.get(index)));
      // Some servers leave the items out of the last event.
      if (ended !== undefined) return { ...ended, output: isFilled(ended) ? (ended.output ?? []) : output };
      return { ...begun, output, status: "incomplete" };
    },
    isOver: () => ended !== undefined,
    error: () => fault,
  };
}

function isFilled({ output }: JsonObject): boolean {
  return Array.isArray(output) && output.length > 0;
}

/** A message that was cut off, with what came of it. */
function withText(item: JsonObject, text: string | undefined): JsonObject {
  if (text === undefined || item.type !== "message") return item;
  return { ...item, content: [{ type: "output_text", text, annotations: [] }] };
}
