import { describe, expect, it } from "vitest";
import { getToolCalls, getToolResults, type Message, type Part } from "../../domain/index.ts";
import { estimateMessageTokens } from "../../text/index.ts";
import { type MessageEntry, toMessageEntry } from "../window.ts";
import { groupMessages } from "./message-groups.ts";

const call = (callId: string, text = "ls"): Part => ({
  type: "tool_call",
  callId,
  name: "bash",
  input: { command: text },
});
const result = (callId: string, output = "ok"): Part => ({ type: "tool_result", callId, output });
const toEntries = (messages: readonly Message[]): MessageEntry[] =>
  messages.map((message, index) => {
    const tokens = estimateMessageTokens(message);
    const fields = { id: `e${index}`, seq: index + 1, time: index, tokens, type: "message", message };
    const entry = toMessageEntry(fields as unknown as Parameters<typeof toMessageEntry>[0]);
    if (entry === undefined) throw new Error("no message");
    return entry;
  });
const seqsOf = (messages: readonly Message[], budget = 10_000) =>
  groupMessages(toEntries(messages), budget).map((group) => group.messages.map(({ seq }) => seq));

describe("message groups", () => {
  it("join calls with their results, also when all calls come before all results", () => {
    expect(
      seqsOf([
        { role: "user", content: "Look around" },
        { role: "assistant", content: [call("a")] },
        { role: "assistant", content: [call("b")] },
        { role: "tool", content: [result("a")] },
        { role: "tool", content: [result("b")] },
        { role: "assistant", content: "Done" },
      ]),
    ).toEqual([[1], [2, 3, 4, 5], [6]]);
  });

  it("do not join a result with a call before another request", () => {
    expect(
      seqsOf([
        { role: "assistant", content: [call("a")] },
        { role: "user", content: "Stop" },
        { role: "tool", content: [result("a")] },
      ]),
    ).toEqual([[1], [2], [3]]);
  });

  it("take at most their share, with every shown result after its call", () => {
    const many = Array.from({ length: 60 }, (_, index) => `c${index}`);
    const messages: Message[] = [
      { role: "user", content: "the tide ".repeat(9_000) },
      { role: "assistant", content: many.map((id) => call(id, "the tide ".repeat(400))) },
      ...many.map((id): Message => ({ role: "tool", content: [result(id, "the tide ".repeat(500))] })),
    ];
    for (const budget of [1_000, 4_000, 16_000, 64_000]) {
      const groups = groupMessages(toEntries(messages), budget);
      expect(groups).toHaveLength(2);
      expect(groups[0]?.tokens).toBeLessThanOrEqual(0.25 * budget);
      expect(groups[1]?.tokens).toBeLessThanOrEqual(0.36 * budget);
      const shown = groups.flatMap((group) => group.messages.map(({ message }) => message));
      const calls = shown.flatMap((message) => getToolCalls(message).map(({ callId }) => callId));
      const results = shown.flatMap((message) => getToolResults(message).map(({ callId }) => callId));
      expect(results).toEqual(calls);
      expect(JSON.stringify(shown)).toContain("msg#2");
      for (const group of groups) expect(group.tokens).toBe(group.messages.reduce((sum, one) => sum + one.tokens, 0));
    }
  });
});
