/** A small valid file of every program whose histories can be imported, as text. */
import { header, lines, message } from "../support/openclaw-home.ts";

export interface ImportSample {
  name: string;
  file: string;
  text: string;
}

const time = Date.UTC(2026, 0, 2, 3);
const stamp = (index: number) => new Date(time + index * 1_000).toISOString();
const claudeId = "11111111-2222-3333-4444-555555555555";

const claudeLine = (index: number, role: "user" | "assistant", content: unknown) => ({
  type: role,
  uuid: `u${index}`,
  parentUuid: index === 0 ? null : `u${index - 1}`,
  sessionId: claudeId,
  timestamp: stamp(index),
  cwd: "/app",
  version: "2.1.0",
  message: { role, content },
});

const codexLine = (index: number, type: string, payload: object) => ({ timestamp: stamp(index), type, payload });

const chatgptNode = (id: string, parent: string | null, role: string, text: string) => ({
  id,
  parent,
  children: [],
  message: {
    id,
    author: { role, name: null, metadata: {} },
    create_time: time / 1_000,
    content: { content_type: "text", parts: [text] },
    recipient: "all",
  },
});

export const importSamples: readonly ImportSample[] = [
  {
    name: "plain lines",
    file: "plain.jsonl",
    text: lines([
      { role: "user", content: "The valve is blue.", timestamp: time },
      { role: "assistant", content: [{ type: "text", text: "Noted." }], timestamp: time + 1 },
      { role: "user", content: "And the pump?", timestamp: time + 2 },
    ]),
  },
  {
    name: "Claude Code",
    file: `${claudeId}.jsonl`,
    text: lines([
      { type: "summary", summary: "The valve", leafUuid: "u2" },
      claudeLine(0, "user", "Which valve is blue?"),
      claudeLine(1, "assistant", [{ type: "tool_use", id: "t1", name: "Read", input: { file_path: "/app/a" } }]),
      claudeLine(2, "user", [{ type: "tool_result", tool_use_id: "t1", content: "blue" }]),
      claudeLine(3, "assistant", [{ type: "text", text: "The first one." }]),
    ]),
  },
  {
    name: "OpenClaw and pi",
    file: "pi.jsonl",
    text: lines([
      header("5e551071-0000-4000-8000-000000000001", time),
      message("a", null, "user", "Which valve is blue?", time),
      message("b", "a", "assistant", "The first one.", time + 1),
      { type: "compaction", id: "c", parentId: "b", timestamp: stamp(3), summary: "The valve.", firstKeptEntryId: "b" },
      message("d", "c", "user", "And the pump?", time + 2),
    ]),
  },
  {
    name: "Codex",
    file: "rollout-2026-05-01T10-00-00-0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000.jsonl",
    text: lines([
      codexLine(0, "session_meta", { id: "s1", timestamp: stamp(0), cwd: "/app", cli_version: "0.9", git: {} }),
      codexLine(1, "response_item", { type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] }),
      codexLine(2, "response_item", { type: "function_call", name: "shell", arguments: "{}", call_id: "c1" }),
      codexLine(3, "response_item", { type: "function_call_output", call_id: "c1", output: "a" }),
      codexLine(4, "compacted", { message: "So far.", replacement_history: [] }),
    ]),
  },
  {
    name: "ChatGPT",
    file: "conversations.json",
    text: JSON.stringify([
      {
        conversation_id: "c1",
        title: "Valves",
        create_time: time / 1_000,
        current_node: "b",
        mapping: {
          root: { id: "root", parent: null, children: ["q"], message: null },
          q: chatgptNode("q", "root", "user", "Which valve is blue?"),
          b: chatgptNode("b", "q", "assistant", "The first one."),
        },
      },
    ]),
  },
  {
    name: "Claude.ai",
    file: "claude-ai.json",
    text: JSON.stringify([
      {
        uuid: "c2",
        name: "Valves",
        created_at: stamp(0),
        updated_at: stamp(2),
        chat_messages: [
          { uuid: "m1", sender: "human", text: "Which valve?", created_at: stamp(0), attachments: [], files: [] },
          { uuid: "m2", sender: "assistant", text: "The first.", created_at: stamp(1), content: [], files: [] },
        ],
      },
    ]),
  },
  {
    name: "memories of memory-lancedb-pro",
    file: "memories.json",
    text: JSON.stringify({
      version: "1.0",
      exportedAt: stamp(0),
      count: 1,
      memories: [
        { id: "1", text: "The valve is blue.", category: "fact", scope: "global", importance: 0.7, timestamp: time },
      ],
    }),
  },
];
