/** Delegated readers: a question to the history is answered step by step, within its tokens and steps. */
import { expect, test } from "vitest";
import type { GenerateRequest } from "../../src/models/index.ts";
import { onEveryEngine } from "../support/engines.ts";

onEveryEngine("delegated readers", (get) => {
  const write = async (agent: string) => {
    const session = await get().varve.sessions.resolve({ key: `agent:${agent}:chat:direct:a` });
    await get().varve.context.ingest(session, [
      { role: "user", content: "Which colour shall the shed get?" },
      { role: "assistant", content: "Let us take ochre, it is cheap this month." },
      { role: "user", content: "The harbour fee is 40 euros." },
      { role: "user", content: "The mooring costs 90 euros a month." },
    ]);
    return session;
  };

  test("a model searches with other words, then answers with citations", async () => {
    const session = await write("model");
    const asked: GenerateRequest[] = [];
    const varve = await get().another({
      models: {
        expansion: async (request) => {
          asked.push(request);
          return asked.length === 1 ? '{"search": "mooring costs"}' : "The mooring costs 90 euros.";
        },
      },
    });
    const answer = await varve.context.expandQuery({ session, prompt: "What do I pay for the harbour?" });
    expect(answer).toMatchObject({ answer: "The mooring costs 90 euros.", steps: 2 });
    expect(asked[1]?.user).toContain("The mooring costs 90 euros a month.");
  });

  test("a model that never answers is made to after its steps", async () => {
    const session = await write("endless");
    let calls = 0;
    const varve = await get().another({
      config: { context: { delegationSteps: 3 } },
      models: {
        expansion: async ({ system }) => {
          calls += 1;
          return system.includes("read on instead") ? '{"search": "harbour"}' : "I do not know.";
        },
      },
    });
    const answer = await varve.context.expandQuery({ session, prompt: "What is the harbour fee?" });
    expect(answer).toMatchObject({ answer: "I do not know.", steps: 3 });
    expect(calls).toBe(3);
  });

  test("a model cannot open what it may not see", async () => {
    const session = await write("blind");
    let calls = 0;
    const varve = await get().another({
      models: {
        expansion: async () => {
          calls += 1;
          return calls === 1 ? '{"open": ["sum_0123456789abcdef"]}' : "The fee is 40 euros.";
        },
      },
    });
    const answer = await varve.context.expandQuery({ session, prompt: "What is the harbour fee?" });
    expect(answer.answer).toBe("The fee is 40 euros.");
    expect(answer.notes.join()).toContain("may not open");
  });

  test("without a model the reader reads on around what matches: the answer follows the question", async () => {
    const session = await write("rules");
    const answer = await get().varve.context.expandQuery({ session, prompt: "Which colour shall the shed get?" });
    expect(answer.answer).toContain("ochre");
    expect(answer.model).toBeUndefined();
  });

  test("two questions of clients without a session do not wait for each other; two of one session do", async () => {
    const session = await write("parallel");
    const { varve } = get();
    const open = { agent: "parallel", allConversations: true, prompt: "What is the harbour fee?" };
    const [first, second] = await Promise.all([varve.context.expandQuery(open), varve.context.expandQuery(open)]);
    expect(first.answer).toContain("40 euros");
    expect(second.answer).toContain("40 euros");
    const release: (() => void)[] = [];
    const slow = await get().another({
      models: { expansion: () => new Promise<string>((done) => release.push(() => done("40 euros"))) },
    });
    const waiting = slow.context.expandQuery({ session, prompt: "What is the harbour fee?" });
    while (release.length === 0) await new Promise((done) => setTimeout(done, 5));
    await expect(slow.context.expandQuery({ session, prompt: "What is the fee?" })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    for (const one of release) one();
    expect((await waiting).answer).toBe("40 euros");
  });

  test("a host makes a grant for a sub-agent, which reads within it, cannot delegate, and loses it", async () => {
    const session = await write("host");
    const { varve, clock } = get();
    const other = await varve.sessions.resolve({ key: "agent:host:chat:direct:other" });
    await varve.context.ingest(other, [{ role: "user", content: "The secret word is plum." }]);
    const grant = await varve.grants.create({ session, tokenCap: 2_000, ttlMs: 60_000 });
    const tools = await varve.tools({ agent: "host", grant: grant.id });
    const run = (name: string, input: object) => tools.find((tool) => tool.name === name)?.run(input);
    expect((await run("lcm_grep", { pattern: "harbour" }))?.markdown).toContain("40 euros");
    expect((await run("lcm_grep", { pattern: "plum", allConversations: true }))?.markdown).not.toContain("secret");
    expect(tools.map((tool) => tool.name)).not.toContain("lcm_expand_query");
    expect(await varve.grants.list({ agent: "host" })).toMatchObject([{ id: grant.id, state: "active", reads: 2 }]);
    await varve.grants.revoke(grant.id, { agent: "host" });
    await expect(run("lcm_grep", { pattern: "harbour" })).rejects.toMatchObject({ code: "REFUSED" });
    const short = await varve.grants.create({ session, tokenCap: 2_000, ttlMs: 60_000 });
    clock.advance(60_001);
    await expect(varve.context.grant(short.id, "host")).rejects.toThrow(/expired/);
    await expect(varve.grants.create({ session, tokenCap: 0 })).rejects.toMatchObject({ code: "BAD_REQUEST" });
    await expect(varve.grants.revoke("grant_none", { agent: "host" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});
