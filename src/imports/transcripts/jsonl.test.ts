import { describe, expect, it } from "vitest";
import type { EntryDraft } from "../../domain/index.ts";
import { toAnthropic, toOpenaiChat } from "../../domain/index.ts";
import { jsonl } from "./jsonl.ts";
import { readAll } from "./read-all.test-util.ts";

describe("plain lines", () => {
  it("keep their times in any unit", () => {
    const times = [
      1_777_629_600,
      1_777_629_600_000,
      "2026-05-01T10:00:00Z",
      "2026-05-01 10:00:00",
      "1777629600.0",
      1_777_629_600_000_000,
    ];
    const { entries } = readAll(
      jsonl,
      times.map((timestamp) => ({ role: "user", content: "hi", timestamp })),
    );
    expect(entries.map((entry) => entry.time)).toEqual(times.map(() => 1_777_629_600_000));
    expect(entries[1]?.extra).toBeUndefined();
    expect(entries[2]?.extra).toEqual({ timestamp: "2026-05-01T10:00:00Z" });
  });

  it("take the time of the previous line when they have none, else that of the file", () => {
    const { entries } = readAll(
      jsonl,
      [
        { role: "user", content: "a" },
        { role: "user", content: "b", timestamp: 1_777_629_600 },
        { role: "user", content: "c", timestamp: "soon" },
      ],
      { fileTime: 42_000 },
    );
    expect(entries.map((entry) => entry.time)).toEqual([42_000, 1_777_629_600_000, 1_777_629_600_000]);
    expect(entries[2]?.extra).toEqual({ timestamp: "soon" });
  });

  it("are read in the format of the provider they come from", () => {
    const call = {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: "{}" } }],
    };
    const use = { role: "assistant", content: [{ type: "tool_use", id: "1", name: "f", input: {} }], mood: "calm" };
    const { entries } = readAll(jsonl, [
      { ...call, id: "a" },
      { ...use, id: "b" },
      { role: "human", content: "hi", id: "c" },
    ]);
    const [first, second, third] = entries.map((entry) => (entry.type === "message" ? entry.message : undefined));
    expect(first && toOpenaiChat(first)).toEqual([call]);
    expect(second && toAnthropic(second)).toEqual([use]);
    expect(third).toMatchObject({ role: "user", content: "hi" });
    expect(entries.map((entry) => entry.id)).toEqual(["a", "b", "c"]);
  });

  it("are taken unchanged in Varve's own format", () => {
    const content = [{ type: "tool_result", callId: "7", output: "done" }];
    const { entries } = readAll(jsonl, [{ role: "tool", content, id: "a" }]);
    expect(entries[0]).toMatchObject({ message: { role: "tool", content } });
  });

  it("become state without a role, and are rejected with a role but no readable content", () => {
    const { entries, bad } = readAll(jsonl, [
      { type: "note", x: 1 },
      { role: "user", content: 5 },
      { role: 1 },
      { role: "user", content: "x", id: 3 },
    ]);
    expect(entries).toMatchObject([{ type: "custom", customType: "jsonl:note", data: { type: "note", x: 1 } }]);
    expect(bad).toHaveLength(3);
  });

  it("keep their exact text when JavaScript cannot represent a number", () => {
    const exact = '{"role":"user","content":"hi","n":12345678901234567890}';
    const { entries } = readAll(jsonl, [
      exact,
      '{"role":"user","content":"12345678901234567890","n":1234567890123456}',
    ]);
    expect(entries[0]?.extra).toEqual({ exactText: exact });
    expect(entries[1]?.extra).toBeUndefined();
  });
});

describe("a session that Varve exported", () => {
  const header = {
    type: "varve_session",
    version: 1,
    sessionId: "s1",
    key: "agent:main:main",
    agent: "main",
    startedAt: 5,
    title: "T",
    meta: { a: 1 },
  };
  const drafts: (EntryDraft & { id: string; time: number })[] = [
    { type: "session", id: "1", parentId: null, time: 1, cwd: "/app" },
    {
      type: "message",
      id: "2",
      parentId: "1",
      time: 2,
      message: { role: "user", content: "hi", meta: { x: null } },
      extra: { y: [1] },
    },
    { type: "custom", id: "3", parentId: "2", time: 3, customType: "z", data: null },
    { type: "compaction", id: "4", parentId: "3", time: 4, summary: "s", firstKeptId: null, tokensBefore: 3 },
    { type: "label", id: "5", parentId: "4", time: 5, targetId: "2", label: null },
    {
      type: "reset",
      id: "6",
      parentId: "5",
      time: 6,
      mode: "new",
      reason: "r",
      fromSessionId: "s0",
      toSessionId: "s1",
    },
  ];

  it("is reproduced entry by entry", () => {
    const { sessions, events, bad } = readAll(jsonl, [header, ...drafts]);
    expect(bad).toEqual([]);
    expect(sessions).toEqual([
      {
        sessionId: "s1",
        channel: "jsonl",
        title: "T",
        meta: { a: 1, varve: { key: "agent:main:main", agent: "main", current: "s1" } },
        startedAt: 5,
      },
    ]);
    expect(events.slice(1)).toEqual(drafts.map((entry) => ({ kind: "entry", sessionId: "s1", entry })));
  });

  it("loses only the numbers of the exporting store", () => {
    const { events } = readAll(jsonl, [header, { ...drafts[1], seq: 9, sessionId: "s1", tokens: 4 }]);
    expect(events[1]).toEqual({ kind: "entry", sessionId: "s1", entry: drafts[1] });
  });

  it("resumes where it stopped", () => {
    const { state } = readAll(jsonl, [header, drafts[0]]);
    const tail = readAll(jsonl, [drafts[1]], { state: JSON.parse(JSON.stringify(state)) });
    expect(tail.entries).toMatchObject([{ id: "2", sessionId: "s1" }]);
  });

  it("reports what is wrong with an entry", () => {
    const { bad } = readAll(jsonl, [
      header,
      { type: "wish", id: "1", time: 1 },
      { type: "message", id: "2", time: 1, message: { role: "king", content: "" } },
      { type: "custom", id: "3", time: 1, customType: "x" },
      { type: "label", time: 1 },
      { ...header, version: 2 },
    ]);
    expect(bad).toHaveLength(5);
  });
});
