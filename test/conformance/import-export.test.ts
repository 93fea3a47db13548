import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Entry, Message } from "../../src/domain/index.ts";
import type { ImportReport, Varve } from "../../src/index.ts";
import { onEveryEngine } from "../support/engines.ts";

const line = (value: unknown) => `${JSON.stringify(value)}\n`;
const plain = (index: number) =>
  line({
    role: index % 2 ? "assistant" : "user",
    content: `message ${index}`,
    timestamp: 1_700_000_000_000 + index * 1000,
  });
const claude = (
  uuid: string,
  parentUuid: string | null,
  role: "user" | "assistant",
  content: unknown,
  more: object = {},
) =>
  line({
    type: role,
    uuid,
    parentUuid,
    sessionId: "11111111-2222-3333-4444-555555555555",
    timestamp: `2025-09-07T09:54:2${uuid.length % 10}.499Z`,
    cwd: "/home/me/project",
    version: "2.1.0",
    message: { role, content },
    ...more,
  });

const counts = ({ files, sessions, imported, duplicates, quarantined }: ImportReport) => ({
  files,
  sessions,
  imported,
  duplicates,
  quarantined,
});

async function everything(varve: Varve, key: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  for await (const page of varve.transcripts.walk(await varve.sessions.get(key))) entries.push(...page);
  return entries;
}

const messages = (entries: Entry[]): Message[] =>
  entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));

