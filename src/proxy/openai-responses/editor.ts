import type { JsonObject } from "../../domain/index.ts";
import { objectOf, parseObject, stringOf } from "../json.ts";
import { type SseEvent, writeEvent } from "../sse.ts";
import type { StreamEditor } from "../wire.ts";

const beginnings = new Set(["response.created", "response.queued", "response.in_progress"]);

/** Whether an event comes before the model has said anything. */
export function isBeginning(type: string): boolean {
  return beginnings.has(type);
}

/** Holds the calls of our tools back and joins several responses to one, with items and events counted through. */
export function responsesEditor(
  ours: ReadonlySet<string>,
  merge: (bodies: readonly JsonObject[], ours: ReadonlySet<string>) => JsonObject,
): StreamEditor {
  let places = new Map<number, number | undefined>();
  let items = 0;
  let rounds = 0;
  let events = 0;
  const write = (event: JsonObject): string =>
    writeEvent({
      event: stringOf(event.type) ?? "message",
      data: JSON.stringify({ ...event, sequence_number: events++ }),
    });
  const placeOf = (event: JsonObject, index: number): number | undefined => {
    if (!places.has(index)) {
      const item = objectOf(event.item);
      const isOurs = item.type === "function_call" && ours.has(stringOf(item.name) ?? "");
      places.set(index, isOurs ? undefined : items++);
    }
    return places.get(index);
  };
  return {
    begin() {
      places = new Map();
      rounds += 1;
    },
    take(raw: SseEvent) {
      const event = parseObject(raw.data);
      const type = stringOf(event?.type);
      if (event === undefined || type === undefined) return writeEvent(raw);
      if (isBeginning(type)) return rounds > 1 ? "" : write(event);
      if (type === "response.completed" || type === "response.incomplete") return "";
      if (typeof event.output_index !== "number") return write(event);
      const place = placeOf(event, event.output_index);
      return place === undefined ? "" : write({ ...event, output_index: place });
    },
    close(bodies) {
      const response = merge(bodies, ours);
      const type = response.status === "incomplete" ? "response.incomplete" : "response.completed";
      return write({ type, response });
    },
  };
}
