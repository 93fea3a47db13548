import { expect, it } from "vitest";
import { redactMessage } from "./redact-message.ts";

it("keeps nothing of a text but its role", () => {
  expect(redactMessage({ role: "user", content: "my address" }, "[gone]")).toEqual({ role: "user", content: "[gone]" });
  const content = [
    { type: "text" as const, text: "look" },
    { type: "image" as const, source: { kind: "base64" as const, data: "AAAA" } },
  ];
  expect(redactMessage({ role: "user", content }, "[gone]")).toEqual({ role: "user", content: "[gone]" });
});

it("keeps the ids of tool calls and results, so that they stay pairs", () => {
  const call = { type: "tool_call" as const, callId: "c1", name: "bash", input: { command: "cat secret" } };
  const result = { type: "tool_result" as const, callId: "c1", output: "secret", isError: true };
  expect(redactMessage({ role: "assistant", content: [{ type: "text", text: "x" }, call] }, "[gone]").content).toEqual([
    { ...call, input: {} },
  ]);
  expect(redactMessage({ role: "tool", content: [result] }, "[gone]").content).toEqual([
    { type: "tool_result", callId: "c1", output: "[gone]" },
  ]);
});