onEveryEngine("import and export", (get) => {
  const folder = (name: string) => {
    const path = join(get().home, "in", name);
    mkdirSync(path, { recursive: true });
    return path;
  };

  test("a file is imported once, a grown one brings exactly its new lines, a broken line does not end it", async () => {
    const { varve } = get();
    const file = join(folder("grow"), "notes.jsonl");
    writeFileSync(file, [0, 1, 2, 3, 4].map(plain).join(""));
    expect(counts(await varve.import([file]))).toEqual({
      files: 1,
      sessions: 1,
      imported: 5,
      duplicates: 0,
      quarantined: 0,
    });
    expect(counts(await varve.import([file]))).toEqual({
      files: 1,
      sessions: 1,
      imported: 0,
      duplicates: 5,
      quarantined: 0,
    });
    appendFileSync(file, `${plain(5)}{"role": "user", "content": \n[1,2]\n${plain(6)}`);
    const grown = await varve.import([file]);
    expect(counts(grown)).toEqual({ files: 1, sessions: 1, imported: 2, duplicates: 5, quarantined: 2 });
    expect(grown.broken.map((one) => one.record)).toEqual([7, 8]);
    const entries = await everything(varve, "agent:main:jsonl:direct:notes");
    expect(messages(entries).map((one) => one.content)).toEqual(
      [0, 1, 2, 3, 4, 5, 6].map((index) => `message ${index}`),
    );
    expect(messages(entries).map((one) => one.time)).toEqual(
      [0, 1, 2, 3, 4, 5, 6].map((index) => 1_700_000_000_000 + index * 1000),
    );
    const doctor = await varve.doctor();
    expect(doctor.findings.flatMap((finding) => finding.faults)).toHaveLength(2);
  });

  test("a rotated file adds what is new, a truncated one takes nothing away", async () => {
    const { varve } = get();
    const file = join(folder("rotate"), "rotating.jsonl");
    writeFileSync(file, Array.from({ length: 10 }, (_, index) => plain(index)).join(""));
    await varve.import([file]);
    writeFileSync(file, Array.from({ length: 10 }, (_, index) => plain(index + 6)).join(""));
    expect(counts(await varve.import([file]))).toMatchObject({ imported: 6, duplicates: 4 });
    writeFileSync(file, plain(14));
    expect(counts(await varve.import([file]))).toMatchObject({ imported: 0, duplicates: 1 });
    expect(messages(await everything(varve, "agent:main:jsonl:direct:rotating"))).toHaveLength(16);
  });

  test("a last line that is still being written is read when it is whole, and leaves the quarantine", async () => {
    const { varve } = get();
    const file = join(folder("half"), "half.jsonl");
    const session = { sessionId: "66666666-2222-3333-4444-555555555555" };
    const whole = claude("bb", "a", "assistant", [{ type: "text", text: "second" }], session);
    writeFileSync(file, claude("a", null, "user", "first", session) + whole.slice(0, 40));
    expect(counts(await varve.import([file]))).toMatchObject({ imported: 1, quarantined: 1 });
    appendFileSync(file, whole.slice(40));
    expect(counts(await varve.import([file]))).toMatchObject({ imported: 1, quarantined: 0 });
    const doctor = await varve.doctor();
    expect(
      doctor.findings.flatMap((finding) => finding.faults).filter((fault) => fault.includes("half.jsonl")),
    ).toEqual([]);
  });

  test("invalid UTF-8 and NUL are kept or set aside, never lost in silence", async () => {
    const { varve } = get();
    const file = join(folder("bytes"), "bytes.jsonl");
    writeFileSync(
      file,
      Buffer.concat([
        Buffer.from(plain(1)),
        Buffer.from([0x7b, 0xff, 0xfe, 0x7d, 0x0a]),
        Buffer.from(line({ role: "user", content: "nul \u0000 here" })),
      ]),
    );
    expect(counts(await varve.import([file]))).toMatchObject({ imported: 2, quarantined: 1 });
    expect(messages(await everything(varve, "agent:main:jsonl:direct:bytes")).at(-1)?.content).toBe("nul \u0000 here");
  });

  test("Claude Code's branches, tool calls and line fields come in as they were", async () => {
    const { varve } = get();
    const file = join(folder("claude"), "11111111-2222-3333-4444-555555555555.jsonl");
    writeFileSync(
      file,
      [
        claude("u1", null, "user", "do it"),
        claude("a1", "u1", "assistant", [{ type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } }]),
        line({ type: "file-history-snapshot", messageId: "u1", snapshot: { files: {} } }),
        claude("r1", "a1", "user", [{ type: "tool_result", tool_use_id: "t1", content: "a\nb" }], {
          toolUseResult: { stdout: "a\nb" },
        }),
        claude("a2", "u1", "assistant", [{ type: "text", text: "another way" }]),
      ].join(""),
    );
    const report = await varve.import([file]);
    expect(counts(report)).toEqual({ files: 1, sessions: 1, imported: 4, duplicates: 0, quarantined: 0 });
    expect(report.otherEntries).toBe(1);
    const key = "agent:main:claude-code:direct:11111111-2222-3333-4444-555555555555";
    const session = await varve.sessions.get(key);
    expect(messages(await everything(varve, key)).map((one) => one.id)).toEqual(["u1", "a2"]);
    expect(await varve.transcripts.entry(session, "r1")).toMatchObject({
      extra: { cwd: "/home/me/project", toolUseResult: { stdout: "a\nb" } },
    });
    expect(await varve.transcripts.branches(session)).toHaveLength(2);
  });

  test("an export comes back identical in an empty home, branches, session ids and head included", async () => {
    const under = get();
    const { varve } = under;
    const session = await varve.sessions.resolve({ key: "agent:main:test:direct:roundtrip" });
    await varve.transcripts.append(session, [
      { type: "message", message: { id: "1", role: "user", content: "plain", time: 1000, name: "Ann" } },
      {
        type: "message",
        message: {
          id: "2",
          role: "assistant",
          time: 2000,
          model: "m",
          content: [
            { type: "reasoning", text: "hm", signature: "sig==" },
            { type: "tool_call", callId: "c", name: "read", input: { path: "/x", deep: [1, null, { a: "\u0000" }] } },
            { type: "opaque", raw: { format: "anthropic", block: { type: "server_thing", data: "\ud800" } } },
          ],
        },
        extra: { requestId: "r" },
      },
      {
        type: "message",
        message: { id: "3", role: "tool", time: 3000, content: [{ type: "tool_result", callId: "c", output: "ok" }] },
      },
      { type: "custom", customType: "state", data: { any: ["thing"] } },
      { type: "compaction", summary: "so far", firstKeptId: "3", tokensBefore: 9 },
      { type: "label", targetId: "2", label: "good" },
    ]);
    const renewed = await varve.sessions.renew(session, "new");
    await varve.context.ingest(renewed, [{ id: "4", role: "user", content: "after new", time: 4000 }]);
    await varve.transcripts.moveHead(renewed, "3");
    await varve.context.ingest(renewed, [{ id: "5", role: "user", content: "another branch", time: 5000 }]);
    await varve.transcripts.moveHead(renewed, "4");

    let text = "";
    for await (const piece of varve.transcripts.export(renewed, "jsonl")) text += piece;
    const file = join(folder("exported"), "whole.jsonl");
    writeFileSync(file, text);
    const home = join(under.home, "empty");
    const empty = await under.another({ home, database: join(home, "varve.db") });
    const report = await empty.import([file]);
    expect(counts(report)).toEqual({ files: 1, sessions: 2, imported: 5, duplicates: 0, quarantined: 0 });
    const strip = (entries: Entry[]) => entries.map(({ seq: _seq, ...entry }) => entry);
    expect(strip(await everything(empty, renewed.key))).toEqual(strip(await everything(varve, renewed.key)));
    const restored = await empty.sessions.get(renewed.key);
    expect(restored.sessionId).toBe(renewed.sessionId);
    expect((await empty.transcripts.entry(restored, "5")).parentId).toBe("3");
    let again = "";
    for await (const piece of empty.transcripts.export(restored, "jsonl")) again += piece;
    expect(again.split("\n").slice(1)).toEqual(text.split("\n").slice(1));
    expect(counts(await empty.import([file]))).toMatchObject({ imported: 0, duplicates: 5 });
    expect((await empty.doctor()).findings.flatMap((finding) => finding.faults)).toEqual([]);
  });

  test("Markdown and HTML show the active branch, and content cannot break out of them", async () => {
    const { varve } = get();
    const session = await varve.sessions.resolve({ key: "agent:main:test:direct:pretty" });
    await varve.context.ingest(session, [
      { id: "1", role: "user", content: "<script>alert(1)</script>" },
      {
        id: "2",
        role: "assistant",
        content: [{ type: "tool_call", callId: "c", name: "run", input: { code: "```\nx" } }],
      },
    ]);
    const read = async (format: "markdown" | "html") => {
      let text = "";
      for await (const piece of varve.transcripts.export(session, format)) text += piece;
      return text;
    };
    const secret = `sk-ant-api03-${"aB3".repeat(12)}`;
    await varve.context.ingest(session, [{ id: "3", role: "user", content: `my key is ${secret}` }]);
    expect((await read("html")) + (await read("markdown"))).not.toContain(secret);
    expect(await read("html")).not.toContain("<script>");
    expect(await read("html")).toContain("&lt;script&gt;");
    expect(await read("markdown")).toContain("````json");
  });

  test("a legacy store brings its keys along, and the doctor removes it only when all of it was read", async () => {
    const under = get();
    const sessions = join(under.home, "sessions");
    mkdirSync(sessions, { recursive: true });
    const id = "99999999-0000-4000-8000-000000000001";
    writeFileSync(
      join(sessions, "sessions.json"),
      JSON.stringify({ "agent:main:telegram:direct:42": { sessionId: id, updatedAt: 5, thinkingLevel: "high" } }),
    );
    writeFileSync(
      join(sessions, `${id}.jsonl`),
      line({ type: "session", version: 3, id, timestamp: "2025-01-01T00:00:00.000Z", cwd: "/" }) +
        line({
          type: "message",
          id: "aaaaaaaa",
          parentId: null,
          timestamp: "2025-01-01T00:00:01.000Z",
          message: { role: "user", content: "legacy hello" },
        }),
    );
    expect((await under.varve.doctor()).healthy).toBe(false);
    const report = await under.varve.doctor({ fix: true });
    expect(report.done.join()).toContain("1 messages imported and verified");
    expect(messages(await everything(under.varve, "agent:main:telegram:direct:42")).map((one) => one.content)).toEqual([
      "legacy hello",
    ]);
    expect(() => readFileSync(join(sessions, "sessions.json"))).toThrow();
  });

  test("an import that is stopped goes on where it stopped", async () => {
    const { varve } = get();
    const file = join(folder("stop"), "long.jsonl");
    writeFileSync(file, Array.from({ length: 3000 }, (_, index) => plain(index)).join(""));
    const stopping = new AbortController();
    const stopped = varve.import([file], { signal: stopping.signal, onProgress: () => stopping.abort() });
    await expect(stopped).rejects.toThrow();
    const half = messages(await everything(varve, "agent:main:jsonl:direct:long")).length;
    expect(half).toBeGreaterThan(0);
    expect(half).toBeLessThan(3000);
    const rest = await varve.import([file]);
    expect(rest.imported).toBe(3000 - half);
    expect(messages(await everything(varve, "agent:main:jsonl:direct:long"))).toHaveLength(3000);
  });

  test("a first line of many megabytes does not hide what a file is", async () => {
    const { varve } = get();
    for (const [name, length] of [
      ["large", 1_000_000],
      ["huge", 40_000_000],
    ] as const) {
      const file = join(folder("long"), `${name}.jsonl`);
      writeFileSync(file, line({ role: "user", content: "x".repeat(length) }) + plain(1));
      expect(counts(await varve.import([file]))).toMatchObject({ imported: 2, quarantined: 0 });
    }
  });

  test("a path that is not there and a file nobody knows are clear errors", async () => {
    const { varve } = get();
    await expect(varve.import([join(get().home, "nowhere")])).rejects.toMatchObject({
      code: "FILE_NOT_FOUND",
      exitCode: 3,
    });
    const odd = join(folder("odd"), "odd.bin");
    writeFileSync(odd, "what is this\n");
    await expect(varve.import([odd])).rejects.toMatchObject({ code: "UNKNOWN_FORMAT", exitCode: 2 });
  });
});
