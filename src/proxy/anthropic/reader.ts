import type { JsonObject, JsonValue } from "../../domain/index.ts";
import { parseObject, readObject, readString } from "../json.ts";
import type { ReplyReader } from "../wire.ts";

interface PartialBlock {
  block: JsonObject;
  /** The arguments of a call, which are streamed as text. */
  input?: string;
}

/** Assembles the stream of the Messages API into a message. */
export function anthropicReader(): ReplyReader {
  let message: JsonObject | undefined;
  const blocks = new Map<number, PartialBlock>();
  let complete = false;
  let fault: string | undefined;
  return {
    take({ data }) {
      const event = parseObject(data);
      if (event === undefined) return;
      const index = typeof event.index === "number" ? event.index : 0;
      switch (event.type) {
        case "message_start":
          message = { ...readObject(event.message) };
          break;
        case "content_block_start":
          blocks.set(index, { block: { ...readObject(event.content_block) } });
          break;
        case "content_block_delta":
          applyDelta(blocks.get(index), readObject(event.delta));
          break;
        case "message_delta":
          message = {
            ...message,
            ...readObject(event.delta),
            usage: { ...readObject(message?.usage), ...readObject(event.usage) },
          };
          break;
        case "message_stop":
          complete = true;
          break;
        case "error":
          fault = readString(readObject(event.error).message) ?? "the provider reported an error";
          break;
      }
    },
    body: () => (message === undefined ? undefined : { ...message, content: buildContent(blocks) }),
    isComplete: () => complete,
    error: () => fault,
  };
}

function buildContent(blocks: ReadonlyMap<number, PartialBlock>): JsonValue[] {
  return [...blocks]
    .sort(([a], [b]) => a - b)
    .map(([, { block, input }]) =>
      input === undefined ? block : { ...block, input: parseObject(input === "" ? "{}" : input) ?? { "": input } },
    );
}

function applyDelta(building: PartialBlock | undefined, delta: JsonObject): void {
  if (building === undefined) return;
  const { block } = building;
  const append = (key: string, more: JsonValue | undefined): void => {
    block[key] = (readString(block[key]) ?? "") + (readString(more) ?? "");
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
      building.input = (building.input ?? "") + (readString(delta.partial_json) ?? "");
      break;
    case "citations_delta":
      block.citations = [...(Array.isArray(block.citations) ? block.citations : []), delta.citation ?? null];
      break;
    case "compaction_delta":
      block.content = delta.content ?? null;
      break;
  }
}
