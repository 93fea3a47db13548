import { afterEach, beforeEach, expect, test } from "vitest";
import { FakeHost, reply, user } from "./fake-host.test-util.ts";
import type { PluginApi } from "./host-types.ts";
import { createMemoryCapability } from "./memory-capability.ts";
import { registerRecallHooks } from "./recall-hooks.ts";
import { createTools } from "./tools.ts";

const secret = "4711-zebra";
const ann = "agent:main:telegram:direct:5";
const bob = "agent:main:telegram:direct:6";

let host: FakeHost;
beforeEach(async () => {
  host = new FakeHost();
  await (await host.createEngine()).commitTurn(host.addTurn(ann, [user(`My PIN is ${secret}.`), reply("Noted.")]));
  await (await host.createEngine()).commitTurn(
    host.addTurn("agent:main:main", [user("My safe opens with 0815-lion."), reply("Noted.")]),
  );
  const varve = await host.openVarve();
  await varve.memory.extract(await varve.sessions.get(ann));
  await varve.memory.add({ text: "My safe opens with 0815-lion." });
});
afterEach(() => host.close());

/** What the plugin shows in a session of OpenClaw, stored or not: recall, tools, search, the view. */
async function readAll(sessionKey: string): Promise<string> {
  const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const handlers = new Map<string, (event: object, context: object) => Promise<unknown>>();
  const on = (name: string, handler: never) => handlers.set(name, handler);
  registerRecallHooks({ logger, on } as unknown as PluginApi, host.settings);
  const sessionId = sessionKey.replaceAll(":", "-");
  const context = { sessionKey, sessionId, agentId: "main" };
  const prompt = "What is the PIN, and what opens the safe?";
  const read: unknown[] = [await handlers.get("before_prompt_build")?.({ prompt }, context)];
  const calls: readonly [string, object][] = [
    ["memory_search", { query: "PIN safe" }],
    ["memory_recall", { query: "PIN safe" }],
    ["lcm_grep", { pattern: "PIN|safe", allConversations: true }],
  ];
  for (const [name, input] of calls) {
    const tool = createTools(host.settings, context, () => undefined)?.find((one) => one.name === name);
    read.push(await tool?.execute("call", input, undefined as never).catch(String));
  }
  const { runtime } = createMemoryCapability(host.settings, logger);
  const { manager } = await runtime.getMemorySearchManager({ agentId: "main" } as never);
  read.push(await manager?.search("PIN safe", { sessionKey }));
  const target = { sessionId, sessionKey, sessionTarget: { agentId: "main", sessionKey } };
  read.push(
    await (await host.createEngine()).assemble({ ...target, messages: [user(prompt)], tokenBudget: 8_000, prompt }),
  );
  return JSON.stringify(read);
}

test("somebody new sees nothing of others, before and after the first turn is stored", async () => {
  for (const isStored of [false, true]) {
    if (isStored) await (await host.createEngine()).commitTurn(host.addTurn(bob, [user("Hello."), reply("Hi.")]));
    const read = await readAll(bob);
    expect(read, String(isStored)).not.toContain(secret);
    expect(read, String(isStored)).not.toContain("0815");
  }
});

test("people see their own, and the owner everything", async () => {
  const anns = await readAll(ann);
  expect(anns).toContain(secret);
  expect(anns).not.toContain("0815");
  const owners = await readAll("agent:main:main");
  expect(owners).toContain(secret);
  expect(owners).toContain("0815");
});
