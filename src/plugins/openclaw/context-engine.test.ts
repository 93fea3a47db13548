import { afterEach, beforeEach, expect, test } from "vitest";
import { FakeHost, reply, user } from "./fake-host.test-util.ts";
import { getSharedState } from "./shared-engine.ts";
import { createTools, toolNames } from "./tools.ts";

let host: FakeHost;
beforeEach(() => {
  host = new FakeHost();
});
afterEach(() => host.close());

const noParent = () => undefined;
const key = "agent:main:t1";
const place = { sessionId: "agent-main-t1", sessionKey: key, sessionTarget: { agentId: "main", sessionKey: key } };

test("a turn is committed once, and what was missed before it is stored with it", async () => {
  host.addTurn(key, [user("Plan the harvest of the north field."), reply("lost")]);
  const turn = host.addTurn(key, [user("hello"), reply("hi")]);
  const engine = await host.createEngine();
  expect(await engine.commitTurn(turn)).toEqual({ status: "committed" });
  expect(await engine.commitTurn(turn)).toEqual({ status: "duplicate" });
  expect(await (await host.createEngine()).bootstrap(place)).toEqual({ bootstrapped: true, importedMessages: 0 });
  const session = await (await host.openVarve()).sessions.get(key);
  expect(session).toMatchObject({ messageCount: 4, displayName: "Plan the harvest of the north field" });
});

test("a view has the messages before the turn, the memory section, and is kept for the turn", async () => {
  await (await host.createEngine()).commitTurn(host.addTurn(key, [user("The gate is B12."), reply("Noted.")]));
  const engine = await host.createEngine();
  const params = { ...place, messages: [], tokenBudget: 8_000, prompt: "Which gate?" };
  const view = await engine.assemble(params);
  expect(view.messages.slice(0, 2)).toMatchObject([user("The gate is B12."), reply("Noted.")]);
  expect(view.messages.every((message) => typeof message.timestamp === "number")).toBe(true);
  expect(view.systemPromptAddition).toContain("## Memory");
  expect(await engine.assemble({ ...params, tokenBudget: 7_900 })).toBe(view);
});

test("a reset empties the view and keeps the history", async () => {
  await (await host.createEngine()).commitTurn(host.addTurn(key, [user("The harvest begins."), reply("ok")]));
  host.addEvent(key, {
    ...{ type: "reset", id: "r1", parentId: "agent-main-t1-2", timestamp: "2026-11-17T11:00:00.000Z" },
  });
  const view = await (await host.createEngine()).assemble({ ...place, messages: [], tokenBudget: 8_000 });
  expect(view.messages).toEqual([]);
  expect(JSON.stringify((await (await host.openVarve()).search.find("harvest")).results)).toContain("harvest");
});

test("a memory that cannot be read costs the turn its history, not the turn", async () => {
  await (await host.createEngine()).commitTurn(host.addTurn(key, [user("one"), reply("two")]));
  const engine = await host.createEngine();
  getSharedState().loadSdk = async () => {
    throw new Error("OpenClaw is being updated");
  };
  const messages = [user("old ".repeat(400)), reply("older"), user("new"), reply("newer")];
  const view = await engine.assemble({ ...place, messages, tokenBudget: 60 });
  expect(view.messages).toEqual([user("new"), reply("newer")]);
  expect(host.logged.join()).toContain("OpenClaw is being updated");
  await expect(engine.commitTurn(host.addTurn(key, [user("three")]))).rejects.toThrow("being updated");
});

test("a refused prompt is shortened until nothing is left to shorten", async () => {
  const turns = Array.from({ length: 12 }, (_, turn) => [
    user(`Field ${turn}: ${"wheat ".repeat(150)}`),
    reply("Noted."),
  ]);
  await (await host.createEngine()).commitTurn(host.addTurn(key, turns.flat()));
  const engine = await host.createEngine();
  const view = await engine.assemble({ ...place, messages: [], tokenBudget: 4_000 });
  const compact = () =>
    engine.compact({ ...place, tokenBudget: 4_000, currentTokenCount: 5_000, compactionTarget: "budget" as const });
  expect(await compact()).toMatchObject({ ok: true, compacted: true });
  const shorter = await engine.assemble({ ...place, messages: [], tokenBudget: 4_000 });
  expect(shorter.estimatedTokens).toBeLessThan(view.estimatedTokens);
  let last = await compact();
  for (let round = 0; round < 20 && last.ok; round += 1) last = await compact();
  expect(last).toMatchObject({ ok: false, reason: "nothing can be shortened any more" });
  expect(await engine.compact({ ...place, force: true, compactionTarget: "threshold" })).toMatchObject({ ok: true });
});

