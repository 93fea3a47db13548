import { describe, expect, it } from "vitest";
import { toPi } from "../../domain/index.ts";
import { openclaw, pi } from "./pi.ts";
import { readAll } from "./read-all.test-util.ts";

const at = "2026-05-01T10:00:00.000Z";
const header = { type: "session", version: 3, id: "s1", timestamp: at, cwd: "/app", parentSession: "/old.jsonl" };
const user = { role: "user", content: "hi", timestamp: 1_777_629_600_000 };

describe("a session file of pi", () => {
  it("reads every kind of entry", () => {
    const entry = (id: string, parentId: string | null, rest: object) => ({ id, parentId, timestamp: at, ...rest });
    const { sessions, entries, bad } = readAll(pi, [
      header,
      entry("01", null, { type: "message", message: user }),
      entry("02", "01", { type: "model_change", provider: "anthropic", modelId: "claude-x" }),
      entry("03", "02", { type: "thinking_level_change", thinkingLevel: "high" }),
      entry("04", "03", {
        type: "compaction",
        summary: "S",
        firstKeptEntryId: "01",
        tokensBefore: 9,
        details: { a: 1 },
      }),
      entry("05", "01", { type: "branch_summary", summary: "B", fromId: "04" }),
      entry("06", "05", { type: "custom", customType: "todo", data: { n: 1 } }),
      entry("07", "06", {
        type: "custom_message",
        customType: "note",
        content: "see",
        display: false,
        details: { d: 1 },
      }),
      entry("08", "07", { type: "label", targetId: "01", label: "start" }),
      entry("09", "08", { type: "label", targetId: "01" }),
      entry("10", "09", { type: "session_info", name: "A name" }),
      entry("11", "10", { type: "context_edit", edits: [] }),
      entry("12", "11", {
        type: "message",
        message: { role: "bashExecution", command: "ls", output: "", excludeFromContext: true },
      }),
    ]);
    expect(bad).toEqual([]);
    expect(sessions[0]).toEqual({
      sessionId: "s1",
      channel: "pi",
      cwd: "/app",
      startedAt: Date.parse(at),
      meta: { version: 3, parentSession: "/old.jsonl" },
    });
    expect(sessions.at(-1)?.title).toBe("A name");
    const bare = entries.map(({ time, sessionId, parentId, ...rest }) => rest);
    expect(bare).toMatchObject([
      { id: "01", type: "message", message: { role: "user", content: "hi", time: 1_777_629_600_000 } },
      { id: "02", type: "model_change", provider: "anthropic", model: "claude-x" },
      { id: "03", type: "custom", customType: "pi:thinking_level_change", data: { thinkingLevel: "high" } },
      { id: "04", type: "compaction", summary: "S", firstKeptId: "01", tokensBefore: 9, extra: { details: { a: 1 } } },
      { id: "05", type: "branch_summary", summary: "B", fromId: "04" },
      { id: "06", type: "custom", customType: "todo", data: { n: 1 } },
      { id: "07", type: "custom_message", customType: "note", hidden: true },
      { id: "08", type: "label", targetId: "01", label: "start" },
      { id: "09", type: "label", targetId: "01", label: null },
      { id: "10", type: "custom", customType: "pi:session_info" },
      { id: "11", type: "custom", customType: "pi:context_edit" },
      { id: "12", type: "custom", customType: "pi:bashExecution" },
    ]);
    expect(entries[4]?.parentId).toBe("01");
    const note = entries[6];
    if (note?.type !== "custom_message") throw new Error("no custom message");
    expect(toPi(note.message)).toEqual([
      {
        role: "custom",
        customType: "note",
        content: "see",
        display: false,
        details: { d: 1 },
        timestamp: Date.parse(at),
      },
    ]);
  });

  it("generates ids for version 1 that stay the same when the file grows", () => {
    const v1 = [
      { type: "session", id: "s1", timestamp: at, cwd: "/app", provider: "openai", modelId: "m" },
      { type: "message", timestamp: at, message: user },
      { type: "message", timestamp: at, message: user },
      { type: "compaction", timestamp: at, summary: "S", firstKeptEntryIndex: 2, tokensBefore: 5 },
    ];
    const first = readAll(pi, v1.slice(0, 3));
    const grown = readAll(pi, v1, { fileTime: 99 });
    expect(first.state).toBeUndefined();
    expect(grown.entries.slice(0, 2)).toEqual(first.entries);
    const [one, two, three] = grown.entries;
    expect(one?.id).not.toBe(two?.id);
    expect([one?.parentId, two?.parentId, three?.parentId]).toEqual([null, one?.id, two?.id]);
    expect(three).toMatchObject({ type: "compaction", firstKeptId: two?.id, extra: { firstKeptEntryIndex: 2 } });
  });

  it("resumes where it stopped when its entries have ids", () => {
    const lines = [header, { type: "message", id: "01", parentId: null, timestamp: at, message: user }];
    const { state } = readAll(pi, lines);
    const tail = readAll(pi, [{ type: "message", id: "02", parentId: "01", message: { role: "user", content: "x" } }], {
      state: JSON.parse(JSON.stringify(state)),
    });
    expect(tail.entries).toMatchObject([{ id: "02", sessionId: "s1", time: Date.parse(at) }]);
    expect(tail.sessions).toEqual([]);
  });

  it("reports what is wrong with a bad line", () => {
    const { bad } = readAll(pi, [
      { type: "session", id: 5 },
      { type: "message", id: "1", parentId: null, timestamp: at },
      { type: "compaction", id: "2", parentId: null, timestamp: at },
      { type: "message", id: "a\u0000b", parentId: null, message: user },
    ]);
    expect(bad).toEqual([
      "its id is a number, not a string",
      "its type is message, but it has no message",
      "its summary is not a string",
      "its id contains characters that are not allowed in an id",
    ]);
  });
});

describe("a session file of OpenClaw", () => {
  it("is distinguished from pi's by its folder, which names the agent", () => {
    const path = "/home/me/.openclaw/agents/main/sessions/s1.jsonl";
    expect(openclaw.detect(path, [])).toBe(true);
    expect(openclaw.detect("/tmp/s1.jsonl", [JSON.stringify(header)])).toBe(false);
    expect(openclaw.detect("/tmp/s1.jsonl", [JSON.stringify({ ...header, cwd: "/home/me/.openclaw/workspace" })])).toBe(
      true,
    );
    const leaf = { type: "leaf", id: "02", parentId: "01", timestamp: at, targetId: "01" };
    const { sessions, entries } = readAll(openclaw, [header, leaf], { path });
    expect(sessions[0]).toMatchObject({ channel: "openclaw", meta: { agent: "main", version: 3 } });
    expect(entries[0]).toMatchObject({ type: "custom", customType: "openclaw:leaf", parentId: "01" });
  });
});
