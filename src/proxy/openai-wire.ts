import type { JsonObject } from "../domain/index.ts";

/** Creates an error in OpenAI's format. */
export function createOpenaiError(status: number, message: string): JsonObject {
  const isClientError = status < 500;
  const code = status === 401 ? "invalid_api_key" : null;
  return { error: { message, type: isClientError ? "invalid_request_error" : "server_error", param: null, code } };
}
