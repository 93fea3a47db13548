import { join } from "node:path";
import { expect, test } from "vitest";
import { AutoResponder, MemoryManager, SessionManager } from "../../src/managers/index.ts";
import { onEveryEngine } from "../support/engines.ts";

onEveryEngine("managers", (get) => {
  const options = () => ({
    home: get().home,
    database: get().database,
    clock: get().clock,
    config: { search: { embedder: "none" as const } },
  });

  test("a session belongs to a channel and a user, and is renewed when it was quiet for too long", async () => {
    const sessions = new SessionManager({ ...options(), sessionMaxAgeMs: 1_000 });
    const first = await sessions.getOrCreate("telegram", "42");
    expect(first).toMatchObject({ sessionKey: "telegram:42", channel: "telegram", userId: "42", compactionCount: 0 });
    expect((await sessions.getOrCreate("telegram", "42")).sessionId).toBe(first.sessionId);
    expect((await sessions.getOrCreate("telegram", "43")).sessionId).not.toBe(first.sessionId);
    for (let index = 0; index < 4; index += 1) {
      await sessions.appendMessage(first.sessionId, index % 2 ? "assistant" : "user", `message ${index}`, { index });
    }
    const loaded = await sessions.loadTranscript(first.sessionId);
    expect(loaded.map(({ content }) => content)).toEqual(["message 0", "message 1", "message 2", "message 3"]);
    expect(loaded[0]?.meta).toEqual({ index: 0 });
    expect((await sessions.loadTranscript(first.sessionId, 1)).map(({ content }) => content)).toEqual(["message 3"]);
    const compacted = await sessions.compactSession(first.sessionId, "Four messages were counted.");
    expect(compacted.compactionCount).toBe(1);
    // The summary stands for what was compacted, which is all still there.
    expect(await sessions.loadTranscript(first.sessionId)).toMatchObject([
      { role: "system", content: "Four messages were counted.", meta: { compaction: true, messages: 4 } },
    ]);
    expect(await sessions.loadTranscript(first.sessionId, undefined, { all: true })).toEqual(loaded);
    const view = await get().varve.context.assemble(await get().varve.sessions.get(first.sessionId), {
      budgetTokens: 4_000,
    });
    expect(JSON.stringify(view.messages)).toContain("Four messages were counted.");
    get().clock.advance(2_000);
    const renewed = await sessions.getOrCreate("telegram", "42");
    expect(renewed.sessionId).not.toBe(first.sessionId);
    expect(renewed.compactionCount).toBe(1);
    expect(await sessions.getSession("telegram:42")).toMatchObject({ sessionId: renewed.sessionId });
    expect(await sessions.getSession("telegram:nobody")).toBeUndefined();
    expect((await sessions.listSessions({ channel: "telegram" })).map(({ userId }) => userId).sort()).toEqual([
      "42",
      "43",
    ]);
    await expect(sessions.compactSession(renewed.sessionId, " ")).rejects.toMatchObject({ code: "BAD_REQUEST" });
    await sessions.close();
  });

  test("a session id that was reset keeps its transcript, and takes no more messages", async () => {
    const sessions = new SessionManager({ varve: get().varve });
    const old = await sessions.getOrCreate("telegram", "reset-me");
    await sessions.appendMessage(old.sessionId, "user", "said before");
    const renewed = await sessions.resetSession(old.sessionId);
    await sessions.appendMessage(renewed.sessionId, "user", "said after");
    const texts = async (id: string) => (await sessions.loadTranscript(id)).map(({ content }) => content);
    expect(await texts(old.sessionId)).toEqual(["said before"]);
    expect(await texts(renewed.sessionId)).toEqual(["said after"]);
    for (const change of [
      () => sessions.appendMessage(old.sessionId, "user", "too late"),
      () => sessions.compactSession(old.sessionId, "too late"),
      () => sessions.resetSession(old.sessionId),
    ]) {
      await expect(change()).rejects.toMatchObject({ code: "CONFLICT" });
    }
    expect(await texts(renewed.sessionId)).toEqual(["said after"]);
  });

  test("ids of users come back as they are, and a folder is enough to open a manager", async () => {
    const folder = join(get().home, "own");
    const sessions = new SessionManager(folder);
    const memory = new MemoryManager(folder);
    const session = await sessions.getOrCreate("Slack", "U0ABC");
    expect(session).toMatchObject({ channel: "Slack", userId: "U0ABC", sessionKey: "Slack:U0ABC" });
    expect(await sessions.getOrCreate("Slack", "U0ABC")).toMatchObject({
      userId: "U0ABC",
      sessionId: session.sessionId,
    });
    expect((await sessions.listSessions())[0]?.userId).toBe("U0ABC");
    await sessions.appendMessage(session.sessionId, "user", "The walrus sleeps.");
    const { sessionKey } = session;
    expect(await memory.search("walrus", { sessionKey })).toMatchObject([{ text: "The walrus sleeps." }]);
    const other = await sessions.getOrCreate("Slack", "U0XYZ");
    const time = Date.UTC(2025, 1, 3);
    const { id } = await memory.indexChunk({ text: "The walrus is 30 years old.", sessionKey, time });
    expect(await memory.search("walrus years", { sessionKey })).toContainEqual(expect.objectContaining({ id, time }));
    expect(await memory.search("walrus years", { sessionKey: other.sessionKey })).toEqual([]);
    expect((await memory.search("walrus years")).map((hit) => hit.id)).toContain(id);
    await memory.close();
    await sessions.close();
  });

  test("what was said and what was kept is found, in one session when asked so", async () => {
    const { varve } = get();
    const sessions = new SessionManager({ varve });
    const memory = new MemoryManager({ varve });
    expect((await memory.ensureSchema()).schemaVersion).toBeGreaterThan(6);
    const ann = await sessions.getOrCreate("slack", "ann");
    const bob = await sessions.getOrCreate("slack", "bob");
    await sessions.appendMessage(ann.sessionId, "user", "The zeppelin lands at noon.");
    await sessions.appendMessage(bob.sessionId, "user", "The zeppelin was late.");
    await memory.indexSession(ann.sessionId);
    expect(await memory.search("zeppelin", { sessionKey: bob.sessionId })).toMatchObject([
      { text: "The zeppelin was late.", source: "session" },
    ]);
    expect(await memory.search("zeppelin", { maxResults: 10 })).toHaveLength(2);
    const { id } = await memory.indexChunk({ text: "The zeppelin is called Hindsight." });
    expect((await memory.search("zeppelin called")).map((hit) => hit.id)).toContain(id);
    await expect(memory.indexChunk({ text: "" })).rejects.toMatchObject({ code: "BAD_REQUEST" });
    expect((await memory.getStats()).memories).toBeGreaterThan(0);
  });

  test("a responder answers every user in a conversation of their own, or keeps quiet when it is off", async () => {
    const { home, database } = get();
    const config = { search: { embedder: "none" as const }, turn: { runner: "offline" as const } };
    const responder = new AutoResponder({ home, database, config }, { debounceMs: 0 });
    await responder.respond({ channel: "sms", userId: "1", text: "My parrot is called Coco." });
    expect(await responder.respond({ channel: "sms", userId: "1", text: "What is my parrot called?" })).toContain(
      "Coco",
    );
    const again = { channel: "sms", userId: "2", text: "/help", id: "m1" };
    const first = await responder.handle(again);
    expect(first.key).toBe("agent:main:sms:direct:2");
    expect((await responder.handle(again)).turn).toBe(first.turn);
    await responder.close();
    const quiet = new AutoResponder({ home, database, config }, { enabled: false, debounceMs: 0 });
    expect(await quiet.handle({ channel: "sms", userId: "3", text: "Anybody?" })).toMatchObject({
      status: "held",
      reply: "",
    });
    await quiet.close();
  });
});
