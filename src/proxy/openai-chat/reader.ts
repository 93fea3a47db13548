import type { JsonObject } from "../../domain/index.ts";
import { objectOf, objectsOf, parseObject, stringOf } from "../json.ts";
import type { ReplyReader } from "../wire.ts";

/** The chunks of a completion, put together as the completion they stand for. */
export function chatReader(): ReplyReader {
  let frame: JsonObject | undefined;
  let message: JsonObject = {};
  const calls = new Map<number, JsonObject>();
  let finish: string | null = null;
  let over = false;
  let fault: string | undefined;
  return {
    take({ data }) {
      if (data.trim() === "[DONE]") {
        over = true;
        return;
      }
      const chunk = parseObject(data);
      if (chunk === undefined) return;
      if (chunk.error !== undefined && chunk.error !== null) {
        fault = stringOf(objectOf(chunk.error).message) ?? "the provider reported an error";
        return;
      }
      const { choices, usage, ...rest } = chunk;
      frame = { ...frame, ...rest, ...(usage === null || usage === undefined ? {} : { usage }) };
      const choice = objectsOf(choices)[0];
      if (choice === undefined) return;
      message = grown(message, objectOf(choice.delta), calls);
      // Some servers end the stream without its last mark.
      if (typeof choice.finish_reason === "string") [finish, over] = [choice.finish_reason, true];
    },
    body() {
      if (frame === undefined) return undefined;
      const called = [...calls].sort(([a], [b]) => a - b).map(([, call]) => call);
      const whole = {
        role: "assistant",
        content: null,
        ...message,
        ...(called.length === 0 ? {} : { tool_calls: called }),
      };
      return { ...frame, object: "chat.completion", choices: [{ index: 0, message: whole, finish_reason: finish }] };
    },
    isOver: () => over,
    error: () => fault,
  };
}

function grown(message: JsonObject, delta: JsonObject, calls: Map<number, JsonObject>): JsonObject {
  const next = { ...message };
  for (const [key, value] of Object.entries(delta)) {
    if (key === "tool_calls") for (const call of objectsOf(value)) growCall(calls, call);
    else if (key === "role") next.role = value;
    else if (typeof value === "string") next[key] = (stringOf(next[key]) ?? "") + value;
    else if (value !== null) next[key] = value;
  }
  return next;
}

function growCall(calls: Map<number, JsonObject>, piece: JsonObject): void {
  const index = typeof piece.index === "number" ? piece.index : calls.size;
  const { index: _, function: part, ...rest } = piece;
  const call = calls.get(index) ?? {};
  const before = objectOf(call.function);
  const more = objectOf(part);
  calls.set(index, {
    ...call,
    ...rest,
    function: {
      ...before,
      ...more,
      name: stringOf(before.name) ?? stringOf(more.name) ?? "",
      arguments: (stringOf(before.arguments) ?? "") + (stringOf(more.arguments) ?? ""),
    },
  });
}
