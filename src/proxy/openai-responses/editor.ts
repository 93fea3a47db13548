import type { JsonObject } from "../../domain/index.ts";
import { parseObject, readObject, readString } from "../json.ts";
import { printSseEvent, type SseEvent } from "../sse.ts";
import type { StreamEditor } from "../wire.ts";

const startEvents = new Set(["response.created", "response.queued", "response.in_progress"]);

/** Whether an event precedes the model's output. */
export function isStartEvent(type: string): boolean {
  return startEvents.has(type);
}

/** Removes the calls of recall tools and joins several responses into one with consecutive item and event numbers. */
export function responsesEditor(
  ours: ReadonlySet<string>,
  merge: (bodies: readonly JsonObject[], ours: ReadonlySet<string>) => JsonObject,
): StreamEditor {
  let positions = new Map<number, number | undefined>();
  let items = 0;
  let rounds = 0;
  let events = 0;
  const write = (event: JsonObject): string =>
    printSseEvent({
      event: readString(event.type) ?? "message",
      data: JSON.stringify({ ...event, sequence_number: events++ }),
    });
  const resolvePosition = (event: JsonObject, index: number): number | undefined => {
    if (!positions.has(index)) {
      const item = readObject(event.item);
      const isOurs = item.type === "function_call" && ours.has(readString(item.name) ?? "");
      positions.set(index, isOurs ? undefined : items++);
    }
    return positions.get(index);
  };
  return {
    begin() {
      positions = new Map();
      rounds += 1;
    },
    take(raw: SseEvent) {
      const event = parseObject(raw.data);
      const type = readString(event?.type);
      if (event === undefined || type === undefined) return printSseEvent(raw);
      if (isStartEvent(type)) return rounds > 1 ? "" : write(event);
      if (type === "response.completed" || type === "response.incomplete") return "";
      if (typeof event.output_index !== "number") return write(event);
      const position = resolvePosition(event, event.output_index);
      return position === undefined ? "" : write({ ...event, output_index: position });
    },
    close(bodies) {
      const response = merge(bodies, ours);
      const type = response.status === "incomplete" ? "response.incomplete" : "response.completed";
      return write({ type, response });
    },
  };
}
