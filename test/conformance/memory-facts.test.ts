/** Facts stay facts: nothing is merged that is not the same, and no two values of one fact are valid at a time. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { onEveryEngine } from "../support/engines.ts";

const day = 86_400_000;
const date = (text: string) => Date.parse(`${text}T00:00:00Z`);
let agents = 0;
const nextAgent = () => {
  agents += 1;
  return `facts${agents}`;
};

onEveryEngine("facts", (get) => {
  const addAll = async (agent: string, texts: readonly string[]) => {
    const decisions: string[] = [];
    for (const text of texts) {
      decisions.push((await get().varve.memory.add({ agent, text })).decision);
      get().clock.advance(60_000);
    }
    return decisions;
  };
  const believed = async (agent: string, more = {}) =>
    (await get().varve.memory.list({ agent, limit: 500, ...more })).memories.map((one) => one.content).sort();

  test.each([
    [["I am allergic to nuts.", "I am allergic to penicillin."]],
    [
      [
        "The billing API is written in Go.",
        "The billing API is rate limited to 50.",
        "The billing API is owned by Lena.",
      ],
    ],
    [["Meeting notes. We ship on Monday.", "Meeting notes. The budget was cut by half."]],
    [["My phone is a Pixel 8.", "My phone is broken."]],
    [["I have a cat called Tom.", "I have a cat called Mia."]],
    [["Ich spreche Spanisch.", "Ich spreche Türkisch."]],
    [["我对花生过敏。", "我对青霉素过敏。"]],
    [["J'ai une sœur à Lyon.", "J'ai un frère à Nantes."]],
  ])("different facts are all kept: %j", async (texts) => {
    const agent = nextAgent();
    expect(await addAll(agent, texts)).toEqual(texts.map(() => "create"));
    expect(await believed(agent)).toEqual([...texts].sort());
  });

  test.each([
    ["I live in Ghent.", "I moved to Antwerp."],
    ["I use Vim for my notes.", "I now use Helix for my notes."],
    ["Ich wohne in Kiel.", "Ich bin nach Bremen gezogen."],
    ["我住在上海。", "我搬到了深圳。"],
    ["The deploy port of the shop is 8080.", "The deploy port of the shop is 9090."],
  ])("another value takes its place: %s %s", async (first, second) => {
    const agent = nextAgent();
    expect(await addAll(agent, [first, second])).toEqual(["create", "supersede"]);
    expect(await believed(agent)).toEqual([second]);
    expect(await believed(agent, { includeHistory: true })).toEqual([first, second].sort());
  });

  test("what may be in conflict is kept side by side and linked in both directions", async () => {
    const { varve } = get();
    const agent = nextAgent();
    const first = await varve.memory.add({ agent, text: "I live in Ghent and work at Acme." });
    const second = await varve.memory.add({ agent, text: "I live in Antwerp." });
    expect(second).toMatchObject({ decision: "create", conflicts: [first.memory] });
    expect(second.current.relations).toMatchObject([{ memory: first.memory, kind: "conflicts" }]);
    const { memory } = await varve.memory.get(first.memory ?? "", { agent });
    expect(memory.relations).toMatchObject([{ memory: second.memory, kind: "conflicts" }]);
    const pairs = await varve.memory.conflicts({ agent });
    expect(pairs.map((pair) => pair.map((one) => one.id))).toEqual([[first.memory, second.memory]]);
    expect(await varve.memory.conflicts({ agent: "stranger" })).toEqual([]);
  });

  test("upkeep links what storing did not compare", async () => {
    const { varve } = get();
    const agent = nextAgent();
    await addAll(agent, ["The night train leaves at 7:15.", "The night train leaves at 7:45."]);
    await varve.memory.maintain();
    expect(await varve.memory.conflicts({ agent })).toHaveLength(1);
    expect(await believed(agent)).toHaveLength(2);
  });

  test("the caller can say what a memory replaces", async () => {
    const { varve } = get();
    const agent = nextAgent();
    const first = await varve.memory.add({ agent, text: "The team eats lunch at the canteen." });
    const second = await varve.memory.add({ agent, text: "Everybody brings food.", replaces: first.memory });
    expect(second).toMatchObject({ decision: "supersede", match: first.memory });
    expect(await believed(agent)).toEqual(["Everybody brings food."]);
    await expect(
      varve.memory.add({ agent, text: "Nobody eats.", replaces: "mem_0000000000000000000" }),
    ).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("values of one fact never overlap in time, and each can be changed or forgotten", async () => {
    const { varve, clock } = get();
    const agent = nextAgent();
    const colour = (name: string, from: string) =>
      varve.memory.add({ agent, text: `My favourite colour is ${name}.`, validFrom: date(from) });
    await colour("blue", "2024-01-01");
    await colour("green", "2024-06-01");
    await colour("red", "2025-01-01");
    await colour("violet", "2024-03-01");
    const at = async (time: string) => believed(agent, { asOf: date(time) });
    expect(await at("2024-02-01")).toEqual(["My favourite colour is blue."]);
    expect(await at("2024-04-01")).toEqual(["My favourite colour is violet."]);
    expect(await at("2024-07-01")).toEqual(["My favourite colour is green."]);
    expect(await at("2025-07-01")).toEqual(["My favourite colour is red."]);

    const tenant = nextAgent();
    const rent = (text: string, validFrom?: number) => varve.memory.add({ agent: tenant, text, validFrom });
    const first = await rent("My rent is 900 euros.");
    clock.advance(day);
    const future = await rent("My rent is 950 euros.", clock.now() + 400 * day);
    expect(await believed(tenant)).toEqual(["My rent is 900 euros."]);
    const corrected = await varve.memory.update(first.memory ?? "", { importance: 0.9 }, { agent: tenant });
    expect(corrected).toMatchObject({ importance: 0.9, supersededBy: future.memory });
    clock.advance(day);
    const second = await rent("My rent is 920 euros.");
    expect(await believed(tenant)).toEqual(["My rent is 920 euros."]);
    expect(await believed(tenant, { asOf: clock.now() + 500 * day })).toEqual(["My rent is 950 euros."]);
    const changed = await varve.memory.update(
      second.memory ?? "",
      { text: "My rent is 921 euros." },
      { agent: tenant },
    );
    expect(await believed(tenant)).toEqual(["My rent is 921 euros."]);
    // What is over is told to have been replaced; it can still be forgotten.
    await expect(
      varve.memory.update(first.memory ?? "", { text: "My rent is 901 euros." }, { agent: tenant }),
    ).rejects.toMatchObject({ code: "CONFLICT" });
    // A version of the past is corrected for its time when the caller says so; what is believed now stays.
    const past = { text: "My rent was 899 euros.", past: true };
    const correction = await varve.memory.update(first.memory ?? "", past, { agent: tenant });
    expect(await believed(tenant)).toEqual(["My rent is 921 euros."]);
    expect(await believed(tenant, { asOf: correction.validFrom })).toEqual(["My rent was 899 euros."]);
    await varve.memory.forget({ id: correction.id }, { agent: tenant });
    await expect(varve.memory.forget({ id: first.memory ?? "" }, { agent: tenant })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    await varve.memory.forget({ id: future.memory ?? "" }, { agent: tenant });
    await varve.memory.forget({ id: changed.id }, { agent: tenant });
    expect(await believed(tenant)).toEqual([]);
    expect(await believed(tenant, { asOf: clock.now() + 500 * day })).toEqual([]);
  });

  test("in whatever order values arrive, each is valid from its time until the next", async () => {
    const { varve, clock } = get();
    const values = ["blue", "green", "red", "violet", "white"];
    const stated = fc.array(fc.record({ value: fc.constantFrom(...values), month: fc.integer({ min: 0, max: 11 }) }), {
      minLength: 2,
      maxLength: 7,
    });
    const run = async (facts: readonly { value: string; month: number }[]) => {
      const agent = nextAgent();
      const start = clock.now() - 400 * day;
      // A statement holds from its month until the month of the next one; a repetition of what holds then adds nothing.
      const byMonth = new Map<number, string>();
      const valueAt = (month: number) => byMonth.get(Math.max(...[...byMonth.keys()].filter((one) => one <= month)));
      for (const { value, month } of facts) {
        await varve.memory.add({
          agent,
          text: `My favourite colour is ${value}.`,
          validFrom: start + month * 30 * day,
        });
        if (valueAt(month) !== value) byMonth.set(month, value);
        clock.advance(1_000);
      }
      for (let month = 0; month < 12; month += 1) {
        const value = valueAt(month);
        const expected = value === undefined ? [] : [`My favourite colour is ${value}.`];
        expect(await believed(agent, { asOf: start + month * 30 * day + 1 }), `month ${month}`).toEqual(expected);
      }
    };
    await fc.assert(fc.asyncProperty(stated, run), { numRuns: 25, seed: 4711 });
  });

  test("whatever is stored, no value is removed that a later text does not replace", async () => {
    const slots = {
      residence: (value: string) => `I live in ${value}.`,
      employer: (value: string) => `I work at ${value}.`,
      favourite: (value: string) => `My favourite film is ${value}.`,
      port: (value: string) => `The shop listens on port ${8000 + value.length}${value.charCodeAt(0)}.`,
    };
    const lists = {
      allergy: (value: string) => `I am allergic to ${value}.`,
      cat: (value: string) => `I have a cat called ${value}.`,
      language: (value: string) => `I speak ${value}.`,
      notes: (value: string) => `Notes of the week. We talked about ${value}.`,
      api: (value: string) => `The billing API is connected to ${value}.`,
      phone: (value: string) => `My phone is ${value}.`,
      german: (value: string) => `Ich mag ${value}.`,
      chinese: (value: string) => `我喜欢${value}。`,
    };
    const names = ["Alba", "Brona", "Cedar", "Delft", "Emden", "Fargo"];
    const fact = fc.record({
      kind: fc.constantFrom(...Object.keys(slots), ...Object.keys(lists)),
      value: fc.constantFrom(...names),
    });
    const run = async (facts: readonly { kind: string; value: string }[]) => {
      const agent = nextAgent();
      const expected = new Map<string, string>();
      for (const { kind, value } of facts) {
        const slot = kind in slots ? slots[kind as keyof typeof slots] : undefined;
        const text = (slot ?? lists[kind as keyof typeof lists])(value);
        await addAll(agent, [text]);
        expected.set(slot ? kind : `${kind} ${value}`, text);
      }
      expect(await believed(agent)).toEqual([...expected.values()].sort());
    };
    await fc.assert(fc.asyncProperty(fc.array(fact, { minLength: 3, maxLength: 14 }), run), { numRuns: 25, seed: 815 });
  });
});
