import { expect, test } from "vitest";
import type { Message } from "../../src/domain/index.ts";
import { onEveryEngine } from "../support/engines.ts";

const minute = 60_000;
const said = (id: string, content: string): Message[] => [{ id, role: "user", content }];

onEveryEngine("sessions", (get) => {
  const contents = async (key: string) => {
    const { varve } = get();
    const page = await varve.transcripts.read(await varve.sessions.get(key), { limit: 100 });
    return page.entries.flatMap((entry) => (entry.type === "message" ? [entry.message.content] : []));
  };

  test("an address finds the same session again, however it is written", async () => {
    const { varve } = get();
    const first = await varve.sessions.resolve({ channel: "telegram", peer: "5054873275" });
    expect(first.key).toBe("agent:main:telegram:direct:5054873275");
    expect((await varve.sessions.resolve({ key: "telegram:5054873275" })).sessionId).toBe(first.sessionId);
    const group = await varve.sessions.resolve({
      channel: "Slack",
      group: { type: "channel", id: "C42", thread: { type: "thread", id: "9" } },
    });
    expect(group).toMatchObject({ key: "agent:main:slack:channel:C42:thread:9", chatType: "room", channel: "slack" });
  });

  test("silence ends a session of a chat channel, and the message that comes then opens the next", async () => {
    const { varve, clock } = get();
    const address = { channel: "signal", group: { type: "group" as const, id: "aBc" } };
    const first = await varve.sessions.open(address);
    clock.advance(239 * minute);
    expect((await varve.sessions.open(address)).session.sessionId).toBe(first.session.sessionId);
    clock.advance(241 * minute);
    const woken = await varve.sessions.open(address, { interaction: false });
    expect(woken.session.sessionId).toBe(first.session.sessionId);
    const next = await varve.sessions.receive(address, "I am back");
    expect(next).toMatchObject({ expired: "idle", text: "I am back" });
    expect(next.session.sessionId).not.toBe(first.session.sessionId);
    expect(next.session.conversation).toBe(first.session.conversation);
  });

  test("heartbeats and notices never extend freshness, and notices die with their session", async () => {
    const { varve, clock } = get();
    const address = { channel: "irc", group: { type: "group" as const, id: "beats" } };
    const { session } = await varve.sessions.open(address);
    await varve.sessions.addNotice(session, "the build is done");
    for (let beat = 0; beat < 10; beat += 1) {
      clock.advance(60 * minute);
      await varve.sessions.open(address, { interaction: false });
    }
    const { session: next, expired } = await varve.sessions.open(address);
    expect(expired).toBe("idle");
    expect(await varve.sessions.takeNotices(next)).toEqual([]);
    await varve.sessions.addNotice(next, "for you");
    expect((await varve.sessions.takeNotices(next)).map((one) => one.text)).toEqual(["for you"]);
    expect(await varve.sessions.takeNotices(next)).toEqual([]);
  });

  test("/new keeps the conversation, /reset archives it, and both can be undone", async () => {
    const { varve } = get();
    const key = "agent:main:test:direct:resets";
    const address = { key };
    const first = await varve.sessions.resolve(address);
    await varve.context.ingest(first, said("1", "one"));
    const renewed = await varve.sessions.receive(address, "/NEW  and hello");
    expect(renewed).toMatchObject({ reset: "new", text: "and hello" });
    expect(renewed.session.conversation).toBe(first.conversation);
    await varve.context.ingest(renewed.session, said("2", "two"));
    const reset = await varve.sessions.receive(address, "/reset");
    expect(reset).toMatchObject({ reset: "reset", text: "" });
    expect(reset.session.conversation).not.toBe(first.conversation);
    expect(await contents(key)).toEqual([]);
    await varve.context.ingest(reset.session, said("3", "three"));

    const back = await varve.sessions.restore(reset.session);
    expect(back.sessionId).toBe(renewed.session.sessionId);
    expect(await contents(key)).toEqual(["one", "two"]);
    const further = await varve.sessions.restore(back);
    expect(further.sessionId).toBe(first.sessionId);
    expect(await contents(key)).toEqual(["one"]);
    const forward = await varve.sessions.restore(further, reset.session.sessionId);
    expect(await contents(key)).toEqual(["three"]);
    expect(forward.conversation).toBe(reset.session.conversation);
    await expect(varve.sessions.restore(forward, "nobody")).rejects.toMatchObject({ code: "NOTHING_TO_RESTORE" });
    const history = await varve.sessions.history(forward);
    expect(history.map((one) => one.sessionId)).toEqual([
      first.sessionId,
      renewed.session.sessionId,
      reset.session.sessionId,
    ]);
  });

  test("compactionCount survives a reset, token counters do not", async () => {
    const { varve } = get();
    const session = await varve.sessions.resolve({ key: "agent:main:test:direct:counts" });
    await varve.sessions.countTokens(session, { input: 10, output: 5, context: 15 });
    expect(await varve.sessions.get(session.key)).toMatchObject({
      inputTokens: 10,
      outputTokens: 5,
      totalTokens: 15,
      contextTokens: 15,
    });
    expect(await varve.sessions.renew(session, "reset")).toMatchObject({
      inputTokens: 0,
      totalTokens: 0,
      compactionCount: 0,
    });
  });

  test("a scheduled run starts clean and keeps preferences", async () => {
    const { varve } = get();
    const first = await varve.sessions.beginCronRun("nightly");
    await varve.sessions.update(first, {
      thinkingLevel: "high",
      modelOverride: "big",
      elevatedLevel: "root",
      sendPolicy: "deny",
      origin: "slack",
      metadata: { label: "mine", routing: { to: "x" }, queuePolicy: "steer", runtime: 3 },
    });
    const second = await varve.sessions.beginCronRun("nightly");
    expect(second.sessionId).not.toBe(first.sessionId);
    expect(second).toMatchObject({ thinkingLevel: "high", modelOverride: "big", metadata: { label: "mine" } });
    expect([second.elevatedLevel, second.sendPolicy, second.origin]).toEqual([undefined, undefined, undefined]);
    expect(second.metadata).toEqual({ label: "mine" });
  });

  test("run logs are pruned to their limits, the newest stays", async () => {
    const { varve, clock } = get();
    let pruned = 0;
    for (let run = 0; run < 5; run += 1) {
      clock.advance(1000);
      pruned += (await varve.sessions.logCronRun({ jobId: "big", runId: `${run}`, log: "x".repeat(900_000) })).pruned;
    }
    expect(pruned).toBe(3);
    expect(await varve.sessions.logCronRun({ jobId: "big", runId: "huge", log: "x".repeat(3_000_000) })).toEqual({
      pruned: 2,
    });
  });

  test("sessions are found by key, by id and by the start of an id", async () => {
    const { varve } = get();
    const session = await varve.sessions.resolve({ key: "agent:main:test:direct:named" });
    expect((await varve.sessions.get(session.key)).sessionId).toBe(session.sessionId);
    expect((await varve.sessions.get(session.sessionId)).key).toBe(session.key);
    expect((await varve.sessions.get(session.sessionId.slice(0, 13))).key).toBe(session.key);
    expect((await varve.sessions.get(session.key.toUpperCase())).key).toBe(session.key);
    const main = await varve.sessions.resolve({ channel: "telegram", peer: "505" });
    expect((await varve.sessions.get("telegram:505")).key).toBe(main.key);
    await expect(varve.sessions.fork(session, { key: "agent:other:x" })).rejects.toMatchObject({ code: "REFUSED" });
    await expect(varve.sessions.get("nobody-here")).rejects.toMatchObject({ code: "SESSION_NOT_FOUND", exitCode: 3 });
    await expect(varve.sessions.resolve({ key: "agent:main:x:y:z" })).rejects.toMatchObject({
      code: "BAD_KEY",
      exitCode: 2,
    });
  });

  test("pages list every session once, the latest used first", async () => {
    const { varve, clock } = get();
    for (let index = 0; index < 23; index += 1) {
      clock.advance(index % 3 === 0 ? 0 : 1000);
      await varve.sessions.resolve({ key: `agent:main:list:direct:p${index}` });
    }
    const seen: string[] = [];
    let after: string | undefined;
    do {
      const page = await varve.sessions.list({ limit: 5, after, channel: "list" });
      expect(page.sessions.length).toBeLessThanOrEqual(5);
      seen.push(...page.sessions.map((one) => one.key));
      after = page.next;
    } while (after !== undefined);
    expect(new Set(seen).size).toBe(23);
    expect(seen).toHaveLength(23);
    await expect(varve.sessions.list({ after: "garbage" })).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });

  test("two processes that meet an expired session renew it once", async () => {
    const under = get();
    const address = { channel: "race", group: { type: "group" as const, id: "g" } };
    const { session } = await under.varve.sessions.open(address);
    const other = await under.another();
    under.clock.advance(300 * minute);
    const both = await Promise.all([under.varve.sessions.open(address), other.sessions.open(address)]);
    expect(both[0].session.sessionId).toBe(both[1].session.sessionId);
    expect(both.filter((one) => one.expired).length).toBe(1);
    expect(await under.varve.sessions.history(session)).toHaveLength(2);
  });

  test("two processes that open the same new address make one session", async () => {
    const under = get();
    const other = await under.another();
    const opened = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        (index % 2 ? other : under.varve).sessions.open({ key: "agent:main:race:direct:new" }),
      ),
    );
    expect(new Set(opened.map((one) => one.session.sessionId)).size).toBe(1);
    expect(opened.filter((one) => one.created)).toHaveLength(1);
  });

  test("deleting erases everything of a session and nothing else", async () => {
    const { varve } = get();
    const doomed = await varve.sessions.resolve({ key: "agent:main:test:direct:doomed" });
    await varve.context.ingest(doomed, said("d", "a doomed word"));
    const before = (await varve.status()).messages;
    expect(await varve.sessions.delete(doomed)).toEqual({ conversations: 1, entries: 2 });
    expect((await varve.status()).messages).toBe(before - 1);
    await expect(varve.sessions.get(doomed.key)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    const report = await varve.doctor();
    expect(report.findings.flatMap((finding) => finding.faults)).toEqual([]);
  });
});
