import type { JsonObject } from "../../domain/index.ts";
import { addNumbers, parseObject, readObject, readObjects, readString } from "../json.ts";
import { printSseEvent, type SseEvent } from "../sse.ts";
import type { StreamEditor } from "../wire.ts";

/** Removes the calls of recall tools and joins several completions into one. */
export function chatEditor(ours: ReadonlySet<string>): StreamEditor {
  let positions = new Map<number, number | undefined>();
  let calls = 0;
  let rounds = 0;
  let hasText = false;
  let isNewText = true;
  let frame: JsonObject = {};
  const write = (chunk: JsonObject): string => printSseEvent({ data: JSON.stringify({ ...chunk, ...pickId(frame) }) });

  const forwardCalls = (pieces: readonly JsonObject[]): JsonObject[] =>
    pieces.flatMap((piece) => {
      const index = typeof piece.index === "number" ? piece.index : 0;
      if (!positions.has(index)) {
        const name = readString(readObject(piece.function).name) ?? "";
        positions.set(index, ours.has(name) ? undefined : calls++);
      }
      const position = positions.get(index);
      return position === undefined ? [] : [{ ...piece, index: position }];
    });

  /** Returns the part of a delta that is sent to the client. */
  const forwardDelta = (delta: JsonObject): JsonObject => {
    const { tool_calls, role, ...rest } = delta;
    const pieces = forwardCalls(readObjects(tool_calls));
    const content = readString(rest.content) ?? "";
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
      positions = new Map();
      rounds += 1;
      isNewText = true;
    },
    take(raw: SseEvent) {
      if (raw.data.trim() === "[DONE]") return "";
      const chunk = parseObject(raw.data);
      if (chunk === undefined || chunk.error !== undefined) return printSseEvent(raw);
      const { choices, usage: _, ...rest } = chunk;
      if (frame.id === undefined) frame = rest;
      const choice = readObjects(choices)[0];
      if (choice === undefined) return "";
      const delta = forwardDelta(readObject(choice.delta));
      if (Object.keys(delta).length === 0) return "";
      return write({ ...chunk, choices: [{ ...choice, delta, finish_reason: null }] });
    },
    close(bodies) {
      const last = readObjects(bodies.at(-1)?.choices)[0];
      const finish = readString(last?.finish_reason) ?? "stop";
      const reason = finish === "tool_calls" && calls === 0 ? "stop" : finish;
      const end = write({ ...frame, choices: [{ index: 0, delta: {}, finish_reason: reason }] });
      const counted = bodies.map((body) => body.usage).filter((usage) => usage !== undefined);
      const usage = counted.length === 0 ? "" : write({ ...frame, choices: [], usage: counted.reduce(addNumbers) });
      return `${end}${usage}${printSseEvent({ data: "[DONE]" })}`;
    },
  };
}

function pickId({ id }: JsonObject): JsonObject {
  return id === undefined ? {} : { id };
}

/** The texts of several replies read as paragraphs of one. */
export const betweenReplies = "\n\n";
