import { describe, expect, it } from "vitest";
import type { Entry, Message } from "../../domain/index.ts";
import { extractUtterance, joinReadable, splitSentences } from "./utterances.ts";

const entry = (message: Message): Entry => ({
  type: "message",
  message,
  id: "m",
  parentId: null,
  time: 0,
  seq: 1,
  sessionId: "s",
  tokens: 1,
});
const read = (content: Message["content"], role: Message["role"] = "user") => {
  const utterances = extractUtterance(entry({ role, content }), "main");
  return utterances && joinReadable(utterances);
};

describe("an utterance", () => {
  it("excludes injected blocks", () => {
    expect(read('<memories trust="x">\n[mem_1 …] I like tea\n</memories>\nAnd coffee too.')).toBe("And coffee too.");
    expect(read("<recalled>never closed, I like tea")).toBeUndefined();
    expect(read("Before.\n<system-reminder>My name is X.</system-reminder>\nAfter.")).toBe("Before.\nAfter.");
    expect(read("[Telegram Anna 2026-01-01 12:00 UTC] I live in Rome.")).toBe("I live in Rome.");
  });

  it("excludes lines that cite a memory, and code", () => {
    expect(read("- mem_1kf0rdqg0dvzmmvxz5n: likes tea\nHow nice that is")).toBe("How nice that is");
    expect(read("Look:\n```\nMy name is Code\n```\nfine by me")).toBe("Look:\nfine by me");
  });

  it("excludes tools, reasoning and system messages", () => {
    expect(read("My name is System.", "system")).toBeUndefined();
    expect(read([{ type: "tool_result", callId: "c", output: "My name is Tool." }], "tool")).toBeUndefined();
    const parts: Message["content"] = [
      { type: "reasoning", text: "My name is Thought." },
      { type: "text", text: "Here it is, then." },
      { type: "tool_call", callId: "c", name: "run", input: { name: "My name is Call." } },
    ];
    expect(read(parts, "assistant")).toBe("Here it is, then.");
  });

  it("is not a greeting, command or question about memory", () => {
    for (const text of ["hello!", "/new", "谢谢", "👍", "Do you remember my name?"]) expect(read(text)).toBeUndefined();
  });
});

describe("sentences", () => {
  it("are ranges of the original text", () => {
    const utterances = extractUtterance(
      entry({ role: "user", content: "Dr. Who is in. I like tea!\n我喜欢茶。真的" }),
      "main",
    );
    const found = utterances
      ? splitSentences(utterances).map(({ start, end }) => utterances.text.slice(start, end))
      : [];
    expect(found).toEqual(["Dr. Who is in.", "I like tea!", "我喜欢茶。", "真的"]);
  });
});
