import { describe, expect, it } from "vitest";
import { toAnthropic } from "../../domain/index.ts";
import { claudeCode } from "./claude-code.ts";
import { readAll } from "./read-all.test-util.ts";

const line = (uuid: string, parentUuid: string | null, more: object = {}) => ({
  parentUuid,
  isSidechain: false,
  userType: "external",
  cwd: "/home/me/app",
  sessionId: "s1",
  version: "2.1.0",
  gitBranch: "main",
  type: "user",
  message: { role: "user", content: `I am ${uuid}` },
  uuid,
  timestamp: "2026-05-01T10:00:00.000Z",
  ...more,
});

describe("a log of Claude Code", () => {
  it("yields messages with their ids, parents and times, and keeps every other field", () => {
    const answer = {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-x",
      content: [{ type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } }],
      stop_reason: null,
      usage: { input_tokens: 3 },
    };
    const { sessions, entries } = readAll(claudeCode, [
      line("u1", null),
      line("u2", "u1", {
        type: "assistant",
        message: answer,
        requestId: "req_1",
        timestamp: "2026-05-01T10:00:01.500Z",
      }),
      line("u3", "u2", { toolUseResult: { stdout: "a" }, isMeta: true }),
    ]);
    expect(sessions).toEqual([
      {
        sessionId: "s1",
        channel: "claude-code",
        cwd: "/home/me/app",
        startedAt: Date.parse("2026-05-01T10:00:00.000Z"),
      },
    ]);
    expect(entries.map(({ id, parentId, type }) => [id, parentId, type])).toEqual([
      ["u1", null, "message"],
      ["u2", "u1", "message"],
      ["u3", "u2", "message"],
    ]);
    const [, second, third] = entries;
    expect(second?.time).toBe(Date.parse("2026-05-01T10:00:01.500Z"));
    expect(second?.extra).toEqual({
      isSidechain: false,
      userType: "external",
      cwd: "/home/me/app",
      version: "2.1.0",
      gitBranch: "main",
      requestId: "req_1",
    });
    expect(third?.extra).toMatchObject({ toolUseResult: { stdout: "a" }, isMeta: true });
    if (second?.type !== "message") throw new Error("no message");
    expect(second.message.id).toBeUndefined();
    expect(toAnthropic(second.message)).toEqual([answer]);
  });

  it("turns a compact boundary and its summary into a compaction that continues the old branch", () => {
    const { entries } = readAll(claudeCode, [
      line("u1", null),
      {
        ...line("b1", null),
        message: undefined,
        type: "system",
        subtype: "compact_boundary",
        logicalParentUuid: "u1",
        compactMetadata: { trigger: "auto", preTokens: 155_000 },
      },
      line("u2", "b1", { isCompactSummary: true, message: { role: "user", content: "We talked about ids." } }),
      line("u3", "u2"),
    ]);
    expect(entries.map(({ id, parentId, type }) => [id, parentId, type])).toEqual([
      ["u1", null, "message"],
      ["b1", "u1", "custom"],
      ["u2", "b1", "compaction"],
      ["u3", "u2", "message"],
    ]);
    expect(entries[1]).toMatchObject({ customType: "claude-code:compact_boundary", data: { logicalParentUuid: "u1" } });
    expect(entries[2]).toMatchObject({
      summary: "We talked about ids.",
      firstKeptId: null,
      tokensBefore: 155_000,
      extra: { isCompactSummary: true, message: { role: "user", content: "We talked about ids." } },
    });
  });

  it("gives a sub-agent its own session, from a line of the log and from its own file", () => {
    const inline = readAll(claudeCode, [line("u1", null), line("a1", null, { isSidechain: true, agentId: "7f" })]);
    const own = readAll(claudeCode, [line("a1", null, { isSidechain: true, agentId: "7f" })], {
      path: "/x/.claude/projects/-home/s1/subagents/agent-7f.jsonl",
    });
    const child = { sessionId: "s1.agent-7f", parentSessionId: "s1" };
    expect(inline.sessions[1]).toMatchObject(child);
    expect(own.sessions).toMatchObject([child]);
    expect(own.entries[0]).toEqual(inline.entries[1]);
  });

  it("follows the parents of side chains that name no agent", () => {
    const side = { isSidechain: true };
    const { entries, state } = readAll(claudeCode, [
      line("a", null, side),
      line("b", null, side),
      line("a2", "a", side),
      line("b2", "b", side),
    ]);
    expect(entries.map((entry) => entry.sessionId)).toEqual([
      "s1.sidechain-a",
      "s1.sidechain-b",
      "s1.sidechain-a",
      "s1.sidechain-b",
    ]);
    expect(state).toBeUndefined();
  });

  it("gives a summary as the title of the message it names, and keeps lines without ids as state", () => {
    const { sessions, entries, events } = readAll(
      claudeCode,
      [
        { type: "summary", summary: "First", leafUuid: "zz" },
        { type: "file-history-snapshot", messageId: "m", snapshot: { files: {} }, isSnapshotUpdate: false },
        line("u1", null),
        { type: "summary", summary: "Second", leafUuid: "u1" },
        { type: "custom-title", customTitle: "Third", sessionId: "s1" },
      ],
      { path: "/x/.claude/projects/-home/a-copy.jsonl" },
    );
    const titles = events.flatMap((event) => (event.kind === "title" ? [[event.entryId, event.title]] : []));
    expect(titles).toEqual([
      ["zz", "First"],
      ["u1", "Second"],
    ]);
    expect(sessions.map(({ sessionId, title }) => [sessionId, title])).toEqual([
      ["s1", undefined],
      ["s1", "Third"],
    ]);
    expect(sessions[0]?.cwd).toBe("/home/me/app");
    expect(entries.map((entry) => (entry.type === "custom" ? entry.customType : entry.id))).toEqual([
      "claude-code:file-history-snapshot",
      "u1",
      "claude-code:custom-title",
    ]);
  });

  it("separates the sessions of a resumed file", () => {
    const { entries } = readAll(claudeCode, [line("u1", null), line("u2", "u1", { sessionId: "s2" })]);
    expect(entries.map((entry) => entry.sessionId)).toEqual(["s1", "s2"]);
  });

  it("resumes with the same result as an uninterrupted read", () => {
    const lines = [
      { type: "queue-operation", operation: "enqueue", sessionId: "s1", timestamp: "2026-05-01T10:00:00.000Z" },
      line("u1", null),
      { type: "queue-operation", operation: "enqueue", sessionId: "s1", timestamp: "2026-05-01T10:00:00.000Z" },
      line("u2", "u1", { timestamp: "not a time" }),
    ];
    const whole = readAll(claudeCode, lines);
    for (let cut = 0; cut <= lines.length; cut += 1) {
      const head = readAll(claudeCode, lines.slice(0, cut));
      const tail = readAll(claudeCode, lines.slice(cut), { state: JSON.parse(JSON.stringify(head.state)) });
      expect([...head.events, ...tail.events]).toEqual(whole.events);
    }
    expect(whole.entries[3]).toMatchObject({
      time: Date.parse("2026-05-01T10:00:00.000Z"),
      extra: { timestamp: "not a time" },
    });
  });

  it("reports what is wrong with a bad line", () => {
    const { bad, entries } = readAll(claudeCode, [
      "{",
      [],
      { type: "user", uuid: 7 },
      line("u1", null, { message: "text" }),
      { uuid: "x" },
      line("ok", null),
    ]);
    expect(bad).toHaveLength(5);
    expect(bad[2]).toContain("uuid is a number");
    expect(entries).toHaveLength(1);
  });
});
