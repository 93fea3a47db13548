/** A conversation of Claude Code that arrives by the proxy, by hooks and by an import is one conversation. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { identifyBlocks } from "../../src/domain/index.ts";
import { type Gateway, type GatewayLogRecord, startGateway } from "../../src/http/index.ts";
import type { Session, Varve } from "../../src/index.ts";
import { ClaudeCodeClient } from "../support/claude-code-client.ts";
import { onEveryEngine } from "../support/engines.ts";
import type { Json, Said } from "../support/model-server/dialect.ts";
import { type ModelServer, startModelServer } from "../support/model-server/server.ts";

const never = 600_000;
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

let numbers = 0;
function nextNumber(): number {
  numbers += 1;
  return numbers;
}

/** Thinks, says something, and calls two tools when the prompt asks for it. */
function say(body: Json): Said {
  const last = JSON.stringify((body.messages as Json[]).at(-1));
  const prompt = /(?:Question|Task) [\w-]+/.exec(last)?.[0];
  if (last.includes("Summarise this")) {
    return { text: `<summary>\nThe questions were answered, as number ${nextNumber()} of many says.\n</summary>` };
  }
  if (prompt === undefined) return { text: `Done ${nextNumber()}.` };
  if (!prompt.startsWith("Task")) return { thinking: "hm", text: `Answer to ${prompt}.` };
  const ids = [`toolu_${nextNumber()}`, `toolu_${nextNumber()}`];
  return {
    thinking: "two steps",
    text: `Working on ${prompt}.`,
    calls: ids.map((id) => ({ id, name: "shell", input: { id } })),
  };
}

interface Stage {
  varve: Varve;
  server: ModelServer;
  proxy: string;
  log: GatewayLogRecord[];
  restart(): Promise<void>;
  client(more?: { sessionId?: string; subagent?: string; machine?: string }): ClaudeCodeClient;
}

