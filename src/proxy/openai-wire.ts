/** Parts that the Chat Completions and the Responses API share. */
import type { JsonObject, JsonValue } from "../domain/index.ts";

/** Creates an error in OpenAI's format. */
export function createOpenaiError(status: number, message: string): JsonObject {
  const isClientError = status < 500;
  const code = status === 401 ? "invalid_api_key" : null;
  return { error: { message, type: isClientError ? "invalid_request_error" : "server_error", param: null, code } };
}

/** Counts the instructions at the start of a conversation; they are never replaced. */
export function countInstructions(messages: readonly JsonObject[]): number {
  const end = messages.findIndex(({ role }) => role !== "system" && role !== "developer");
  return end === -1 ? messages.length : end;
}

export function parseArguments(text: string): JsonValue {
  try {
    return text === "" ? {} : (JSON.parse(text) as JsonValue);
  } catch {
    // Passed on as text: the tool reports what is wrong with it.
    return text;
  }
}
