import { describe, expect, it } from "vitest";
import { toOpenaiResponses } from "../../domain/index.ts";
import { codex } from "./codex.ts";
import { readAll } from "./read-all.test-util.ts";

const path =
  "/home/me/.codex/sessions/2026/05/01/rollout-2026-05-01T10-00-00-0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000.jsonl";
const line = (type: string, payload: object, second = 0) => ({
  timestamp: `2026-05-01T10:00:0${second}.000Z`,
  type,
  payload,
});
const said = { type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] };

describe("a Codex rollout", () => {
  it("yields items as messages, the rest as state, and the summary of a compaction", () => {
    const call = { type: "function_call", name: "shell", arguments: '{"command":["ls"]}', call_id: "c1" };
    const { sessions, entries, bad, state } = readAll(
      codex,
      [
        line("session_meta", {
          id: "s1",
          timestamp: "2026-05-01T09:59:59.000Z",
          cwd: "/app",
          cli_version: "0.9",
          git: {},
        }),
        line("response_item", said, 1),
        line("event_msg", { type: "user_message", message: "hi" }, 1),
        line("turn_context", { cwd: "/app", model: "gpt-x" }, 1),
        line("response_item", call, 2),
        line("response_item", { type: "function_call_output", call_id: "c1", output: "a" }, 3),
        line("response_item", { type: "ghost_snapshot", ghost_commit: { id: "x" } }, 3),
        line("compacted", { message: "So far.", replacement_history: [said] }, 4),
      ],
      { path },
    );
    expect(bad).toEqual([]);
    expect(state).toBeUndefined();
    expect(sessions).toMatchObject([
      { sessionId: "s1", cwd: "/app", startedAt: Date.parse("2026-05-01T09:59:59.000Z") },
    ]);
    expect(sessions[0]?.meta).toMatchObject({ cli_version: "0.9", git: {} });
    expect(entries.map((entry) => (entry.type === "custom" ? entry.customType : entry.type))).toEqual([
      "message",
      "codex:event_msg",
      "codex:turn_context",
      "message",
      "message",
      "codex:response_item",
      "compaction",
    ]);
    const third = entries[3];
    if (third?.type !== "message") throw new Error("no message");
    expect(toOpenaiResponses(third.message)).toEqual([call]);
    expect(third.parentId).toBe(entries[2]?.id);
    expect(entries[6]).toMatchObject({ summary: "So far.", extra: { replacement_history: [said] } });
  });

  it("distinguishes repeated lines, with the same ids on every read", () => {
    const lines = [line("response_item", said), line("response_item", said)];
    const once = readAll(codex, lines, { path });
    expect(once.entries[0]?.sessionId).toBe("0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000");
    expect(once.entries[0]?.id).not.toBe(once.entries[1]?.id);
    expect(readAll(codex, [...lines, line("event_msg", {})], { path }).entries.slice(0, 2)).toEqual(once.entries);
  });

  it("reads the bare items of the first versions", () => {
    const { sessions, entries, bad } = readAll(codex, [
      { id: "s0", timestamp: "2025-06-01T10:00:00.000Z", instructions: null, git: { branch: "main" } },
      { record_type: "state" },
      said,
      { type: "reasoning", summary: [], encrypted_content: "x" },
    ]);
    expect(bad).toEqual([]);
    expect(sessions[0]).toMatchObject({ sessionId: "s0", meta: { git: { branch: "main" } } });
    expect(entries.map((entry) => entry.type)).toEqual(["custom", "message", "message"]);
    expect(entries.every((entry) => entry.time === Date.parse("2025-06-01T10:00:00.000Z"))).toBe(true);
  });

  it("finds the thread that started a sub-agent", () => {
    const source = { subagent: { thread_spawn: { parent_thread_id: "p1", depth: 1 } } };
    expect(readAll(codex, [line("session_meta", { id: "s1", source })]).sessions[0]?.parentSessionId).toBe("p1");
  });
});
