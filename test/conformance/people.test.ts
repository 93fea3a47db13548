/** People who share an agent: what each of them reaches by prompts, commands, tools and searches. */
import { afterEach, describe, expect, test } from "vitest";
import type { ConfigInput } from "../../src/config/index.ts";
import { systemClock, systemRandom } from "../../src/domain/index.ts";
import type { Inbound, Varve } from "../../src/index.ts";
import { type ChatServer, modelSettings, startChatServer } from "../support/chat-server.ts";
import { onEveryEngine } from "../support/engines.ts";
import { readByTools } from "../support/reading-paths.ts";

const secret = "4711-zebra";

onEveryEngine("people", (get) => {
  const engines: Varve[] = [];
  const servers: ChatServer[] = [];
  let number = 0;
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.close();
    for (const server of servers.splice(0)) await server.close();
  });

  /** An agent of its own for every test, with a model that says "Fine." and keeps what it was sent. */
  const open = async (config: ConfigInput | ((channel: string) => ConfigInput)) => {
    number += 1;
    const agent = `crowd${number}`;
    const channel = `chat${number}`;
    const settings = typeof config === "function" ? config(channel) : config;
    const server = await startChatServer(() => ({ text: "Fine." }));
    servers.push(server);
    const varve = await get().another({
      clock: systemClock,
      random: systemRandom,
      background: true,
      config: {
        agent,
        ...settings,
        search: { embedder: "none" },
        models: modelSettings(server.url),
        turn: { debounceMs: 0, ...settings.turn },
      },
    });
    engines.push(varve);
    const say = (text: string, from: string, chat: Inbound["chat"] = { type: "direct", id: from }, more: object = {}) =>
      varve.turns.send({ channel, from: { id: from }, chat, text, ...more });
    /** The last request to the model. */
    const sent = () => JSON.stringify(server.requests.at(-1));
    return { varve, agent, channel, say, sent };
  };
  const shared: ConfigInput = { session: { dmScope: "per-channel-peer" } };
  const group: Inbound["chat"] = { type: "group", id: "g1" };

  describe("of a shared agent", () => {
    test("do not reach each other's history and memories", async () => {
      const { varve, agent, channel, say, sent } = await open(shared);
      await say(`My PIN is ${secret}, keep it to yourself.`, "ann");
      await say(`/remember My PIN is ${secret}.`, "ann");
      const anns = await varve.sessions.get(`agent:${agent}:${channel}:direct:ann`);
      await varve.memory.extract(anns);
      const reached = await say("/recall PIN", "ann");
      expect(reached.reply).toContain(secret);

      await say("What is the PIN?", "bob");
      expect(sent()).not.toContain(secret);
      expect((await say("/recall PIN", "bob")).reply).not.toContain(secret);
      expect((await say(`/recall ${secret}`, "bob")).reply).not.toContain("My PIN");
      const key = `agent:${agent}:${channel}:direct:bob`;
      const found = await readByTools(varve, key, "PIN", anns);
      expect(found).not.toContain(secret);
      expect(found).not.toContain("direct:ann");
      const view = await varve.context.assemble(await varve.sessions.get(key), { prompt: "What is the PIN?" });
      expect(JSON.stringify(view)).not.toContain(secret);
    });

    test("do not forget or change each other's memories", async () => {
      const { varve, agent, channel, say } = await open(shared);
      await say(`/remember My PIN is ${secret}.`, "ann");
      const forgotten = await say("/forget PIN", "bob");
      expect(forgotten.reply).not.toContain("Forgotten");
      const scopes = [`user:${channel}:ann`];
      const [kept] = (await varve.memory.list({ agent, scopes })).memories;
      expect(kept?.content).toContain(secret);
      const tools = await varve.tools({ session: `agent:${agent}:${channel}:direct:bob` });
      const forget = tools.find((tool) => tool.name === "memory_forget");
      await expect(forget?.run({ memoryId: kept?.id })).rejects.toThrow(/There is no memory/);
      const update = tools.find((tool) => tool.name === "memory_update");
      await expect(update?.run({ memoryId: kept?.id, text: "The PIN is 0000." })).rejects.toThrow(/There is no memory/);
      expect((await say("/forget PIN", "ann")).reply).toContain("Forgotten");
    });

    test("share what an owner shares, and cannot change it", async () => {
      const { varve, agent, channel, say, sent } = await open((channel) => ({
        ...shared,
        turn: { owners: { [channel]: ["olga"] } },
      }));
      expect((await say("/remember --shared The office opens at nine.", "ann")).reply).toMatch(/Only the owner/);
      expect((await say("/remember --shared The office opens at nine.", "olga")).reply).toContain("Kept");
      await say("When does the office open?", "bob");
      expect(sent()).toContain("opens at nine");
      expect((await say("/forget office opens at nine", "bob")).reply).not.toContain("Forgotten");
      const tools = await varve.tools({ session: `agent:${agent}:${channel}:direct:bob` });
      const [known] = (await varve.memory.list({ agent })).memories;
      const update = tools.find((tool) => tool.name === "memory_update");
      await expect(update?.run({ memoryId: known?.id, text: "It opens at ten." })).rejects.toThrow(/not changed/);
      const store = tools.find((tool) => tool.name === "memory_store");
      await expect(store?.run({ text: "It opens at ten.", scope: `agent:${agent}` })).rejects.toThrow(/not open/);
      await expect(store?.run({ text: "It opens at ten.", scope: "global" })).rejects.toThrow(/not open/);
    });

    test("are one person after identity links, also when these come later", async () => {
      const { agent, channel, say } = await open(shared);
      await say(`/remember My PIN is ${secret}.`, "ann");
      await say("I also told you about the lighthouse.", "ann");
      const linked = await get().another({
        clock: systemClock,
        random: systemRandom,
        background: true,
        config: {
          agent,
          session: { dmScope: "per-channel-peer", identityLinks: { anna: [`${channel}:ann`, "slack:U1"] } },
          search: { embedder: "none" },
          turn: { debounceMs: 0, runner: "offline" },
        },
      });
      engines.push(linked);
      const slack = (text: string, from: string) =>
        linked.turns.send({ channel: "slack", from: { id: from }, chat: { type: "direct", id: from }, text });
      expect((await slack("/recall PIN", "U1")).reply).toContain(secret);
      expect((await slack("/recall lighthouse", "U1")).reply).toContain("lighthouse");
      expect((await slack("/recall PIN", "U2")).reply).not.toContain(secret);
      expect((await slack("/recall lighthouse", "anna")).reply).not.toContain("told you");
    });

    test("are learned about in a scope of their own", async () => {
      const { varve, agent, channel, say } = await open(shared);
      await say("My name is Ann and I live in Lisbon.", "ann");
      await say("I live in Oslo, by the way.", "bob", group, { mentioned: true });
      await varve.memory.extract(await varve.sessions.get(`agent:${agent}:${channel}:direct:ann`));
      await varve.memory.extract(await varve.sessions.get(`agent:${agent}:${channel}:group:g1`));
      const list = async (scope: string) =>
        (await varve.memory.list({ agent, scopes: [scope] })).memories
          .map((one) => `${one.trust}: ${one.content}`)
          .join("\n");
      expect(await list(`user:${channel}:ann`)).toMatch(/person: .*Lisbon/);
      expect(await list(`group:${channel}:g1`)).toMatch(/group: .*Oslo/);
      expect(await list(`agent:${agent}`)).toBe("");
      expect(await list("global")).toBe("");
    });

    test("keep their sub-agents and forks to themselves", async () => {
      const { varve, agent, channel, say } = await open(shared);
      await say(`My PIN is ${secret}.`, "ann");
      const anns = await varve.sessions.get(`agent:${agent}:${channel}:direct:ann`);
      const { session: child } = await varve.sessions.fork(anns);
      await varve.context.ingest(child, [{ role: "user", content: `The child knows ${secret} too.` }]);
      await say("Hello", "bob");
      expect(await readByTools(varve, `agent:${agent}:${channel}:direct:bob`, "child knows", child)).not.toContain(
        secret,
      );
      expect(await readByTools(varve, child.key, "PIN")).toContain(secret);
      const orphan = await varve.sessions.resolve({ key: `agent:${agent}:subagent:unknown` });
      expect(await readByTools(varve, orphan.key, "PIN", anns)).not.toContain(secret);
    });

    test("see more or less when recall.visibility says so", async () => {
      const wide = await open({ ...shared, recall: { visibility: "agent" } });
      await wide.say("The harbour key hangs behind the door.", "ann");
      expect((await wide.say("/recall harbour key", "bob")).reply).toContain("behind the door");
      const narrow = await open({ ...shared, recall: { visibility: "session" } });
      await narrow.say("The harbour key hangs behind the door.", "ann");
      await narrow.say("/new", "ann");
      const thread = { type: "direct" as const, id: "ann", thread: "t2" };
      expect((await narrow.say("/recall harbour key", "ann", thread)).reply).not.toContain("behind the door");
    });
  });

  describe("in a group", () => {
    test("reach nothing of anybody's direct chats, not even their own", async () => {
      const { varve, agent, channel, say, sent } = await open(shared);
      await say(`/remember My PIN is ${secret}.`, "ann");
      await say(`My PIN is ${secret}.`, "ann");
      await say("What is my PIN?", "ann", group, { mentioned: true });
      expect(sent()).not.toContain(secret);
      expect((await say("/recall PIN", "ann", group, { mentioned: true })).reply).not.toContain(secret);
      expect(await readByTools(varve, `agent:${agent}:${channel}:group:g1`, "PIN")).not.toContain(secret);
    });

    test("do not see other groups", async () => {
      const { say } = await open(shared);
      await say("The party is a surprise on the roof.", "ann", group, { mentioned: true });
      const other = { type: "group" as const, id: "g2" };
      expect((await say("/recall party", "bob", other, { mentioned: true })).reply).not.toContain("roof");
      const topic = { type: "group" as const, id: "g1", thread: "7" };
      expect((await say("/recall party", "bob", topic, { mentioned: true })).reply).toContain("roof");
    });

    test("use commands only when the agent is addressed, and change a session only as owners", async () => {
      for (const settings of [shared, {}] as ConfigInput[]) {
        const { varve, agent, channel, say } = await open((channel) => ({
          ...settings,
          turn: { owners: { [channel]: ["olga"] } },
        }));
        const key = `agent:${agent}:${channel}:group:g1`;
        await say("Hello all", "ann", group, { mentioned: true });
        const before = (await varve.sessions.get(key)).sessionId;
        for (const text of ["/reset", "/new", "/compact", "/forget everything", "/remember x is y", "/recall Hello"]) {
          const { reply, status } = await say(text, "ann", group, { mentioned: false });
          expect({ reply, status }, text).toEqual({ reply: "", status: "stored" });
        }
        for (const text of ["/reset", "/new", "/compact", "/forget everything", "/remember x is y"]) {
          const { reply, status } = await say(text, "ann", group, { mentioned: true });
          expect({ reply, status }, text).toEqual({ reply: "", status: "stored" });
        }
        expect((await varve.sessions.get(key)).sessionId).toBe(before);
        expect((await say("/help", "ann", group, { mentioned: true })).reply).not.toContain("/reset");
        // What was not obeyed is kept.
        const { entries } = await varve.transcripts.read(await varve.sessions.get(key), { limit: 50 });
        expect(JSON.stringify(entries)).toContain("/forget everything");
        expect((await say("/new", "olga", group, { mentioned: true })).status).toBe("command");
        expect((await varve.sessions.get(key)).sessionId).not.toBe(before);
      }
    });
  });

  describe("of a personal agent", () => {
    test("are the owner, who sees everything", async () => {
      const { varve, agent, channel, say } = await open((channel) => ({ turn: { owners: { [channel]: ["ann"] } } }));
      await say("The boat is called Mirela.", "ann");
      expect((await say("/recall boat", "ann")).reply).toContain("Mirela");
      await say("My cat lives in Oslo.", "bob", group, { mentioned: true });
      await varve.memory.extract(await varve.sessions.get(`agent:${agent}:${channel}:group:g1`));
      expect((await say("/recall cat Oslo", "ann")).reply).toContain("Oslo");
      expect((await say("/reset", "ann")).status).toBe("command");
    });

    test("are strangers when the owners are named", async () => {
      const { varve, agent, say, sent } = await open((channel) => ({ turn: { owners: { [channel]: ["olga"] } } }));
      await say(`The safe opens with ${secret}.`, "olga");
      await say(`/remember The safe opens with ${secret}.`, "olga");
      expect((await say("/recall safe", "olga")).reply).toContain(secret);
      await say("What opens the safe?", "eve");
      expect(sent()).not.toContain(secret);
      expect((await say("/recall safe", "eve")).reply).not.toContain(secret);
      expect((await say("/compact", "eve")).reply).toMatch(/Only the owner/);
      expect((await say("/new", "eve")).reply).toMatch(/new session/);
      expect((await say("/reset", "eve")).reply).toMatch(/archived/);
      const main = await varve.sessions.get(`agent:${agent}:main`);
      expect(JSON.stringify(await varve.transcripts.read(main))).not.toContain("What opens the safe");
      await say("Is anybody there?", "olga", group, { mentioned: true });
      expect(sent()).not.toContain(secret);
    });
  });
});
