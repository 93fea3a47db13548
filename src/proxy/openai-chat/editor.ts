import type { JsonObject } from "../../domain/index.ts";
import { added, objectOf, objectsOf, parseObject, stringOf } from "../json.ts";
import { type SseEvent, writeEvent } from "../sse.ts";
import type { StreamEditor } from "../wire.ts";
import { betweenReplies } from "./between-replies.ts";

/** Holds the calls of our tools back and joins several completions to one. */
export function chatEditor(ours: ReadonlySet<string>): StreamEditor {
  let places = new Map<number, number | undefined>();
  let calls = 0;
  let rounds = 0;
  let hasText = false;
  let isNewText = true;
  let frame: JsonObject = {};
  const write = (chunk: JsonObject): string => writeEvent({ data: JSON.stringify({ ...chunk, ...idOf(frame) }) });

  const passedCalls = (pieces: readonly JsonObject[]): JsonObject[] =>
    pieces.flatMap((piece) => {
      const index = typeof piece.index === "number" ? piece.index : 0;
      if (!places.has(index)) {
        const name = stringOf(objectOf(piece.function).name) ?? "";
        places.set(index, ours.has(name) ? undefined : calls++);
      }
      const place = places.get(index);
      return place === undefined ? [] : [{ ...piece, index: place }];
    });

  /** What of a delta the client is to see. */
  const passed = (delta: JsonObject): JsonObject => {
    const { tool_calls, role, ...rest } = delta;
    const pieces = passedCalls(objectsOf(tool_calls));
    const content = stringOf(rest.content) ?? "";
    if (content !== "") {
      if (isNewText && hasText) rest.content = betweenReplies + content;
      [hasText, isNewText] = [true, false];
    }
    return {
      ...(role === undefined || rounds > 1 ? {} : { role }),
      ...rest,
      ...(pieces.length === 0 ? {} : { tool_calls: pieces }),
    };
  };

  return {
    begin() {
      places = new Map();
      rounds += 1;
      isNewText = true;
    },
    take(raw: SseEvent) {
      if (raw.data.trim() === "[DONE]") return "";
      const chunk = parseObject(raw.data);
      if (chunk === undefined || chunk.error !== undefined) return writeEvent(raw);
      const { choices, usage: _, ...rest } = chunk;
      if (frame.id === undefined) frame = rest;
      const choice = objectsOf(choices)[0];
      if (choice === undefined) return "";
      const delta = passed(objectOf(choice.delta));
      if (Object.keys(delta).length === 0) return "";
      return write({ ...chunk, choices: [{ ...choice, delta, finish_reason: null }] });
    },
    close(bodies) {
      const last = objectsOf(bodies.at(-1)?.choices)[0];
      const finish = stringOf(last?.finish_reason) ?? "stop";
      const reason = finish === "tool_calls" && calls === 0 ? "stop" : finish;
      const end = write({ ...frame, choices: [{ index: 0, delta: {}, finish_reason: reason }] });
      const counted = bodies.map((body) => body.usage).filter((usage) => usage !== undefined);
      const usage = counted.length === 0 ? "" : write({ ...frame, choices: [], usage: counted.reduce(added) });
      return `${end}${usage}${writeEvent({ data: "[DONE]" })}`;
    },
  };
}

function idOf({ id }: JsonObject): JsonObject {
  return id === undefined ? {} : { id };
}
