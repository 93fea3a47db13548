import { expect, test } from "vitest";
import type { Message } from "../../domain/index.ts";
import { onePrompt } from "./one-prompt.ts";
import type { RunRequest } from "./port.ts";

const spoken = (id: string, content: Message["content"], role: Message["role"] = "user"): Message => ({
  id,
  role,
  content,
});
const write = (messages: Message[], limit: number) =>
  onePrompt({ messages, prompt: "And now?", asked: new Set(["now"]) } as unknown as RunRequest, limit);

test("summaries and recalled text stay beyond the limit of the history, which says what it hides", () => {
  const text = write(
    [
      { role: "user", content: "<summary>The pier was painted.</summary>" },
      spoken("m1", "Paint the buoys."),
      spoken("m2", "They are red.", "assistant"),
      spoken("m3", "Paint them green."),
      { role: "user", content: "<recalled>Green is 3 cans.</recalled>" },
      spoken("now", "And now?"),
    ],
    1,
  );
  expect(text).toBe(
    "Conversation so far (the newest 1 of 3 messages; 2 are not shown):\n\nUser: <summary>The pier was painted.</summary>\n\n" +
      "User: Paint them green.\n\nUser: <recalled>Green is 3 cans.</recalled>\n\nReply to this message:\n\nAnd now?",
  );
});

test("within the limit everything is shown, calls by their names and results not at all", () => {
  const text = write(
    [
      spoken("m1", [{ type: "tool_call", callId: "a", name: "read", input: {} }], "assistant"),
      spoken("m2", [{ type: "tool_result", callId: "a", output: "secret" }], "tool"),
    ],
    9,
  );
  expect(text).toContain("Conversation so far:\n\nAssistant: [used read]\n\nReply");
  expect(text).not.toContain("secret");
  expect(write([spoken("now", "And now?")], 9)).toBe("And now?");
});
