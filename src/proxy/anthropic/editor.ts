import { isJsonObject, type JsonObject } from "../../domain/index.ts";
import { addNumbers, parseObject, readObject, readObjects, readString } from "../json.ts";
import { printSseEvent, type SseEvent } from "../sse.ts";
import type { StreamEditor } from "../wire.ts";

/** Removes the calls of recall tools and joins several replies into one message with consecutive block indexes. */
export function anthropicEditor(ours: ReadonlySet<string>): StreamEditor {
  let positions = new Map<number, number | undefined>();
  let blocks = 0;
  let isStarted = false;
  const forward = (event: JsonObject, index: number): string => write({ ...event, index });
  return {
    begin() {
      positions = new Map();
    },
    take(raw: SseEvent) {
      const event = parseObject(raw.data);
      if (event === undefined) return printSseEvent(raw);
      const index = typeof event.index === "number" ? event.index : 0;
      switch (event.type) {
        case "message_start": {
          if (isStarted) return "";
          isStarted = true;
          return printSseEvent(raw);
        }
        case "content_block_start": {
          const block = readObject(event.content_block);
          const isOurs = block.type === "tool_use" && ours.has(readString(block.name) ?? "");
          const position = isOurs ? undefined : blocks++;
          positions.set(index, position);
          return position === undefined ? "" : forward(event, position);
        }
        case "content_block_delta":
        case "content_block_stop": {
          const position = positions.get(index);
          return position === undefined ? "" : forward(event, position);
        }
        case "message_delta":
        case "message_stop":
          return "";
        default:
          return printSseEvent(raw);
      }
    },
    close(bodies) {
      const last = bodies.at(-1);
      if (last === undefined) return "";
      const usage = bodies.map((body) => body.usage).reduce((sum, one) => addNumbers(sum, one));
      const calls = bodies.flatMap((body) => readObjects(body.content)).filter(({ type }) => type === "tool_use");
      const isAnswered = last.stop_reason === "tool_use" && calls.every(({ name }) => ours.has(readString(name) ?? ""));
      const delta = {
        stop_reason: isAnswered ? "end_turn" : (last.stop_reason ?? null),
        stop_sequence: last.stop_sequence ?? null,
      };
      const counted = isJsonObject(usage) ? usage : {};
      return write({ type: "message_delta", delta, usage: counted }) + write({ type: "message_stop" });
    },
  };
}

function write(event: JsonObject): string {
  return printSseEvent({ event: readString(event.type) ?? "message", data: JSON.stringify(event) });
}
