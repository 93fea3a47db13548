import { describe, expect, it } from "vitest";
import { VarveError } from "../domain/index.ts";
import { classifyFailure, type FailureKind, parseRetryAfter } from "./failure.ts";

function answer(statusCode: number, responseBody = "", responseHeaders: Record<string, string> = {}): Error {
  return Object.assign(new Error("It failed."), { statusCode, responseBody, responseHeaders });
}

const cases: [string, unknown, FailureKind][] = [
  ["a refused key", answer(401), "auth"],
  ["a forbidden model", answer(403), "auth"],
  ["a bad key of Google", answer(400, "API key not valid. Please pass a valid API key."), "auth"],
  ["an unknown model", answer(404, "model: gpt-9"), "unable"],
  ["a long prompt", answer(400, "prompt is too long: 2 tokens > 1 maximum"), "unable"],
  ["a long prompt at a server that says 500", answer(500, "exceeds the available context size"), "unable"],
  ["an unsupported parameter", answer(400, "Unsupported parameter: 'temperature'"), "unable"],
  ["a plan that is used up", answer(429, "insufficient_quota"), "unable"],
  ["a rate limit", answer(429, "Rate limit reached on tokens per min"), "transient"],
  ["a server error", answer(500), "transient"],
  ["an overloaded server", answer(529), "transient"],
  ["garbage with a good status", answer(200, "<html>"), "transient"],
  ["a lost connection", new TypeError("fetch failed", { cause: new Error("ECONNRESET") }), "transient"],
  ["an error in a stream", { type: "overloaded_error", message: "Overloaded" }, "transient"],
  ["a refusal in a stream", { error: { type: "invalid_request_error", code: "x" } }, "unable"],
  ["a missing package", new VarveError("MISSING_PACKAGE", "ai is missing."), "setup"],
  ["an empty answer", new VarveError("MODEL_FAILED", "Empty.", { details: { retry: true } }), "transient"],
  ["a refused answer", new VarveError("MODEL_FAILED", "Filtered."), "unable"],
  ["nothing at all", undefined, "transient"],
];

describe("a failure", () => {
  it.each(cases)("is classified: %s", (_, error, kind) => {
    expect(classifyFailure(error, 0).kind).toBe(kind);
  });

  it("is described without secrets and briefly", () => {
    const error = answer(401, "", {});
    error.message = `Incorrect API key provided: sk-proj-${"a".repeat(40)}. ${"x".repeat(5_000)}`;
    const { message } = classifyFailure(error, 0);
    expect(message).toMatch(/^HTTP 401: Incorrect API key provided: \[API key removed\]/);
    expect(message.length).toBeLessThan(600);
  });

  it("says how long to wait", () => {
    expect(classifyFailure(answer(429, "", { "Retry-After": "7" }), 0).retryAfterMs).toBe(7_000);
    expect(classifyFailure(answer(503, "", { "retry-after": "x" }), 0).retryAfterMs).toBeUndefined();
  });
});

describe("Retry-After", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  it.each([
    ["7", 7_000],
    ["0.5", 500],
    ["Thu, 01 Jan 2026 00:00:20 GMT", 20_000],
    ["Wed, 31 Dec 2025 23:59:00 GMT", 0],
    ["-5", undefined],
    ["soon", undefined],
    ["", undefined],
  ])("%s is parsed", (text, expected) => {
    expect(parseRetryAfter({ "retry-after": text }, now)).toBe(expected);
  });

  it("in milliseconds takes precedence", () => {
    expect(parseRetryAfter({ "retry-after": "2", "retry-after-ms": "1500" }, now)).toBe(1_500);
    expect(parseRetryAfter(undefined, now)).toBeUndefined();
  });
});
