/** A transcript as Claude Code writes it, for tests. */
import { appendFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";

export interface FakeTranscript {
  path: string;
  sessionId: string;
  user(text: string): void;
  assistant(text: string): void;
  /** A tool call and its result. */
  tool(name: string, input: Record<string, unknown>, output: string): void;
  /** The boundary and the summary after it. */
  compaction(summary: string): void;
}

let lines = 0;

export function fakeTranscript(folder: string, sessionId: string, subagent?: string): FakeTranscript {
  const project = join(folder, "projects", "-work");
  const path =
    subagent === undefined
      ? join(project, `${sessionId}.jsonl`)
      : join(project, sessionId, "subagents", `agent-${subagent}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  let parent: string | null = null;
  const write = (row: Record<string, unknown>): void => {
    lines += 1;
    const uuid = `00000000-0000-4000-8000-${String(lines).padStart(12, "0")}`;
    const timestamp = new Date(1_790_000_000_000 + lines * 60_000).toISOString();
    const side = subagent === undefined ? { isSidechain: false } : { isSidechain: true, agentId: subagent };
    const common = { parentUuid: parent, ...side, uuid, timestamp, sessionId, cwd: "/work", version: "2.1.325" };
    appendFileSync(path, `${JSON.stringify({ ...common, ...row })}\n`);
    parent = uuid;
  };
  return {
    path,
    sessionId,
    user: (content) => write({ type: "user", message: { role: "user", content } }),
    assistant: (text) =>
      write({ type: "assistant", message: { role: "assistant", content: [{ type: "text", text }] } }),
    tool(name, input, output) {
      const id = `toolu_${lines}`;
      write({ type: "assistant", message: { role: "assistant", content: [{ type: "tool_use", id, name, input }] } });
      const result = { type: "tool_result", tool_use_id: id, content: output };
      write({ type: "user", message: { role: "user", content: [result] } });
    },
    compaction(summary) {
      const logicalParentUuid = parent;
      parent = null;
      write({ type: "system", subtype: "compact_boundary", logicalParentUuid, compactMetadata: { trigger: "manual" } });
      write({ type: "user", isCompactSummary: true, message: { role: "user", content: summary } });
    },
  };
}
