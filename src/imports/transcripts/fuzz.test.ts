import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { detectSource, sourceFormats } from "./import-paths.ts";

const scraps = fc.constantFrom<unknown>(
  "message",
  "session",
  "user",
  "assistant",
  "compaction",
  "label",
  "session_meta",
  "varve_session",
  "x",
  1,
  null,
);
const fields = [
  "type",
  "id",
  "uuid",
  "parentId",
  "parentUuid",
  "sessionId",
  "timestamp",
  "message",
  "payload",
  "role",
  "content",
  "mapping",
  "chat_messages",
  "conversation_id",
  "version",
  "isSidechain",
  "agentId",
  "summary",
  "customType",
  "time",
];
const record = fc.dictionary(
  fc.constantFrom(...fields),
  fc.oneof(
    scraps,
    fc.jsonValue({ maxDepth: 3 }),
    fc.dictionary(fc.constantFrom(...fields), fc.oneof(scraps, fc.jsonValue({ maxDepth: 2 }))),
  ),
);
const deep = `{"role":"user","type":"message","content":${"[".repeat(50_000)}${"]".repeat(50_000)}}`;
const text = fc.oneof(
  record.map((value) => JSON.stringify(value)),
  fc.jsonValue().map((value) => JSON.stringify(value)),
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    deep,
    "[".repeat(100_000),
    '"',
    "\u0000",
    '{"role":"user","content":"\\ud800"}',
    '{"n":1e999}',
    '"'.repeat(1000),
  ),
);

describe.each(sourceFormats)("the reader of $name", (format) => {
  it("never throws, and yields an event for every record", () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 6 }), (records) => {
        const reader = format.open({ path: "/a/b.jsonl", fileTime: 1 });
        const announced = new Set<string>();
        for (const [index, one] of records.entries()) {
          const events = reader.read(one, index + 1);
          expect(events.length).toBeGreaterThan(0);
          for (const event of events) {
            if (event.kind === "session") announced.add(event.session.sessionId);
            if (event.kind === "entry") {
              expect(announced).toContain(event.sessionId);
              expect(Number.isFinite(event.entry.time)).toBe(true);
              expect(typeof event.entry.id).toBe("string");
            }
          }
        }
        const state = reader.state();
        expect(() =>
          format.open({ path: "/a/b.jsonl", fileTime: 1, state: JSON.parse(JSON.stringify(state ?? null)) }),
        ).not.toThrow();
      }),
      { numRuns: 500 },
    );
  });

  it("can be opened with any state", () => {
    fc.assert(
      fc.property(fc.jsonValue(), text, (state, one) => {
        const kept = JSON.parse(JSON.stringify(state));
        expect(format.open({ path: "/a/b.jsonl", fileTime: 1, state: kept }).read(one, 1).length).toBeGreaterThan(0);
      }),
    );
  });
});

describe("detection", () => {
  it("never throws", () => {
    fc.assert(
      fc.property(fc.string(), fc.array(text, { maxLength: 5 }), (path, records) => {
        detectSource(path, records);
      }),
    );
  });

  it.each([
    ["claude-code", "/x.jsonl", { type: "user", sessionId: "s", uuid: "u", parentUuid: null, message: {} }],
    ["claude-code", "/home/me/.claude/projects/-app/s.jsonl", { type: "mode" }],
    ["codex", "/x.jsonl", { type: "session_meta", timestamp: "t", payload: { id: "s" } }],
    ["codex", "/sessions/rollout-1.jsonl", {}],
    ["pi", "/x.jsonl", { type: "session", version: 3, id: "s", timestamp: "t", cwd: "/" }],
    [
      "openclaw",
      "/home/me/.openclaw/agents/main/sessions/s.jsonl",
      { type: "session", id: "s", timestamp: "t", cwd: "/" },
    ],
    ["chatgpt", "/conversations.json", { title: "t", create_time: 1, mapping: {}, current_node: "n" }],
    ["claude-ai", "/conversations.json", { uuid: "u", name: "n", chat_messages: [] }],
    ["jsonl", "/x.jsonl", { role: "user", content: "hi" }],
    ["jsonl", "/x.jsonl", { type: "varve_session", version: 1, sessionId: "s" }],
  ])("detects a file of %s at %s", (name, path, first) => {
    expect(detectSource(path, [JSON.stringify(first)])?.name).toBe(name);
  });

  it("detects a file by a truncated first record", () => {
    const long = JSON.stringify({
      parentUuid: "p",
      sessionId: "s",
      type: "user",
      uuid: "u",
      message: "x".repeat(70_000),
    });
    expect(detectSource("/x.jsonl", [long.slice(0, 65_536)])?.name).toBe("claude-code");
  });

  it("detects nothing in a file of another format", () => {
    expect(detectSource("/x.txt", ["hello", "[]", "{}"])).toBeUndefined();
  });
});