test("internal and incognito sessions are not stored", async () => {
  const engine = await host.createEngine();
  for (const name of ["agent:main:internal-session-effects:x", "agent:main:dashboard:incognito-1"]) {
    const turn = host.addTurn(name, [user("secret"), reply("ok")]);
    expect(await engine.commitTurn(turn)).toEqual({ status: "committed" });
    expect(await engine.bootstrap(turn)).toMatchObject({ bootstrapped: false });
    expect((await engine.assemble({ ...turn, messages: [user("x")] })).messages).toEqual([user("x")]);
    expect(createTools(host.settings, { sessionKey: name }, noParent)).toBeNull();
  }
  expect((await (await host.openVarve()).search.find("secret")).results).toEqual([]);
});

test("a sub-agent belongs to its parent and reads its history while it runs", async () => {
  const engine = await host.createEngine();
  await engine.commitTurn(host.addTurn(key, [user("The gate is B12."), reply("Noted.")]));
  const child = "agent:main:subagent:c1";
  await engine.prepareSubagentSpawn({ parentSessionKey: key, childSessionKey: child });
  const context = { agentId: "main", sessionKey: child, sessionId: "agent-main-subagent-c1" };
  const tools = createTools(host.settings, context, noParent) ?? [];
  expect(tools.map(({ name }) => name)).toContain("lcm_expand");
  expect(tools.map(({ name }) => name)).not.toContain("lcm_expand_query");
  const grep = tools.find(({ name }) => name === "lcm_grep");
  expect((await grep?.execute("1", { pattern: "B12" }))?.content[0]?.text).toContain("The gate is");
  await engine.commitTurn(host.addTurn(child, [user("task"), reply("done")]));
  expect((await (await host.openVarve()).sessions.get(child)).parentKey).toBe(key);
  await engine.onSubagentEnded({ childSessionKey: child, reason: "completed" });
  await expect(grep?.execute("2", { pattern: "B12" })).rejects.toThrow("has ended");
});

test("a sub-agent keeps its grant when OpenClaw starts again", async () => {
  const child = "agent:main:subagent:c2";
  host.findParent = (_agent, sessionKey) => (sessionKey === child ? key : undefined);
  const engine = await host.createEngine();
  await engine.commitTurn(host.addTurn(key, [user("The gate is B12."), reply("Noted.")]));
  await engine.prepareSubagentSpawn({ parentSessionKey: key, childSessionKey: child });
  await host.restart();
  const tools = createTools(host.settings, { agentId: "main", sessionKey: child }, host.findParent) ?? [];
  expect(tools.map(({ name }) => name)).toContain("lcm_expand");
  const grep = tools.find(({ name }) => name === "lcm_grep");
  expect((await grep?.execute("1", { pattern: "B12" }))?.content[0]?.text).toContain("The gate is");
  await host.restart();
  await (await host.createEngine()).onSubagentEnded({ childSessionKey: child, reason: "completed" });
  const [grant] = await (await host.openVarve()).grants.list();
  expect(grant?.state).toBe("revoked");
});

test("tools answer in the session they are called in, and say what is wrong with an input", async () => {
  await (await host.createEngine()).commitTurn(host.addTurn(key, [user("The gate is B12."), reply("Noted.")]));
  const tools =
    createTools(host.settings, { agentId: "main", sessionKey: key, sessionId: "agent-main-t1" }, noParent) ?? [];
  expect(tools.map(({ name }) => name).toSorted()).toEqual(
    toolNames.filter((name) => name !== "lcm_expand").toSorted(),
  );
  expect(tools.every((tool) => tool.catalogMode === "direct-only")).toBe(true);
  const search = tools.find(({ name }) => name === "memory_search");
  expect((await search?.execute("1", { query: "gate" }))?.content[0]?.text).toContain("B12");
  await expect(search?.execute("2", {})).rejects.toThrow("query is missing. Send query");
});
