/** A long conversation with a model that notes and decides: facts appear, change, contradict, repeat and are asked about. */
import { beforeEach, expect, test } from "vitest";
import type { Message } from "../../src/domain/index.ts";
import type { Memory, Session } from "../../src/index.ts";
import { onEveryEngine } from "../support/engines.ts";
import { type Note, ScriptedModel, type Verdict } from "../support/scripted-memory-model.ts";

const day = 86_400_000;
const script = new ScriptedModel();

onEveryEngine(
  "memory by a model",
  (get) => {
    beforeEach(() => script.reset());
    let turns = 0;
    /** Says something, lets the model note and decide about it, and gives back what is believed afterwards. */
    const round = async (session: Session, user: string, notes: Omit<Note, "in">[], verdicts: Verdict[] = []) => {
      turns += 1;
      script.notes = notes.map((note) => ({ ...note, in: user.slice(0, 40) }));
      script.verdicts = verdicts;
      const messages: Message[] = [
        { role: "user", content: user },
        { role: "assistant", content: "I see." },
      ];
      await get().varve.context.commitTurn(session, `model-${turns}`, messages);
      const done = await get().varve.memory.extract(session);
      get().clock.advance(day);
      return done.flatMap((one) => one.applied);
    };
    const list = async (agent: string, more = {}): Promise<Memory[]> =>
      (await get().varve.memory.list({ agent, limit: 100, ...more })).memories;
    const open = (agent: string) =>
      get().varve.sessions.resolve({ key: `agent:${agent}:chat:direct:ben`, owner: true });
    const only = async (agent: string, words: string, more = {}) => {
      const found = (await list(agent, more)).filter((one) => one.abstract.includes(words));
      expect(found, words).toHaveLength(1);
      return found[0] as Memory;
    };

    test("each of the seven decisions has its effect on the store, and nothing else", async () => {
      const { varve, clock } = get();
      const agent = "ben";
      const session = await open(agent);
      const begun = clock.now();

      const created = await round(session, "I really enjoy drinking green tea in the morning.", [
        { category: "preferences", abstract: "Enjoys drinking green tea", topic: "hot drink" },
      ]);
      expect(created).toMatchObject([{ decision: "create" }]);
      const tea = await only(agent, "green tea");
      expect(tea).toMatchObject({ version: 1, extractor: "model script/one", trust: "owner", accessCount: 0 });
      expect(tea.importance).toBe(0.8);

      const skipped = await round(
        session,
        "Green tea is what I enjoy drinking.",
        [{ category: "preferences", abstract: "Enjoys drinking green tea", topic: "hot drink" }],
        [{ on: "green tea", decision: "skip", match: 1 }],
      );
      expect(skipped).toMatchObject([{ decision: "skip", match: tea.id }]);
      expect(await only(agent, "green tea")).toMatchObject({ id: tea.id, accessCount: 1, support: tea.support });

      await round(
        session,
        "At work I enjoy drinking green tea as well.",
        [
          {
            category: "preferences",
            abstract: "Enjoys drinking green tea at work",
            topic: "hot drink",
            context: "work",
          },
        ],
        [{ on: "green tea", decision: "support", match: 1, context: "work" }],
      );
      const supported = await only(agent, "green tea");
      expect(supported.id).toBe(tea.id);
      expect(supported.support).toEqual({
        general: { confirmed: 1, contradicted: 0 },
        work: { confirmed: 1, contradicted: 0 },
      });
      expect(supported.confidence).toBeGreaterThan(tea.confidence);
      expect(supported.sources).toHaveLength(2);

      const merged = {
        abstract: "Enjoys green tea, sencha most",
        overview: "- green tea\n- sencha",
        content: "Enjoys drinking green tea, and sencha most of all.",
      };
      await round(
        session,
        "Of all green teas I enjoy sencha the most.",
        [{ category: "preferences", abstract: "Enjoys sencha the most of all green teas", topic: "hot drink" }],
        [{ on: "sencha", decision: "merge", match: 1, merged }],
      );
      const sencha = await only(agent, "sencha");
      expect(sencha).toMatchObject({
        ...merged,
        version: 2,
        root: tea.id,
        supersedes: tea.id,
        factKey: "preferences:hot drink",
      });
      expect(sencha.sources).toHaveLength(3);
      expect(sencha.support.work?.confirmed).toBe(1);
      const history = await varve.memory.history(sencha.id, { agent });
      expect(history.map((one) => one.id)).toEqual([tea.id, sencha.id]);
      expect(history[0]).toMatchObject({ supersededBy: sencha.id, abstract: tea.abstract });

      await round(
        session,
        "In the evening I enjoy drinking rooibos tea instead.",
        [{ category: "preferences", abstract: "Enjoys drinking rooibos tea", context: "evening" }],
        [{ on: "rooibos", decision: "contextualize", match: "sencha", context: "evening" }],
      );
      expect(await only(agent, "rooibos")).toMatchObject({
        version: 1,
        relations: [{ memory: sencha.id, kind: "contextualizes", label: "evening" }],
      });
      expect((await only(agent, "sencha")).id).toBe(sencha.id);

      const strength = (await only(agent, "sencha")).confidence;
      await round(
        session,
        "While travelling I do not enjoy green tea, sencha least.",
        [{ category: "preferences", abstract: "Does not enjoy green tea on journeys" }],
        [{ on: "journeys", decision: "contradict", match: "sencha", context: "travel" }],
      );
      const doubted = await only(agent, "sencha");
      expect(doubted.support.travel).toEqual({ confirmed: 0, contradicted: 1 });
      expect(doubted.confidence).toBeLessThan(strength);
      expect(await only(agent, "journeys")).toMatchObject({
        relations: [{ memory: sencha.id, kind: "contradicts", label: "travel" }],
      });

      const before = clock.now();
      await round(
        session,
        "I no longer enjoy green tea at all, coffee is my hot drink.",
        [{ category: "preferences", abstract: "Coffee is the hot drink, no longer green tea", topic: "hot drink" }],
        [{ on: "Coffee", decision: "supersede", match: "sencha" }],
      );
      const coffee = await only(agent, "Coffee is");
      expect(coffee).toMatchObject({
        version: 3,
        root: tea.id,
        supersedes: sencha.id,
        factKey: "preferences:hot drink",
        validFrom: before,
      });
      expect((await list(agent)).some((one) => one.id === sencha.id)).toBe(false);

      await round(
        session,
        "Coffee is bad, cocoa is my hot drink now.",
        [{ category: "preferences", abstract: "Cocoa is the hot drink, coffee is bad", topic: "hot drink" }],
        [{ on: "Cocoa", decision: "contradict", match: "Coffee is the", context: "general" }],
      );
      const cocoa = await only(agent, "Cocoa");
      expect(cocoa).toMatchObject({
        supersedes: coffee.id,
        relations: [{ memory: coffee.id, kind: "contradicts", label: "general" }],
      });
      expect((await list(agent)).some((one) => one.id === coffee.id)).toBe(false);

      // As of earlier dates: what was believed then.
      const drinkAt = async (time: number) =>
        (await varve.memory.recall({ agent, query: "hot drink tea coffee cocoa", asOf: time, limit: 20 })).hits
          .filter((hit) => hit.memory.root === tea.id)
          .map((hit) => hit.memory.id);
      expect(await drinkAt(begun - 1)).toEqual([]);
      expect(await drinkAt(begun + 1)).toEqual([tea.id]);
      expect(await drinkAt(sencha.validFrom)).toEqual([sencha.id]);
      expect(await drinkAt(coffee.validFrom + 1)).toEqual([coffee.id]);
      expect(await drinkAt(clock.now())).toEqual([cocoa.id]);
    });

    test("every memory's evidence opens the exact text of its messages", async () => {
      const { varve } = get();
      const memories = await list("ben", { includeHistory: true });
      expect(memories.length).toBe(6);
      const session = await open("ben");
      const said = (await varve.transcripts.read(session, { limit: 1000 })).entries.flatMap((entry) =>
        entry.type === "message" ? [entry.message.content] : [],
      );
      for (const { id } of memories) {
        const { evidence } = await varve.memory.get(id, { agent: "ben" });
        expect(evidence.length).toBeGreaterThan(0);
        for (const { quote, text } of evidence) {
          expect(said).toContain(text);
          expect(text).toContain(quote);
          expect(quote.length).toBeGreaterThan(5);
        }
      }
    });

    test("events and cases are only added to, and a profile is always merged", async () => {
      const agent = "cara";
      const session = await open(agent);
      await round(session, "Yesterday the server crashed because the disk was full.", [
        { category: "events", abstract: "The server crashed because the disk was full" },
      ]);
      await round(
        session,
        "Today the server crashed again because the disk was full.",
        [{ category: "events", abstract: "The server crashed again because the disk was full" }],
        [{ on: "again", decision: "supersede", match: 1 }],
      );
      expect((await list(agent)).filter((one) => one.category === "events")).toHaveLength(2);
      await round(session, "My name is Cara and I am a nurse.", [
        { category: "profile", abstract: "Her name is Cara, she is a nurse" },
      ]);
      await round(
        session,
        "I am Cara the nurse, and I am forty.",
        [{ category: "profile", abstract: "Cara the nurse is forty" }],
        [{ on: "forty", decision: "contradict", match: 1 }],
      );
      const profile = (await list(agent)).filter((one) => one.category === "profile");
      expect(profile).toMatchObject([{ version: 2 }]);
      expect(profile[0]?.content).toContain("nurse");
      expect(profile[0]?.content).toContain("forty");
    });

    test("only a valid number changes a memory, and what no message says is dropped", async () => {
      const agent = "dora";
      const session = await open(agent);
      await round(session, "I keep three bees on the roof.", [
        { category: "entities", abstract: "Keeps three bees on the roof" },
      ]);
      for (const match of [0, 7, -1, "nothing like it"]) {
        const applied = await round(
          session,
          `I keep bees on the roof, said for ${match}.`,
          [{ category: "entities", abstract: `Keeps bees on the roof, ${match}` }],
          [{ on: "bees", decision: "supersede", match }],
        );
        expect(applied).toMatchObject([{ decision: "create" }]);
      }
      expect(await list(agent)).toHaveLength(5);
      const lies = await round(session, "The weather is fine.", [
        { category: "profile", abstract: "Owns a castle in Scotland and seven horses" },
      ]);
      expect(lies).toEqual([]);
      script.notes = [];
    });

    test("nonsense of a model is read by the rules instead; a model that is down fails the job, which goes on later", async () => {
      const { varve, clock } = get();
      const session = await open("emil");
      script.raw = "I am sorry, I cannot do that.";
      await varve.context.commitTurn(session, "emil-1", [
        { role: "user", content: "Remember that the gate opens at 6." },
      ]);
      const [batch] = await varve.memory.extract(session);
      expect(batch?.notes.join()).toMatch(/no JSON.*rules/);
      expect(await list("emil")).toMatchObject([{ extractor: "rules" }]);
      script.reset();
      script.fail = new Error("the model is down");
      await varve.context.commitTurn(session, "emil-2", [
        { role: "user", content: "Remember that the bell rings at 7." },
      ]);
      await varve.jobs.drain();
      expect(await list("emil")).toHaveLength(1);
      expect((await varve.status()).failedJobs.map((job) => job.error)).toContain("the model is down");
      script.reset();
      script.notes = [{ in: "bell", category: "entities", abstract: "The bell rings at 7" }];
      clock.advance(600_000);
      await varve.jobs.drain();
      expect((await list("emil")).map((one) => one.extractor).sort()).toEqual(["model script/one", "rules"]);
      expect((await varve.status()).jobs).toEqual({});
    });

    test("what a model notes of an assistant's echo is dropped, over 50 turns, and so is the same twice in a batch", async () => {
      const { varve } = get();
      const agent = "gero";
      const session = await open(agent);
      await varve.memory.add({ agent, text: "My sister Ada lives in Oslo." });
      const before = await list(agent, { includeHistory: true });
      let echoes = 0;
      for (let index = 0; index < 50; index += 1) {
        const prompt = `Round ${index}: where does my sister Ada live?`;
        await varve.context.assemble(session, { budgetTokens: 8_000, prompt });
        script.notes = [{ in: `Reply ${index},`, category: "entities", abstract: "Ada, the sister, lives in Oslo" }];
        script.verdicts = [{ on: "Ada", decision: "supersede", match: 1 }];
        await varve.context.commitTurn(session, `gero-${index}`, [
          { role: "user", content: prompt },
          { role: "assistant", content: `Reply ${index}, as I remember: your sister Ada lives in Oslo.` },
        ]);
        for (const batch of await varve.memory.extract(session)) echoes += batch.dropped.echoes;
      }
      expect(echoes).toBe(50);
      expect((await list(agent, { includeHistory: true })).map((one) => one.id)).toEqual(before.map((one) => one.id));
      const twice = { in: "telescope", category: "entities", abstract: "Owns an old brass telescope" };
      script.notes = [twice, { ...twice, abstract: "Owns an old telescope of brass" }];
      await varve.context.ingest(session, [{ role: "user", content: "I own an old telescope made of brass." }]);
      const [batch] = await varve.memory.extract(session);
      expect(batch?.dropped.duplicates).toBe(1);
      expect((await list(agent)).map((one) => one.abstract)).toContain("Owns an old brass telescope");
    });

    test("what is lasting is written down when a session is renewed, in the agent's own reflection", async () => {
      const { varve } = get();
      const session = await open("finn");
      await varve.context.commitTurn(session, "finn-1", [
        { role: "user", content: "Never push to the main branch without tests." },
        { role: "assistant", content: "Understood." },
      ]);
      script.reflections = [{ kind: "rule", text: "Never push to the main branch without tests", in: "Never push" }];
      await varve.sessions.renew(session, "new");
      await varve.jobs.drain();
      const own = await list("finn", { scopes: ["reflection:agent:finn"] });
      expect(own).toMatchObject([{ category: "patterns", scope: "reflection:agent:finn" }]);
      expect(own[0]?.sources).toHaveLength(1);
      expect(await list("ben", { scopes: ["reflection:agent:finn"] })).toEqual([]);
    });
  },
  { models: { memory: script.generate } },
);
