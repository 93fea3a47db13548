/** Recall of memories: the same stages and the same trace as a search. */
import { expect, test } from "vitest";
import { onEveryEngine } from "../support/engines.ts";

const day = 86_400_000;

onEveryEngine("recall of memories", (get) => {
  const add = async (agent: string, ...texts: string[]) => {
    for (const text of texts) await get().varve.memory.add({ agent, text });
  };
  const find = async (agent: string, query: string, more = {}) =>
    (await get().varve.memory.recall({ agent, query, ...more })).hits.map((hit) => hit.memory.content);

  test("every stage is traced, with what it left out", async () => {
    const agent = "trace";
    await add(agent, "The harbour master is Jonas.", "The harbour opens at six.", "The harbour has two cranes.");
    const found = await get().varve.memory.recall({ agent, query: "harbour master", limit: 2, explain: true });
    expect(found.steps?.map((step) => step.name)).toEqual(["fusion", "importance", "decay", "noise", "diversity"]);
    expect(Object.keys(found.hits[0]?.stages ?? {})).toEqual(["fusion", "importance", "decay", "noise", "diversity"]);
    expect(found.hits[0]?.stages?.fusion).toBeCloseTo(found.hits[0]?.relevance ?? 0, 3);
    expect(found.hits[0]?.memory.content).toBe("The harbour master is Jonas.");
    expect(found.cut).toContainEqual(expect.stringContaining("beyond the limit of 2"));
    const plain = await get().varve.memory.recall({ agent, query: "harbour master" });
    expect(plain.steps).toBeUndefined();
    expect(plain.hits[0]?.stages).toBeUndefined();
  });

  test.each([
    ["en", "My home is a houseboat called Nautilus.", "Where do I live?"],
    ["de", "Mein Wagen ist ein alter Saab.", "Welches Auto fahre ich?"],
    ["fr", "Mon métier est ébéniste.", "Quel est mon travail ?"],
    ["es", "Mi coche es un Seat rojo.", "¿Qué automóvil o vehículo tengo?"],
    ["it", "La mia bici è una Bianchi.", "Quale bicicletta ho?"],
    ["pt", "Meu celular é um Nokia antigo.", "Qual telefone eu tenho?"],
    ["ru", "Мой автомобиль марки Лада.", "Какая у меня машина?"],
    ["zh", "我的单车是红色的。", "我的自行车是什么颜色？"],
    ["ja", "私の給料は三十万円です。", "私の収入はいくらですか？"],
    ["ko", "제 핸드폰은 갤럭시입니다.", "제 휴대폰은 뭐예요?"],
  ])("a synonym of the question's word finds a fact without a model (%s)", async (code, fact, question) => {
    const agent = `synonym-${code}`;
    await add(agent, fact, "Xylophon 77.");
    expect(await find(agent, question, { wordsOnly: true })).toContain(fact);
  });

  test("memories that may be in conflict come together and say so", async () => {
    const agent = "together";
    await add(agent, "I like jazz.", "I do not like jazz.", "The jazz club is in Ghent.");
    const { hits } = await get().varve.memory.recall({ agent, query: "do I like jazz" });
    const at = hits.findIndex((hit) => hit.memory.content === "I like jazz.");
    const other = hits.findIndex((hit) => hit.memory.content === "I do not like jazz.");
    expect(Math.abs(at - other)).toBe(1);
    expect(hits[at]?.conflicts).toEqual([hits[other]?.memory.id]);
    expect(hits[other]?.conflicts).toEqual([hits[at]?.memory.id]);
    // One of them is asked for alone: the other still comes with it.
    const { hits: one } = await get().varve.memory.recall({ agent, query: "do I like jazz", limit: 1 });
    expect(one).toHaveLength(2);
    const session = await get().varve.sessions.resolve({ key: `agent:${agent}:chat:direct:a`, owner: true });
    const prompt = "Do I like jazz?";
    await get().varve.context.ingest(session, [{ role: "user", content: prompt }]);
    const view = await get().varve.context.assemble(session, { budgetTokens: 8_000, prompt });
    expect(JSON.stringify(view.messages)).toContain("perhaps in conflict with mem_");
  });

  test("an unused memory of yesterday ranks before an equal one of three years ago", async () => {
    const { clock } = get();
    const agent = "ages";
    await add(agent, "The choir sang in the old hall on a Tuesday.");
    clock.advance(3 * 365 * day);
    await add(agent, "The choir sang in the new hall on a Tuesday.");
    clock.advance(day);
    const { hits } = await get().varve.memory.recall({ agent, query: "The choir sang in the hall on a Tuesday" });
    expect(hits.map((hit) => hit.memory.content)[0]).toContain("new hall");
    expect(hits[0]?.factor).toBeGreaterThan((hits[1]?.factor ?? 1) + 0.02);
  });

  test("near-duplicates move down and say why, and none is lost", async () => {
    const agent = "diverse";
    for (const name of ["Ann", "Bob", "Cid"]) {
      await get().varve.memory.add({
        agent,
        text: `The red boat in the harbour belongs to uncle ${name}`,
        force: true,
      });
    }
    await get().varve.memory.add({ agent, text: "The red boat in the harbour belongs to uncle Ann", force: true });
    await add(agent, "The red boat needs paint.");
    const { hits } = await get().varve.memory.recall({ agent, query: "red boat in the harbour", limit: 10 });
    expect(hits).toHaveLength(5);
    expect(hits.filter((hit) => hit.notes?.some((note) => note.includes("near-duplicate"))).length).toBeGreaterThan(0);
  });

  test("a configured reranker decides, and its failure is reported", async () => {
    const agent = "rerank";
    await add(agent, "The ferry leaves at nine.", "The ferry costs twelve euros.");
    const reranker = {
      name: "scripted",
      rerank: async (_query: string, texts: readonly string[]) =>
        texts.map((text, index) => ({ index, score: text.includes("twelve") ? 1 : 0 })),
    };
    const reranking = await get().another({ models: { reranker } });
    const { hits } = await reranking.memory.recall({ agent, query: "ferry", explain: true });
    expect(hits[0]?.memory.content).toContain("twelve");
    expect(hits[0]?.stages).toHaveProperty("rerank");
    const failing = await get().another({
      models: {
        reranker: {
          name: "scripted",
          rerank: async () => {
            throw new Error("no service");
          },
        },
      },
    });
    expect((await failing.memory.recall({ agent, query: "ferry" })).note).toContain("no service");
  });
});
