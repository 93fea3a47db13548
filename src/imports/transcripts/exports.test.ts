import { describe, expect, it } from "vitest";
import { chatgpt } from "./chatgpt.ts";
import { claudeAi } from "./claude-ai.ts";
import { readAll } from "./read-all.test-util.ts";

const node = (id: string, parent: string | null, message: object | null) => ({ id, parent, children: [], message });
const says = (role: string, text: string, more: object = {}) => ({
  id: "m",
  author: { role, name: null, metadata: {} },
  create_time: 1_714_557_600.25,
  content: { content_type: "text", parts: [text] },
  recipient: "all",
  ...more,
});

describe("an export of ChatGPT", () => {
  it("yields the tree with the active branch last", () => {
    const { sessions, entries } = readAll(chatgpt, [
      {
        conversation_id: "c1",
        title: "Trees",
        create_time: 1_714_557_600,
        current_node: "b",
        mapping: {
          b: node("b", "q", says("assistant", "new", { metadata: { model_slug: "gpt-x" } })),
          root: node("root", null, null),
          q: node("q", "root", says("user", "why?")),
          a: node("a", "q", says("assistant", "old")),
        },
      },
    ]);
    expect(sessions).toMatchObject([
      { sessionId: "c1", channel: "chatgpt", title: "Trees", startedAt: 1_714_557_600_000 },
    ]);
    expect(entries.map(({ id, parentId, type }) => [id, parentId, type])).toEqual([
      ["root", null, "custom"],
      ["q", "root", "message"],
      ["a", "q", "message"],
      ["b", "q", "message"],
    ]);
    expect(entries[3]).toMatchObject({
      time: 1_714_557_600_250,
      message: { role: "assistant", content: [{ type: "text", text: "new" }], model: "gpt-x" },
      extra: { create_time: 1_714_557_600.25, id: "m" },
    });
    expect(entries[3]?.extra).not.toHaveProperty("content");
  });

  it("pairs code with its output, and keeps reasoning and images", () => {
    const code = says("assistant", "", {
      recipient: "python",
      content: { content_type: "code", language: "python", text: "1+1" },
    });
    const output = {
      ...says("tool", ""),
      author: { role: "tool", name: "python" },
      content: { content_type: "execution_output", text: "2" },
    };
    const thoughts = says("assistant", "", {
      content: { content_type: "thoughts", thoughts: [{ summary: "Sum", content: "Add them." }] },
    });
    const seen = says("user", "", {
      content: {
        content_type: "multimodal_text",
        parts: [{ content_type: "image_asset_pointer", asset_pointer: "sediment://f1" }, "what is it?"],
      },
    });
    const { entries } = readAll(chatgpt, [
      {
        id: "c1",
        mapping: {
          s: node("s", null, seen),
          t: node("t", "s", thoughts),
          c: node("c", "t", code),
          o: node("o", "c", output),
        },
      },
    ]);
    const contents = entries.map((entry) => (entry.type === "message" ? entry.message.content : undefined));
    expect(contents).toEqual([
      [
        { type: "image", source: { kind: "file_id", fileId: "sediment://f1" } },
        { type: "text", text: "what is it?" },
      ],
      [{ type: "reasoning", text: "Sum\nAdd them." }],
      [{ type: "tool_call", callId: "c", name: "python", input: "1+1", inputText: "1+1" }],
      [{ type: "tool_result", callId: "c", name: "python", output: [{ type: "text", text: "2" }] }],
    ]);
    expect(entries[1]?.extra).toHaveProperty("content");
  });

  it("handles cyclic and unknown parents", () => {
    const { entries, bad } = readAll(chatgpt, [
      {
        id: "c1",
        current_node: "x",
        mapping: {
          x: node("x", "y", says("user", "x")),
          y: node("y", "x", says("user", "y")),
          z: node("z", "gone", says("user", "z")),
          w: 5,
        },
      },
    ]);
    expect(entries.map((entry) => entry.id).toSorted()).toEqual(["x", "y", "z"]);
    expect(entries.find((entry) => entry.id === "z")?.parentId).toBe("gone");
    expect(bad).toHaveLength(1);
  });
});

describe("an export of Claude.ai", () => {
  it("yields messages with their blocks and files", () => {
    const { sessions, entries } = readAll(claudeAi, [
      {
        uuid: "c1",
        name: "A talk",
        created_at: "2026-05-01T10:00:00.123456Z",
        account: { uuid: "me" },
        chat_messages: [
          {
            uuid: "m1",
            text: "read this",
            content: [{ type: "text", text: "read this", citations: [] }],
            sender: "human",
            created_at: "2026-05-01T10:00:01.000Z",
            attachments: [{ file_name: "a.txt", file_type: "text/plain", file_size: 3, extracted_content: "abc" }],
            files: [{ file_uuid: "f1", file_name: "p.png" }],
          },
          { uuid: "m2", text: "done", content: [], sender: "assistant", created_at: "2026-05-01T10:00:02.000Z" },
        ],
      },
    ]);
    expect(sessions[0]).toMatchObject({
      sessionId: "c1",
      title: "A talk",
      meta: { created_at: "2026-05-01T10:00:00.123456Z" },
    });
    expect(entries[0]).toMatchObject({
      id: "m1",
      parentId: null,
      time: Date.parse("2026-05-01T10:00:01.000Z"),
      message: {
        role: "user",
        content: [
          { type: "text", text: "read this" },
          { type: "file", source: { kind: "text", text: "abc" }, name: "a.txt", mediaType: "text/plain" },
          { type: "file", source: { kind: "file_id", fileId: "f1" }, name: "p.png" },
        ],
      },
      extra: { attachments: [{ file_name: "a.txt", file_size: 3 }], files: [{ file_uuid: "f1" }] },
    });
    expect(entries[1]).toMatchObject({ id: "m2", parentId: "m1", message: { role: "assistant", content: "done" } });
  });

  it("reports one bad message and reads the others", () => {
    const chat_messages = [5, { uuid: 3, text: "x" }, { uuid: "m", text: "ok", sender: "human" }];
    const { bad, entries } = readAll(claudeAi, [{ uuid: "c1", chat_messages }]);
    expect(bad).toEqual(["a message is not an object", "its message uuid is a number, not a string"]);
    expect(entries).toHaveLength(1);
  });
});
