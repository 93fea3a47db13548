import type { JsonObject } from "../../domain/index.ts";
import { parseObject, readObject, readObjects, readString } from "../json.ts";
import type { ReplyReader } from "../wire.ts";

/** Assembles the chunks of a stream into a completion. */
export function chatReader(): ReplyReader {
  let frame: JsonObject | undefined;
  let message: JsonObject = {};
  const calls = new Map<number, JsonObject>();
  let finish: string | null = null;
  let complete = false;
  let fault: string | undefined;
  return {
    take({ data }) {
      if (data.trim() === "[DONE]") {
        complete = true;
        return;
      }
      const chunk = parseObject(data);
      if (chunk === undefined) return;
      if (chunk.error !== undefined && chunk.error !== null) {
        fault = readString(readObject(chunk.error).message) ?? "the provider reported an error";
        return;
      }
      const { choices, usage, ...rest } = chunk;
      frame = { ...frame, ...rest, ...(usage === null || usage === undefined ? {} : { usage }) };
      const choice = readObjects(choices)[0];
      if (choice === undefined) return;
      message = applyDelta(message, readObject(choice.delta), calls);
      // Some servers end the stream without [DONE].
      if (typeof choice.finish_reason === "string") [finish, complete] = [choice.finish_reason, true];
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
    isComplete: () => complete,
    error: () => fault,
  };
}

function applyDelta(message: JsonObject, delta: JsonObject, calls: Map<number, JsonObject>): JsonObject {
  const next = { ...message };
  for (const [key, value] of Object.entries(delta)) {
    if (key === "tool_calls") for (const call of readObjects(value)) applyCallDelta(calls, call);
    else if (key === "role") next.role = value;
    else if (typeof value === "string") next[key] = (readString(next[key]) ?? "") + value;
    else if (value !== null) next[key] = value;
  }
  return next;
}

function applyCallDelta(calls: Map<number, JsonObject>, piece: JsonObject): void {
  const index = typeof piece.index === "number" ? piece.index : calls.size;
  const { index: _, function: part, ...rest } = piece;
  const call = calls.get(index) ?? {};
  const before = readObject(call.function);
  const more = readObject(part);
  calls.set(index, {
    ...call,
    ...rest,
    function: {
      ...before,
      ...more,
      name: readString(before.name) ?? readString(more.name) ?? "",
      arguments: (readString(before.arguments) ?? "") + (readString(more.arguments) ?? ""),
    },
  });
}
