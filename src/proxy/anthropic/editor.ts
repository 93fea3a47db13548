import { isJsonObject, type JsonObject } from "../../domain/index.ts";
import { added, objectOf, objectsOf, parseObject, stringOf } from "../json.ts";
import { type SseEvent, writeEvent } from "../sse.ts";
import type { StreamEditor } from "../wire.ts";

/** Holds the calls of our tools back and joins several replies to one message, with its blocks counted through. */
export function anthropicEditor(ours: ReadonlySet<string>): StreamEditor {
  let places = new Map<number, number | undefined>();
  let blocks = 0;
  let isStarted = false;
  const passed = (event: JsonObject, index: number): string => write({ ...event, index });
  return {
    begin() {
      places = new Map();
    },
    take(raw: SseEvent) {
      const event = parseObject(raw.data);
      if (event === undefined) return writeEvent(raw);
      const index = typeof event.index === "number" ? event.index : 0;
      switch (event.type) {
        case "message_start": {
          if (isStarted) return "";
          isStarted = true;
          return writeEvent(raw);
        }
        case "content_block_start": {
          const block = objectOf(event.content_block);
          const isOurs = block.type === "tool_use" && ours.has(stringOf(block.name) ?? "");
          const place = isOurs ? undefined : blocks++;
          places.set(index, place);
          return place === undefined ? "" : passed(event, place);
        }
        case "content_block_delta":
        case "content_block_stop": {
          const place = places.get(index);
          return place === undefined ? "" : passed(event, place);
        }
        case "message_delta":
        case "message_stop":
          return "";
        default:
          return writeEvent(raw);
      }
    },
    close(bodies) {
      const last = bodies.at(-1);
      if (last === undefined) return "";
      const usage = bodies.map((body) => body.usage).reduce((sum, one) => added(sum, one));
      const calls = bodies.flatMap((body) => objectsOf(body.content)).filter(({ type }) => type === "tool_use");
      const isAnswered = last.stop_reason === "tool_use" && calls.every(({ name }) => ours.has(stringOf(name) ?? ""));
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
  return writeEvent({ event: stringOf(event.type) ?? "message", data: JSON.stringify(event) });
}
