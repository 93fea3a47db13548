import { appendFileSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { Varve } from "../../src/index.ts";
import { onEveryEngine } from "../support/engines.ts";

const line = (value: unknown) => `${JSON.stringify(value)}\n`;
const said = (content: string, index: number) =>
  line({ role: index % 2 ? "assistant" : "user", content, timestamp: 1_700_000_000_000 + index * 1000 });
const lines = (...contents: string[]) => contents.map(said).join("");

async function contents(varve: Varve, key: string): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const page of varve.transcripts.walk(await varve.sessions.get(key))) {
    found.push(...page.flatMap((entry) => (entry.type === "message" ? [entry.message.content] : [])));
  }
  return found;
}

onEveryEngine("files that are not as they should be", (get) => {
  const write = (name: string, text: string) => {
    const path = join(get().home, "in", name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  };

  test("two files of the same name are two sessions, imported together or one after the other", async () => {
    const { varve } = get();
    const alice = write("people/alice/messages.jsonl", lines("I am Alice", "hello Alice"));
    const bob = write("people/bob/messages.jsonl", lines("I am Bob"));
    expect(await varve.import([dirname(dirname(alice))])).toMatchObject({ files: 2, sessions: 2, imported: 3 });
    expect(await contents(varve, "agent:main:jsonl:direct:alice-messages")).toEqual(["I am Alice", "hello Alice"]);
    expect(await contents(varve, "agent:main:jsonl:direct:bob-messages")).toEqual(["I am Bob"]);
    appendFileSync(bob, said("still Bob", 1));
    expect(await varve.import([bob])).toMatchObject({ sessions: 1, imported: 1, duplicates: 1 });
    const carol = write("people/carol/messages.jsonl", lines("I am Carol"));
    const dave = write("people/dave/messages.jsonl", lines("I am Dave"));
    await varve.import([carol]);
    await varve.import([dave]);
    expect(await contents(varve, "agent:main:jsonl:direct:messages")).toEqual(["I am Carol"]);
    expect(await contents(varve, "agent:main:jsonl:direct:dave-messages")).toEqual(["I am Dave"]);
    expect(await contents(varve, "agent:main:jsonl:direct:bob-messages")).toEqual(["I am Bob", "still Bob"]);
  });

  test("a file that was moved is the same session", async () => {
    const { varve } = get();
    const file = write("moved/from/diary.jsonl", lines("one", "two"));
    await varve.import([file]);
    mkdirSync(join(get().home, "in/moved/to"), { recursive: true });
    const moved = join(get().home, "in/moved/to/diary.jsonl");
    renameSync(file, moved);
    appendFileSync(moved, said("three", 2));
    expect(await varve.import([moved])).toMatchObject({ imported: 1, duplicates: 2 });
    expect(await contents(varve, "agent:main:jsonl:direct:diary")).toEqual(["one", "two", "three"]);
  });

  test("an edited line is another version of the conversation, in its place", async () => {
    const { varve } = get();
    const file = write("edit/edited.jsonl", lines("zero", "one", "two", "three", "four"));
    await varve.import([file]);
    writeFileSync(file, lines("zero", "one", "two, corrected", "three", "four"));
    expect(await varve.import([file])).toMatchObject({ imported: 3, duplicates: 2 });
    const key = "agent:main:jsonl:direct:edited";
    const corrected = ["zero", "one", "two, corrected", "three", "four"];
    expect(await contents(varve, key)).toEqual(corrected);
    const session = await varve.sessions.get(key);
    expect(await varve.transcripts.branches(session)).toHaveLength(2);
    // Reading it once more finds nothing new, and what is appended goes on from the corrected version.
    appendFileSync(file, said("five", 5));
    expect(await varve.import([file])).toMatchObject({ imported: 1, duplicates: 5 });
    expect(await contents(varve, key)).toEqual([...corrected, "five"]);
    writeFileSync(file, lines("zero, corrected", "one", "two, corrected", "three", "four", "five"));
    await varve.import([file]);
    expect(await contents(varve, key)).toEqual(["zero, corrected", "one", "two, corrected", "three", "four", "five"]);
    expect((await varve.doctor()).findings.flatMap((finding) => finding.faults)).toEqual([]);
  });

  test("an edit in a file whose lines name their parents is a branch as well", async () => {
    const { varve } = get();
    const id = "5e551071-0000-4000-8000-000000000001";
    const header = line({ type: "session", version: 3, id, timestamp: "2026-01-01T00:00:00.000Z", cwd: "/" });
    const entry = (own: string, parentId: string | null, content: string) =>
      line({
        type: "message",
        id: own,
        parentId,
        timestamp: "2026-01-01T00:00:01.000Z",
        message: { role: "user", content },
      });
    const file = write("tree/tree.jsonl", header + entry("a", null, "A") + entry("b", "a", "B") + entry("c", "b", "C"));
    await varve.import([file]);
    writeFileSync(file, header + entry("a", null, "A") + entry("b2", "a", "B2") + entry("c2", "b2", "C2"));
    await varve.import([file]);
    expect(await contents(varve, id)).toEqual(["A", "B2", "C2"]);
  });

  test("a conversation that went on here keeps its end when its file is edited, and takes what is appended", async () => {
    const { varve } = get();
    const file = write("live/live.jsonl", lines("zero", "one"));
    await varve.import([file]);
    const key = "agent:main:jsonl:direct:live";
    await varve.context.ingest(await varve.sessions.get(key), [{ id: "here", role: "user", content: "said here" }]);
    appendFileSync(file, said("two", 2));
    await varve.import([file]);
    expect(await contents(varve, key)).toEqual(["zero", "one", "said here", "two"]);
    await varve.context.ingest(await varve.sessions.get(key), [{ id: "here2", role: "user", content: "again here" }]);
    writeFileSync(file, lines("zero", "one, corrected", "two"));
    await varve.import([file]);
    expect(await contents(varve, key)).toEqual(["zero", "one", "said here", "two", "again here"]);
    expect(await varve.transcripts.branches(await varve.sessions.get(key))).toHaveLength(2);
  });

  test("a half-written last line is no longer bad when it is complete, in any format", async () => {
    const { varve } = get();
    const whole = said("the second line, with é in it", 1);
    for (const cut of [30, Buffer.from(whole).indexOf(0xc3) + 1]) {
      const file = write(`half/half-${cut}.jsonl`, "");
      writeFileSync(file, Buffer.concat([Buffer.from(said("first", 0)), Buffer.from(whole).subarray(0, cut)]));
      expect(await varve.import([file])).toMatchObject({ imported: 1, quarantined: 1 });
      appendFileSync(file, Buffer.from(whole).subarray(cut));
      expect(await varve.import([file])).toMatchObject({ imported: 1, quarantined: 0 });
    }
    // A line that is complete and bad stays in quarantine, whatever happens to its file.
    const bad = write("half/bad.jsonl", `${said("first", 0)}{"role": \n`);
    await varve.import([bad]);
    writeFileSync(bad, lines("another", "file"));
    await varve.import([bad]);
    const faults = (await varve.doctor()).findings.flatMap((finding) => finding.faults);
    expect(faults.filter((fault) => fault.includes("half-"))).toEqual([]);
    expect(faults.filter((fault) => fault.includes("bad.jsonl"))).toHaveLength(1);
  });

  test("a title is given to the session that has the message it names", async () => {
    const { varve } = get();
    const sessionId = "7171e000-0000-4000-8000-000000000001";
    const message = (uuid: string, parentUuid: string | null, content: string) =>
      line({
        type: "user",
        uuid,
        parentUuid,
        sessionId,
        timestamp: "2026-01-01T00:00:00.000Z",
        cwd: "/",
        message: { role: "user", content },
      });
    const title = (summary: string, leafUuid: string) => line({ type: "summary", summary, leafUuid });
    // One file has its title at the top; another has only titles, of which one is of a session nobody has.
    const own = write(
      "titles/copy-of-a-chat.jsonl",
      title("Own title", "t2") + message("t1", null, "x") + message("t2", "t1", "y"),
    );
    const other = write("titles/titles-only.jsonl", title("A better title", "t2") + title("Lost", "nowhere"));
    const report = await varve.import([other, own]);
    expect(report).toMatchObject({ sessions: 1, imported: 2, quarantined: 1 });
    expect(report.broken[0]?.reason).toContain("nowhere");
    const { sessions } = await varve.sessions.list({ match: "claude-code" });
    expect(sessions.map((session) => session.sessionId)).toEqual([sessionId]);
    expect(sessions[0]?.displayName).toBe("A better title");
    expect((await varve.import([other, own])).imported).toBe(0);
  });
});
