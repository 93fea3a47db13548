import { expect, it } from "vitest";
import type { Entry } from "../../domain/index.ts";
import { markdownEntry } from "./markdown.ts";

it("exports a result with very many backticks", () => {
  const output = "` ".repeat(150_000);
  const entry: Entry = {
    type: "message",
    id: "m1",
    parentId: null,
    seq: 1,
    time: 0,
    sessionId: "s",
    tokens: 1,
    message: {
      role: "tool",
      content: [{ type: "tool_result", callId: "c", output: [{ type: "text", text: output }] }],
    },
  };
  const text = markdownEntry(entry);
  expect(text).toContain(`\`\`\`\n${output}`);
});
