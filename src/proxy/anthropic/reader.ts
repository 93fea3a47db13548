import type { JsonObject, JsonValue } from "../../domain/index.ts";
import { objectOf, parseObject, stringOf } from "../json.ts";
import type { ReplyReader } from "../wire.ts";

interface Building {
  block: JsonObject;
  /** The arguments of a call come as pieces of text. */
  input?: string;
}

/** The stream of the Messages API, put together as the message it stands for. */
export function anthropicReader(): ReplyReader {
  let message: JsonObject | undefined;
  const blocks = new Map<number, Building>();
  let over = false;
  let fault: string | undefined;
  return {
    take({ data }) {
      const event = parseObject(data);
      if (event === undefined) return;
      const index = typeof event.index === "number" ? event.index : 0;
      switch (event.type) {
        case "message_start":
          message = { ...objectOf(event.message) };
          break;
        case "content_block_start":
          blocks.set(index, { block: { ...objectOf(event.content_block) } });
          break;
        case "content_block_delta":
          grow(blocks.get(index), objectOf(event.delta));
          break;
        case "message_delta":
          message = {
            ...message,
            ...objectOf(event.delta),
            usage: { ...objectOf(message?.usage), ...objectOf(event.usage) },
          };
          break;
        case "message_stop":
          over = true;
          break;
        case "error":
          fault = stringOf(objectOf(event.error).message) ?? "the provider reported an error";
          break;
      }
    },
    body: () => (message === undefined ? undefined : { ...message, content: contentOf(blocks) }),
    isOver: () => over,
    error: () => fault,
  };
}

function contentOf(blocks: ReadonlyMap<number, Building>): JsonValue[] {
  return [...blocks]
    .sort(([a], [b]) => a - b)
    .map(([, { block, input }]) =>
      input === undefined ? block : { ...block, input: parseObject(input === "" ? "{}" : input) ?? { "": input } },
    );
}

function grow(building: Building | undefined, delta: JsonObject): void {
  if (building === undefined) return;
  const { block } = building;
  const append = (key: string, more: JsonValue | undefined): void => {
    block[key] = (stringOf(block[key]) ?? "") + (stringOf(more) ?? "");
  };
  switch (delta.type) {
    case "text_delta":
      append("text", delta.text);
      break;
    case "thinking_delta":
      append("thinking", delta.thinking);
      break;
    case "signature_delta":
      append("signature", delta.signature);
      break;
    case "input_json_delta":
      building.input = (building.input ?? "") + (stringOf(delta.partial_json) ?? "");
      break;
    case "citations_delta":
      block.citations = [...(Array.isArray(block.citations) ? block.citations : []), delta.citation ?? null];
      break;
    case "compaction_delta":
      block.content = delta.content ?? null;
      break;
  }
}