onEveryEngine("one conversation on several ways", (get) => {
  const open = async (windowTokens?: number): Promise<Stage> => {
    const server = await startModelServer({ limitTokens: windowTokens ?? 1_000_000, say });
    ends.push(server.close);
    const agent = `a${randomUUID().slice(0, 8)}`;
    const window = windowTokens === undefined ? {} : { windowTokens };
    const limits = { engineTimeoutMs: never, requestsPerMinute: 1_000_000 };
    const proxy = { anthropic: { baseUrl: server.url }, ...limits, ...window };
    const config = { agent, proxy, gateway: { requestsPerMinute: 1_000_000 } };
    const log: GatewayLogRecord[] = [];
    let gateway: Gateway;
    const start = async (stage: Pick<Stage, "varve"> | undefined): Promise<Varve> => {
      const varve = stage?.varve ?? (await get().another({ config }));
      const deadlines = { proxy: { ratioMs: never, recordMs: never } };
      gateway = await startGateway(varve, { port: 0, log: (record) => log.push(record), deadlines });
      return varve;
    };
    const stage: Stage = {
      varve: await start(undefined),
      server,
      log,
      get proxy() {
        return `${gateway.url}/proxy/anthropic`;
      },
      restart: async () => {
        await gateway.close();
        await start(stage);
      },
      client: ({ sessionId = randomUUID(), subagent, machine = "laptop" } = {}) =>
        new ClaudeCodeClient({ folder: join(get().home, agent, machine), sessionId, baseUrl: stage.proxy, subagent }),
    };
    ends.push(() => gateway.close());
    return stage;
  };

  const importFile = ({ varve }: Stage, { path }: ClaudeCodeClient) => varve.import([path], { source: "claude-code" });
  const list = async ({ varve }: Stage) => (await varve.sessions.list({ all: true })).sessions;

  /** Expects one session with every block of the client's history once, in its order. */
  const expectOnce = async (stage: Stage, client: ClaudeCodeClient): Promise<void> => {
    const { varve } = stage;
    const sessions = await list(stage);
    expect(sessions.map(({ key }) => key)).toHaveLength(1);
    const [session] = sessions;
    if (!session) return;
    const blocks: string[] = [];
    for await (const page of varve.transcripts.walk(session)) {
      for (const entry of page) if (entry.type === "message") blocks.push(...identifyBlocks(entry.message));
    }
    const said = client.messages.flatMap(({ role, content }) =>
      typeof content === "string"
        ? [`${role} ${content}`]
        : content.flatMap((block) => {
            if (block.type === "text") return block.text.startsWith("<") ? [] : [`${role} ${block.text}`];
            if (block.type === "tool_use") return [`call ${block.id}`];
            return block.type === "tool_result" ? [`result ${block.tool_use_id}`] : [];
          }),
    );
    expect(blocks).toEqual(said);
    expect(await varve.transcripts.branches(session)).toHaveLength(1);
    let exported = "";
    for await (const text of varve.transcripts.export(session, "jsonl")) exported += text;
    const lines = exported.split("\n").filter((line) => line.includes('"type":"message"'));
    for (const text of said.filter((one) => one.startsWith("user ")).map((one) => one.slice(5))) {
      const count = said.filter((one) => one === `user ${text}`).length;
      expect(
        lines.filter((line) => line.includes(JSON.stringify(text))),
        text,
      ).toHaveLength(count);
    }
    const { results } = await varve.search.find("Question one", { kinds: ["message"], limit: 50 });
    expect(results.filter(({ snippet }) => /Question one/.test(snippet) && !/Answer/.test(snippet))).toHaveLength(1);
    expect(stage.log.filter(({ event }) => event === "error")).toEqual([]);
  };

  test("the proxy first, then an import", async () => {
    const stage = await open();
    const client = stage.client();
    await client.prompt("Question one");
    await client.prompt("Task two");
    await client.prompt("yes");
    await client.prompt("yes");
    client.note();
    await importFile(stage, client);
    await expectOnce(stage, client);
    expect((await stage.varve.sessions.get(client.sessionId)).sessionId).toBe(client.sessionId);
    await client.prompt("Question five");
    await expectOnce(stage, client);
    await importFile(stage, client);
    await expectOnce(stage, client);
  });

  test("a watched file, whose first line is imported before the reply through the proxy", async () => {
    const stage = await open();
    const client = stage.client();
    const watch = () => stage.varve.import([client.path], { source: "claude-code", waitForReply: true });
    const imports: Promise<{ imported: number }>[] = [];
    stage.server.options = {
      ...stage.server.options,
      say: (body) => {
        imports.push(watch());
        return say(body);
      },
    };
    await client.prompt("Question one");
    expect((await imports[0])?.imported).toBe(0);
    stage.server.options = { ...stage.server.options, say };
    await watch();
    await client.prompt("Task two");
    await watch();
    await expectOnce(stage, client);
  });

  test("an import first, then the proxy", async () => {
    const stage = await open();
    const client = stage.client();
    client.baseUrl = stage.server.url;
    await client.prompt("Question one");
    await client.prompt("Task two");
    client.note();
    await importFile(stage, client);
    client.baseUrl = stage.proxy;
    await client.prompt("yes");
    await client.prompt("Task four");
    await expectOnce(stage, client);
    await importFile(stage, client);
    await expectOnce(stage, client);
    await stage.restart();
    client.baseUrl = stage.proxy;
    await client.prompt("Question five");
    await expectOnce(stage, client);
  });

  test("both in turn, with requests that went past the proxy", async () => {
    const stage = await open();
    const client = stage.client();
    for (const text of ["Question one", "Task two", "yes", "Task four", "yes", "Question six"]) {
      client.baseUrl = text === "Task four" ? stage.server.url : stage.proxy;
      await client.prompt(text);
      client.note();
      await importFile(stage, client);
      await expectOnce(stage, client);
      if (text === "yes") await stage.restart();
    }
  });

  test("another provider key with the same session id reads nothing of it", async () => {
    const stage = await open();
    const client = stage.client();
    await client.prompt("Question one");
    await importFile(stage, client);
    const other = stage.client({ sessionId: client.sessionId, machine: "other" });
    other.apiKey = "sk-other";
    await other.prompt("Question one");
    expect(stage.log.filter(({ event }) => event === "error")).toEqual([]);
    const sessions = await list(stage);
    expect(sessions.map(({ messageCount }) => messageCount).sort()).toEqual([2, 2]);
    await importFile(stage, client);
    expect(await list(stage)).toHaveLength(2);
    await client.prompt("Question two, about the secret");
    await other.prompt("Question two");
    const own = (await list(stage)).find(({ sessionId }) => sessionId !== client.sessionId);
    const found = await stage.varve.context.grep({ session: own, pattern: "secret" });
    expect(found.matches).toEqual([]);
  });

  /** The texts of all branches of a session. */
  const exportAll = async ({ varve }: Stage, session: Session): Promise<string> => {
    let exported = "";
    for await (const text of varve.transcripts.export(session, "jsonl")) exported += text;
    return exported;
  };

  test.each([
    ["sk-ant-oat01-mine", "sk-ant-oat01-other"],
    ["sk-mine", "sk-other"],
    ["sk-mine", "sk-ant-oat01-other"],
    ["sk-ant-oat01-mine", "sk-other"],
  ])("%s is not joined by %s with the same session id and first message", async (mine, theirs) => {
    for (const order of ["before the import", "after the import"]) {
      const stage = await open();
      const client = stage.client();
      client.apiKey = mine;
      const other = stage.client({ sessionId: client.sessionId, machine: "other" });
      other.apiKey = theirs;
      if (order === "before the import") await other.prompt("begin");
      await client.prompt("begin");
      await importFile(stage, client);
      if (order === "after the import") await other.prompt("begin");
      await client.prompt("The password is heliotrope.");
      await importFile(stage, client);
      await other.prompt("What is it?");
      await stage.restart();
      client.baseUrl = stage.proxy;
      other.baseUrl = stage.proxy;
      await client.prompt("Is it stored?");
      await other.prompt("And now?");
      await importFile(stage, client);
      const sessions = await list(stage);
      expect(sessions, order).toHaveLength(2);
      const own = await stage.varve.sessions.get(client.sessionId);
      const foreign = sessions.find(({ key }) => key !== own.key);
      if (!foreign) return;
      expect(await exportAll(stage, own)).not.toMatch(/What is it|And now/);
      expect(await exportAll(stage, own)).toContain("Is it stored");
      expect(await exportAll(stage, foreign)).not.toContain("heliotrope");
      expect([own.messageCount, foreign.messageCount]).toEqual([6, 6]);
      expect(stage.log.filter(({ event }) => event === "error")).toEqual([]);
    }
  });

  test.each(["sk-other", "sk-ant-oat01-other"])("an imported session is not taken over by %s", async (theirs) => {
    const stage = await open(8_000);
    const client = stage.client();
    client.baseUrl = stage.server.url;
    await client.prompt("begin");
    await client.prompt("The password is heliotrope.");
    await importFile(stage, client);
    const other = stage.client({ sessionId: client.sessionId, machine: "other" });
    other.apiKey = theirs;
    await other.prompt("begin");
    await other.prompt(`What is it? ${"river stone cloud ".repeat(2_000)}`).catch(() => undefined);
    expect(JSON.stringify(stage.server.seen.slice(2).map(({ body }) => body))).not.toContain("heliotrope");
    client.baseUrl = stage.proxy;
    await client.prompt("Is it stored?");
    const own = await stage.varve.sessions.get(client.sessionId);
    expect(await exportAll(stage, own)).toContain("Is it stored");
    expect(await exportAll(stage, own)).not.toContain("What is it");
  });

  test("a person who signed in stays the same when the token is renewed", async () => {
    const stage = await open();
    const client = stage.client();
    client.apiKey = "sk-ant-oat01-first";
    await client.prompt("Question one");
    await importFile(stage, client);
    client.apiKey = "sk-ant-oat01-second";
    await client.prompt("Task two");
    await expectOnce(stage, client);
  });

  test("sub-agents, by the proxy first and by their files first", async () => {
    const stage = await open();
    const client = stage.client();
    const { sessionId } = client;
    const [early, late] = ["early", "late"].map((subagent) => stage.client({ sessionId, subagent }));
    if (!early || !late) return;
    await client.prompt("Question one");
    await early.prompt("Question of the early one");
    late.baseUrl = stage.server.url;
    await late.prompt("Question of the late one");
    for (const one of [client, early, late]) await importFile(stage, one);
    late.baseUrl = stage.proxy;
    for (const one of [client, early, late]) await one.prompt("Task two");
    for (const one of [client, early, late]) await importFile(stage, one);
    const { sessions } = await stage.varve.sessions.list();
    expect(sessions).toMatchObject([{ sessionId, subagents: 2 }]);
    const all = await list(stage);
    expect(all).toHaveLength(3);
    for (const session of all) {
      const blocks: string[] = [];
      for await (const page of stage.varve.transcripts.walk(session)) {
        for (const entry of page) if (entry.type === "message") blocks.push(...identifyBlocks(entry.message));
      }
      // Two prompts with two answers, two calls with their results, and what was said before them.
      expect(blocks).toHaveLength(9);
      expect(new Set(blocks).size).toBe(9);
    }
  });

  /** Counts the messages of all branches with a text. */
  const count = async (stage: Stage, texts: readonly string[]): Promise<number[]> => {
    const [session, ...others] = (await list(stage)).filter(({ messageCount }) => messageCount > 0);
    expect(others).toEqual([]);
    let exported = "";
    if (session) for await (const text of stage.varve.transcripts.export(session, "jsonl")) exported += text;
    const lines = exported.split("\n").filter((line) => line.includes('"type":"message"'));
    return texts.map((text) => lines.filter((line) => line.includes(JSON.stringify(text))).length);
  };

  test.each(["the proxy", "the file"])("a history that the client compacts, with %s first", async (first) => {
    const stage = await open();
    const client = stage.client();
    if (first === "the file") client.baseUrl = stage.server.url;
    const texts = ["Question one", "Task two", "Question three", "Task four", "Question five"];
    await client.prompt("Question one");
    await client.prompt("Task two");
    await importFile(stage, client);
    client.baseUrl = stage.proxy;
    await client.prompt("Question three");
    await client.compact();
    await client.prompt("Task four");
    await importFile(stage, client);
    await stage.restart();
    client.baseUrl = stage.proxy;
    await client.prompt("Question five");
    await importFile(stage, client);
    expect(await count(stage, texts)).toEqual(texts.map(() => 1));
    expect(stage.log.filter(({ event }) => event === "error")).toEqual([]);
  });

  test.each(["the proxy", "the file"])("a prompt that is taken back, with %s first", async (first) => {
    const stage = await open();
    const client = stage.client();
    if (first === "the file") client.baseUrl = stage.server.url;
    const texts = ["Question one", "Task two", "Question three", "Task four"];
    await client.prompt("Question one");
    await client.prompt("Task two");
    await importFile(stage, client);
    client.baseUrl = stage.proxy;
    client.rewind(2);
    await client.prompt("Question three");
    await importFile(stage, client);
    await client.prompt("Task four");
    await importFile(stage, client);
    expect(await count(stage, texts)).toEqual(texts.map(() => 1));
    const [session] = await list(stage);
    const found = session && (await stage.varve.transcripts.read(session, { limit: 100 })).entries;
    expect(JSON.stringify(found)).not.toContain("Task two");
    expect(JSON.stringify(found)).toContain("Task four");
  });

  test("an imported history is summarised when the request no longer fits", async () => {
    const stage = await open(8_000);
    const client = stage.client();
    client.baseUrl = stage.server.url;
    stage.server.options = { ...stage.server.options, limitTokens: 1_000_000 };
    for (let turn = 0; turn < 40; turn += 1) await client.prompt(`Question ${turn} ${"river stone cloud ".repeat(30)}`);
    await importFile(stage, client);
    stage.server.options = { ...stage.server.options, limitTokens: 8_000 };
    client.baseUrl = stage.proxy;
    for (let turn = 40; turn < 60; turn += 1)
      await client.prompt(`Question ${turn} ${"river stone cloud ".repeat(30)}`);
    const sent = stage.server.seen.filter(({ status }) => status === 200).at(-1);
    expect(JSON.stringify(sent?.body.messages)).toContain("<summary id=");
    // The first request is estimated before the provider's counts are known.
    const refusals = stage.server.seen.flatMap(({ status }, index) => (status === 200 ? [] : [index]));
    expect(refusals.filter((index) => index > 45)).toEqual([]);
    await importFile(stage, client);
    const [session, ...others] = await list(stage);
    expect(others).toEqual([]);
    expect(session?.messageCount).toBe(40 * 3 + 20 * 2);
    expect(stage.log.filter(({ event }) => event === "error")).toEqual([]);
  });
});
