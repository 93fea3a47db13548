import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type HostPage, type HostTranscript, openVarve, type Varve } from "../../index.ts";

let home: string;
let varve: Varve;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "varve-host-source-"));
  varve = await openVarve({ home, background: false, config: { search: { embedder: "none" } } });
});
afterEach(async () => {
  await varve.close();
  rmSync(home, { recursive: true, force: true });
});

type Event = Record<string, string | number | null | object>;

/** A transcript in the memory of a test, read in pages of two. */
class FakeTranscript {
  events: Event[] = [{ type: "session", version: 4, id: "s1", timestamp: "2026-11-17T10:00:00.000Z" }];
  generation = 1;
  reads = 0;

  add(id: string, text: string, parentId: string | null, role = "user"): void {
    const timestamp = Date.parse("2026-11-17T10:00:00.000Z") + this.events.length * 1000;
    this.events.push({
      type: "message",
      id,
      parentId,
      timestamp: new Date(timestamp + 7).toISOString(),
      message: { role, content: text, timestamp, idempotencyKey: `${id}:${role}` },
    });
  }

  rewrite(events: Event[]): void {
    this.events = events;
    this.generation += 1;
  }

  open(key = "agent:main:t1", sessionId = "s1", lastSeq?: number): HostTranscript {
    const readPage = async (cursor: string | undefined): Promise<HostPage> => {
      this.reads += 1;
      const [generation = this.generation, last = -1] = cursor?.split(":").map(Number) ?? [];
      if (generation !== this.generation) return { kind: "reset" };
      const records = this.events
        .map((event, seq) => ({ seq, event: event as HostRecordEvent }))
        .slice(last + 1, last + 3);
      const end = last + records.length;
      return { kind: "page", cursor: `${generation}:${end}`, hasMore: end < this.events.length - 1, records };
    };
    const session = { key, agent: "main", sessionId, fields: {}, isLive: true as const };
    return { path: `store#${sessionId}`, session, readPage, ...(lastSeq === undefined ? {} : { lastSeq }) };
  }
}
type HostRecordEvent = Extract<HostPage, { kind: "page" }>["records"][number]["event"];

async function readTexts(name: string): Promise<string[]> {
  const session = await varve.sessions.get(name, "main");
  const texts: string[] = [];
  for await (const page of varve.transcripts.walk(session)) {
    for (const entry of page) if (entry.type === "message") texts.push(String(entry.message.content));
  }
  return texts;
}

test("only what was added since the last import is read and stored", async () => {
  const host = new FakeTranscript();
  host.add("a", "one", null);
  host.add("b", "two", "a", "assistant");
  expect(await varve.importHostTranscript(host.open())).toMatchObject({ imported: 2, quarantined: 0 });
  host.reads = 0;
  expect(await varve.importHostTranscript(host.open())).toMatchObject({ imported: 0, otherEntries: 0 });
  expect(host.reads).toBe(1);
  host.add("c", "three", "b");
  expect(await varve.importHostTranscript(host.open())).toMatchObject({ imported: 1 });
  expect(await readTexts("agent:main:t1")).toEqual(["one", "two", "three"]);
});

test("records after the last one of a turn wait for their own turn", async () => {
  const host = new FakeTranscript();
  for (const id of ["a", "b", "c", "d"])
    host.add(id, id, host.events.length === 1 ? null : String(host.events.at(-1)?.id));
  await varve.importHostTranscript(host.open("agent:main:t1", "s1", 2), { isAtomic: true });
  expect(await readTexts("s1")).toEqual(["a", "b"]);
  await varve.importHostTranscript(host.open("agent:main:t1", "s1", 4), { isAtomic: true });
  expect(await readTexts("s1")).toEqual(["a", "b", "c", "d"]);
});

test("a reset opens another session id at once, before its first message", async () => {
  const host = new FakeTranscript();
  host.add("a", "before", null);
  host.events.push({ type: "reset", id: "r1", parentId: "a", timestamp: "2026-11-17T11:00:00.000Z", reason: "new" });
  await varve.importHostTranscript(host.open());
  const session = await varve.sessions.get("agent:main:t1");
  expect(session.sessionId).toBe("s1.r1");
  expect((await varve.context.assemble(session, { budgetTokens: 4_000 })).messages).toEqual([]);
  host.add("b", "after", "r1");
  await varve.importHostTranscript(host.open());
  const { messages } = await varve.context.assemble(await varve.sessions.get("s1"), { budgetTokens: 4_000 });
  expect(messages.map(({ content }) => content)).toEqual(["after"]);
  expect(await readTexts("agent:main:t1")).toEqual(["before", "after"]);
});

test("a rewritten transcript is read again, and its known messages are stored once", async () => {
  const host = new FakeTranscript();
  host.add("a", "one", null);
  host.add("b", "two", "a");
  await varve.importHostTranscript(host.open());
  host.rewrite(host.events.slice(0, 2));
  host.add("c", "instead of two", "a");
  expect(await varve.importHostTranscript(host.open())).toMatchObject({ imported: 1, duplicates: 1 });
  expect(await readTexts("agent:main:t1")).toEqual(["one", "instead of two"]);
  const session = await varve.sessions.get("agent:main:t1");
  expect(await varve.transcripts.entry(session, "b")).toMatchObject({ type: "message" });
});

test("a live session takes its key from an earlier one, which stays readable", async () => {
  const earlier = new FakeTranscript();
  earlier.add("a", "earlier", null);
  await varve.importHostTranscript(earlier.open());
  const later = new FakeTranscript();
  later.events = [{ type: "session", version: 4, id: "s2", timestamp: "2026-11-17T12:00:00.000Z" }];
  later.add("x", "later", null);
  await varve.importHostTranscript(later.open("agent:main:t1", "s2"));
  expect((await varve.sessions.get("agent:main:t1")).sessionId).toBe("s2");
  expect(await readTexts("agent:main:t1")).toEqual(["later"]);
  expect(JSON.stringify((await varve.search.find("earlier")).results)).toContain("earlier");
  expect((await varve.doctor()).findings.flatMap((finding) => finding.faults)).toEqual([]);
});
