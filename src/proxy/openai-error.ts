import type { JsonObject } from "../domain/index.ts";

/** An error as OpenAI writes it. */
export function openaiError(status: number, message: string): JsonObject {
  const isMine = status < 500;
  const code = status === 401 ? "invalid_api_key" : null;
  return { error: { message, type: isMine ? "invalid_request_error" : "server_error", param: null, code } };
}
