import fc from "fast-check";
import { expect, test } from "vitest";
import type { Message, Part } from "../../src/domain/index.ts";
import type { Session } from "../../src/index.ts";
import { onEveryEngine } from "../support/engines.ts";

const text = (entries: { type: string }[]) =>
  entries.flatMap((entry) =>
    entry.type === "message" ? [(entry as unknown as { message: Message }).message.content] : [],
  );

const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)));
const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    "",
    "\u0000 nul",
    "lone \ud800 surrogate",
    "旅行は明日です",
    "🙂".repeat(5),
    "'; drop table entries; --",
  ),
);
const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ type: fc.constant("text" as const), text: anyText }),
  fc.record({ type: fc.constant("reasoning" as const), text: anyText, signature: anyText }),
  fc.record({ type: fc.constant("tool_call" as const), callId: anyText, name: anyText, input: json }),
  fc.record({ type: fc.constant("tool_result" as const), callId: anyText, output: anyText, isError: fc.boolean() }),
  fc.record({
    type: fc.constant("opaque" as const),
    raw: fc.record({ format: fc.constant("anthropic" as const), block: json }),
  }),
);
const message: fc.Arbitrary<Message> = fc.record(
  {
    id: fc.uuid(),
    role: fc.constantFrom("system" as const, "user" as const, "assistant" as const, "tool" as const),
    content: fc.oneof(anyText, fc.array(part, { maxLength: 5 })),
    time: fc.integer({ min: 0, max: 4_000_000_000_000 }),
    name: anyText,
    meta: fc.dictionary(fc.string(), json),
  },
  { requiredKeys: ["id", "role", "content", "time"] },
);

