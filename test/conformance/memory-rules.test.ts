/** Memories without any model: what people ask to remember, like, decide and change. */
import { expect, test } from "vitest";
import type { Message } from "../../src/domain/index.ts";
import type { Session } from "../../src/index.ts";
import { onEveryEngine } from "../support/engines.ts";

const day = 86_400_000;

onEveryEngine("memory by rules", (get) => {
  let turns = 0;
  const say = async (session: Session, user: string, assistant = "Noted.") => {
    turns += 1;
    const messages: Message[] = [
      { role: "user", content: user },
      { role: "assistant", content: assistant },
    ];
    return get().varve.context.commitTurn(session, `turn-${turns}`, messages);
  };
  const agentSession = (agent: string) =>
    get().varve.sessions.resolve({ key: `agent:${agent}:chat:direct:anna`, owner: true });
  const recalled = async (agent: string, query: string, more = {}) =>
    (await get().varve.memory.recall({ agent, query, ...more })).hits.map((hit) => hit.memory.content);

  test("what is asked to be remembered, liked, decided and changed is found, and what it replaced only in history", async () => {
    const under = get();
    const { varve, clock } = under;
    const agent = "anna";
    const session = await agentSession(agent);
    const begun = clock.now();
    await say(session, "Please remember that the vault code is 4711.");
    await say(session, "My favourite colour is blue. What a day!");
    await say(session, "We decided to ship the beta in March.");
    await say(session, "I live in Berlin.");
    await varve.jobs.drain();
    expect(await recalled(agent, "vault code")).toEqual(["Please remember that the vault code is 4711."]);
    expect((await recalled(agent, "favourite colour"))[0]).toBe("My favourite colour is blue.");
    expect((await recalled(agent, "when does the beta ship"))[0]).toBe("We decided to ship the beta in March.");
    clock.advance(30 * day);
    const changed = clock.now();
    await say(session, "My favourite colour is green now.");
    await say(session, "I just moved to Lisbon.");
    await say(session, "Remember: the vault code is 9000.");
    await varve.jobs.drain();
    for (const [query, now, then] of [
      ["favourite colour", "My favourite colour is green now.", "My favourite colour is blue."],
      ["where do I live: Berlin or Lisbon", "I just moved to Lisbon.", "I live in Berlin."],
      ["vault code", "Remember: the vault code is 9000.", "Please remember that the vault code is 4711."],
    ] as const) {
      expect(await recalled(agent, query), query).toContain(now);
      expect(await recalled(agent, query), query).not.toContain(then);
      expect(await recalled(agent, query, { includeHistory: true }), query).toEqual(
        expect.arrayContaining([now, then]),
      );
      expect(await recalled(agent, query, { asOf: begun + day }), query).toContain(then);
      expect(await recalled(agent, query, { asOf: begun + day }), query).not.toContain(now);
      const { hits } = await varve.memory.recall({ agent, query, limit: 1 });
      const id = hits[0]?.memory.id ?? "";
      const history = await varve.memory.history(id, { agent });
      expect(history.map((one) => one.content)).toEqual([then, now]);
      expect(history[0]).toMatchObject({ invalidatedAt: changed, supersededBy: id, version: 1 });
      expect(history[1]).toMatchObject({ validFrom: changed, supersedes: history[0]?.id, version: 2 });
    }
  });

  test("the evidence of each opens the exact words of its message", async () => {
    const { varve } = get();
    const { memories } = await varve.memory.list({ agent: "anna", includeHistory: true });
    expect(memories.length).toBeGreaterThan(6);
    for (const { id, content } of memories) {
      const { evidence, missing } = await varve.memory.get(id, { agent: "anna" });
      expect(missing).toEqual([]);
      expect(evidence.map((one) => one.quote)).toEqual([content]);
      const described = await varve.context.describe(evidence[0]?.citation ?? "", { agent: "anna" });
      expect(described).toMatchObject({ kind: "message", entry: { message: { content: evidence[0]?.text } } });
    }
  });

  test("the same said again is support, not another memory", async () => {
    const { varve } = get();
    const session = await agentSession("repeat");
    await say(session, "Remember that I like green tea.");
    await varve.jobs.drain();
    await say(session, "As I said: remember that I like green tea.");
    await say(session, "Remember that I like green tea!");
    await varve.jobs.drain();
    const { memories, total } = await varve.memory.list({ agent: "repeat" });
    expect(total).toBe(1);
    expect(memories[0]?.support.general?.confirmed).toBe(2);
    expect(memories[0]?.confidence).toBeGreaterThan(0.95);
    expect(memories[0]?.sources).toHaveLength(2);
  });

  test("the same fact stored by several at once is stored once, and a similar one separately", async () => {
    const { varve } = get();
    const as = { agent: "several" };
    const text = "The lighthouse keeper of the northern harbour paints boats in winter.";
    const added = await Promise.all(Array.from({ length: 6 }, () => varve.memory.add({ ...as, text })));
    expect(added.map((one) => one.decision).sort()).toEqual(["create", ...Array.from({ length: 5 }, () => "skip")]);
    expect(new Set(added.map((one) => one.current.id)).size).toBe(1);
    const others = await Promise.all(
      [1, 2, 3].map((index) => varve.memory.add({ ...as, text: `The lighthouse keeper has ${index} boats.` })),
    );
    expect(others.map((one) => one.decision)).toEqual(["create", "create", "create"]);
    expect((await varve.memory.list(as)).total).toBe(4);
  });

  test("several languages are understood", async () => {
    const { varve } = get();
    const session = await agentSession("polyglot");
    for (const text of [
      "Merk dir, dass der Schlüssel unter der Matte liegt.",
      "Je préfère le thé vert.",
      "Recuerda que el perro se llama Bruno.",
      "请记住我的航班号是CA981。",
      "我喜欢喝乌龙茶。",
    ])
      await say(session, text);
    await varve.jobs.drain();
    expect((await varve.memory.stats({ agent: "polyglot" })).current).toBe(5);
    expect(await recalled("polyglot", "我的航班号是多少")).toContain("请记住我的航班号是CA981。");
    expect(await recalled("polyglot", "Wo liegt der Schlüssel?")).toContain(
      "Merk dir, dass der Schlüssel unter der Matte liegt.",
    );
  });

  test("small talk, questions, tools and code leave nothing behind", async () => {
    const { varve } = get();
    const session = await agentSession("quiet");
    await varve.context.commitTurn(session, "quiet", [
      { role: "user", content: "hello" },
      { role: "user", content: "Do you remember what my favourite colour is?" },
      { role: "user", content: "What is my name?" },
      { role: "user", content: "```\nMy name is Code.\n```" },
      { role: "system", content: "My name is System." },
      { role: "tool", content: [{ type: "tool_result", callId: "c", output: "My name is Tool." }] },
      { role: "assistant", content: "My favourite colour is red." },
      { role: "user", content: "/remember" },
    ]);
    await varve.jobs.drain();
    expect((await varve.memory.stats({ agent: "quiet" })).total).toBe(0);
  });

  test("an expired plan ranks lower and says so", async () => {
    const { varve, clock } = get();
    const session = await agentSession("plans");
    await say(session, "Remember that my dentist appointment is on 2026-12-01.");
    await varve.jobs.drain();
    const find = async () => (await varve.memory.recall({ agent: "plans", query: "dentist" })).hits[0];
    const before = await find();
    expect(before).toMatchObject({ expired: false, memory: { temporalType: "dynamic" } });
    clock.time = Math.max(clock.time, Date.UTC(2026, 11, 3));
    const after = await find();
    expect(after).toMatchObject({ expired: true });
    expect(after?.score).toBeLessThan(before?.score ?? 0);
  });

  test("people who only talk tell about their lives: whose it is, on which date; work with tools tells nothing", async () => {
    const { varve, clock } = get();
    const session = await agentSession("talk");
    const said = Date.UTC(2025, 4, 13, 12);
    const talk = (name: string, content: string, index: number): Message => ({
      id: `t${index}`,
      role: "user",
      name,
      content,
      time: said + index * 60_000,
    });
    const lines: [string, string][] = [
      ["elise", "I signed up for a pottery class in Houston yesterday."],
      ["kevin", "Wow, that sounds great! The key is to keep your hands wet."],
      ["elise", "My mom is a hairdresser."],
      ["kevin", "I saw a whale with my brother last month."],
      ["elise", "I think that is a great idea!"],
      ["kevin", "How are you?"],
      ["kevin", "I saw a whale with my brother last month."],
    ];
    await varve.context.ingest(
      session,
      lines.map(([name, text], index) => talk(name, text, index)),
    );
    await varve.memory.extract(session);
    const { memories } = await varve.memory.list({ agent: "talk" });
    expect(memories.map((one) => one.abstract).sort()).toEqual([
      "elise: I signed up for a pottery class in Houston yesterday (2025-05-12).",
      "elise: My mom is a hairdresser.",
      "kevin: I saw a whale with my brother last month (2025-04).",
    ]);
    // The evidence keeps the original words.
    const pottery = memories.find((one) => one.abstract.includes("pottery"));
    const { evidence } = await varve.memory.get(pottery?.id ?? "", { agent: "talk" });
    expect(evidence[0]?.quote).toBe("I signed up for a pottery class in Houston yesterday.");

    // The same words on another day are another event.
    clock.advance(90 * day);
    const later = { ...talk("kevin", "I saw a whale with my brother last month.", 9), time: said + 60 * day };
    await varve.context.ingest(session, [later]);
    await varve.memory.extract(session);
    const whales = (await varve.memory.list({ agent: "talk" })).memories.filter((one) => one.content.includes("whale"));
    expect(whales.map((one) => one.abstract.slice(-10)).sort()).toEqual(["(2025-04).", "(2025-06)."]);

    const work = await agentSession("workshop");
    await varve.context.ingest(work, [
      { role: "user", content: "I signed up for the Houston account yesterday with my brother." },
      {
        role: "assistant",
        content: [{ type: "tool_call", callId: "c1", name: "read", input: { path: "a" } }],
      },
      {
        role: "tool",
        content: [{ type: "tool_result", callId: "c1", output: "I went to Rome with my mother in 2024." }],
      },
    ] as Message[]);
    await varve.memory.extract(work);
    expect((await varve.memory.list({ agent: "workshop" })).total).toBe(0);
  });
});