onEveryEngine("transcripts", (get) => {
  let count = 0;
  const fresh = (): Promise<Session> => {
    count += 1;
    return get().varve.sessions.resolve({ key: `agent:main:test:direct:t${count}` });
  };

  test("every message comes back as it was given, part by part", async () => {
    const { varve } = get();
    const session = await fresh();
    await fc.assert(
      fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 8 }), async (messages) => {
        const unique = [...new Map(messages.map((one) => [one.id, one])).values()];
        const result = await varve.context.ingest(session, unique);
        expect(result.appended + result.duplicates).toBe(unique.length);
        const page = await varve.transcripts.read(session, { limit: unique.length });
        const stored = page.entries.map((entry) => (entry.type === "message" ? entry.message : undefined));
        expect(stored).toEqual(unique);
      }),
      { numRuns: 60 },
    );
  });

  test("the same id twice is stored once, the same text under a new id is a new message", async () => {
    const { varve } = get();
    const session = await fresh();
    const hello: Message = { id: "a", role: "user", content: "hello" };
    expect(await varve.context.ingest(session, [hello, hello])).toMatchObject({ appended: 1, duplicates: 1 });
    expect(await varve.context.ingest(session, [hello])).toMatchObject({ appended: 0, duplicates: 1 });
    expect(await varve.context.ingest(session, [{ ...hello, id: "b" }])).toMatchObject({ appended: 1 });
    expect(text((await varve.transcripts.read(session)).entries)).toEqual(["hello", "hello"]);
  });

  test("a batch with a bad message leaves nothing behind", async () => {
    const { varve } = get();
    const session = await fresh();
    const bad = { id: "x", role: "nobody", content: "?" } as unknown as Message;
    await expect(
      varve.context.ingest(session, [{ id: "ok", role: "user", content: "fine" }, bad]),
    ).rejects.toMatchObject({
      code: "BAD_MESSAGE",
    });
    expect(text((await varve.transcripts.read(session)).entries)).toEqual([]);
  });

  test("reading goes back page by page to the first entry, without gaps", async () => {
    const { varve } = get();
    const session = await fresh();
    const messages = Array.from(
      { length: 95 },
      (_, index): Message => ({ id: `m${index}`, role: "user", content: `${index}` }),
    );
    await varve.context.ingest(session, messages);
    const seen: string[] = [];
    let before: number | undefined;
    do {
      const page = await varve.transcripts.read(session, { limit: 10, before });
      seen.unshift(...(text(page.entries) as string[]));
      before = page.before;
    } while (before !== undefined);
    expect(seen).toEqual(messages.map((one) => one.content));
  });

  test("an edit opens a branch; the active one is read, the other stays", async () => {
    const { varve } = get();
    const session = await fresh();
    await varve.context.ingest(session, [
      { id: "q", role: "user", content: "question" },
      { id: "a1", role: "assistant", content: "first answer" },
      { id: "more", role: "user", content: "more" },
    ]);
    await varve.transcripts.moveHead(session, "q");
    await varve.context.ingest(session, [{ id: "a2", role: "assistant", content: "second answer" }]);
    expect(text((await varve.transcripts.read(session)).entries)).toEqual(["question", "second answer"]);
    expect(await varve.transcripts.branches(session)).toHaveLength(2);
    expect(await varve.transcripts.entry(session, "more")).toMatchObject({ parentId: "a1" });
    await varve.transcripts.moveHead(session, "more");
    expect(text((await varve.transcripts.read(session)).entries)).toEqual(["question", "first answer", "more"]);
  });

  test("explicit parents build the tree they describe, unknown parents lose nothing", async () => {
    const { varve } = get();
    const session = await fresh();
    const entry = (id: string, parentId: string | null) => ({
      type: "message" as const,
      id,
      parentId,
      message: { role: "user" as const, content: id },
    });
    const result = await varve.transcripts.append(session, [
      entry("r", null),
      entry("r1", "r"),
      entry("r2", "r"),
      entry("r21", "r2"),
      entry("lost", "nobody"),
    ]);
    expect(result.entries.map((one) => one.status)).toEqual(["appended", "appended", "appended", "appended", "orphan"]);
    expect(text((await varve.transcripts.read(session)).entries)).toEqual(["r", "r2", "r21", "lost"]);
    expect((await varve.transcripts.entry(session, "r1")).parentId).toBe("r");
  });

  test("a checkpoint brings back the active branch", async () => {
    const { varve } = get();
    const session = await fresh();
    await varve.context.ingest(session, [{ id: "1", role: "user", content: "one" }]);
    await varve.transcripts.saveCheckpoint(session, "before", { note: 1 });
    await varve.context.ingest(session, [{ id: "2", role: "user", content: "two" }]);
    expect(await varve.transcripts.restoreCheckpoint(session, "before")).toEqual({ note: 1 });
    expect(text((await varve.transcripts.read(session)).entries)).toEqual(["one"]);
    await expect(varve.transcripts.restoreCheckpoint(session, "none")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("a fork points and copies nothing; a parent too large gives isolated context", async () => {
    const { varve } = get();
    const parent = await fresh();
    await varve.context.ingest(parent, [
      { id: "p1", role: "user", content: "from the parent" },
      { id: "p2", role: "user", content: "also" },
    ]);
    const before = (await varve.status()).messages;
    const { session: child, isolated } = await varve.sessions.fork(parent);
    expect(isolated).toBe(false);
    expect((await varve.status()).messages).toBe(before);
    await varve.context.ingest(child, [{ id: "c1", role: "user", content: "from the child" }]);
    await varve.context.ingest(parent, [{ id: "p3", role: "user", content: "parent goes on" }]);
    expect(text((await varve.transcripts.read(child)).entries)).toEqual(["from the parent", "also", "from the child"]);
    expect(text((await varve.transcripts.read(parent)).entries)).toEqual(["from the parent", "also", "parent goes on"]);
    const elsewhere = await fresh();
    const [cited] = (await varve.context.ingest(elsewhere, [{ id: "e1", role: "user", content: "elsewhere" }])).entries;
    await expect(varve.transcripts.entry(parent, `msg#${cited?.seq}`)).rejects.toMatchObject({
      code: "ENTRY_NOT_FOUND",
    });
    const inherited = (await varve.transcripts.read(child)).entries.find((entry) => entry.id === "p1");
    expect((await varve.transcripts.entry(child, `msg#${inherited?.seq}`)).id).toBe("p1");
    const early = await varve.sessions.fork(parent, { atEntry: "p1" });
    expect(text((await varve.transcripts.read(early.session)).entries)).toEqual(["from the parent"]);
    const small = await varve.sessions.fork(parent, { maxTokens: 3 });
    expect(small).toMatchObject({ isolated: true, reason: expect.stringContaining("3 tokens") });
    expect(text((await varve.transcripts.read(small.session)).entries)).toEqual([]);
    await expect(varve.sessions.delete(parent)).rejects.toMatchObject({ code: "CONFLICT" });
  });

  test("many writers of one conversation lose nothing and double nothing", async () => {
    const under = get();
    const session = await fresh();
    const writers = await Promise.all([0, 1, 2].map(() => under.another()));
    await Promise.all(
      writers.map(async (varve, writer) => {
        for (let index = 0; index < 30; index += 1) {
          await varve.context.ingest(session, [
            { id: `w${writer}-${index}`, role: "user", content: `${writer}:${index}` },
            { id: `shared-${index}`, role: "user", content: `shared ${index}` },
          ]);
        }
      }),
    );
    const all: string[] = [];
    for await (const page of under.varve.transcripts.walk(session)) all.push(...(text(page) as string[]));
    expect(new Set(all).size).toBe(all.length);
    expect(all).toHaveLength(3 * 30 + 30);
    for (const writer of [0, 1, 2]) {
      const own = all.filter((one) => one.startsWith(`${writer}:`));
      expect(own).toEqual(Array.from({ length: 30 }, (_, index) => `${writer}:${index}`));
    }
  });

  test("appends that are not awaited keep their order", async () => {
    const { varve } = get();
    const session = await fresh();
    await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        varve.context.ingest(session, [{ id: `o${index}`, role: "user", content: `${index}` }]),
      ),
    );
    expect(text((await varve.transcripts.read(session, { limit: 100 })).entries)).toEqual(
      Array.from({ length: 40 }, (_, index) => `${index}`),
    );
  });

  test("the doctor finds nothing wrong after all this", async () => {
    const report = await get().varve.doctor();
    expect(report.findings.flatMap((finding) => finding.faults)).toEqual([]);
  });
});
