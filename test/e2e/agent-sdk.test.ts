/** The session store, recall and tools in the real Agent SDK, which starts the real Claude Code. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openVarve, type Varve } from "../../src/index.ts";
import { createSessionStore, type StoreEntry, varveAgentOptions } from "../../src/plugins/agent-sdk/index.ts";
import { databaseKinds, type ScratchDatabase, scratchDatabase } from "../support/databases.ts";
import { type MessagesServer, startMessagesServer } from "../support/messages-server.ts";

/** Absent only when `VARVE_TEST_SKIP` asked for it, or the test is run without `npm test`. */
const [sdk, claude] = [process.env.VARVE_TEST_AGENT_SDK, process.env.VARVE_TEST_CLAUDE];
const testMs = 300_000;

interface SdkMessage {
  type: string;
  subtype?: string;
  session_id?: string;
  result?: string;
  mcp_servers?: { name: string; status: string }[];
}
interface Sdk {
  query(request: { prompt: string; options: object }): AsyncIterable<SdkMessage>;
}

describe.skipIf(sdk === undefined || claude === undefined).each(databaseKinds)("the Agent SDK on %s", (kind) => {
  const folder = mkdtempSync(join(tmpdir(), "varve-agent-sdk-"));
  const work = join(folder, "work");
  let [server, scratch]: [MessagesServer | undefined, ScratchDatabase | undefined] = [undefined, undefined];
  const opened: Varve[] = [];

  beforeAll(async () => {
    mkdirSync(work, { recursive: true });
    scratch = await scratchDatabase(kind);
    server = await startMessagesServer((body) => {
      const last = JSON.stringify(body.messages.at(-1));
      if (last.includes("use a helper") && !last.includes("tool_result")) {
        return { tool: "Task", input: { description: "look", prompt: "Say hello.", subagent_type: "general-purpose" } };
      }
      return JSON.stringify(body.messages).includes("first question") ? "I know the first question." : "Hello.";
    });
  });
  afterAll(async () => {
    for (const varve of opened) await varve.close();
    await server?.close();
    await scratch?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A machine: its own homes of Varve and of Claude Code, and the shared database. */
  const openMachine = async (name: string) => {
    const varve = await openVarve({ home: join(folder, name, "varve"), database: scratch?.database });
    opened.push(varve);
    const config = join(folder, name, "claude");
    const { query } = (await import(pathToFileURL(join(sdk ?? "", "sdk.mjs")).href)) as Sdk;
    const errors: unknown[] = [];
    const ask = async (prompt: string, more: object = {}): Promise<SdkMessage[]> => {
      const env = {
        ...process.env,
        ...{
          HOME: join(folder, name),
          CLAUDE_CONFIG_DIR: config,
          ANTHROPIC_BASE_URL: server?.url,
          ANTHROPIC_API_KEY: "local",
        },
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      };
      const own = varveAgentOptions({ varve, owner: true, onError: (error) => errors.push(error) });
      const options = {
        ...own,
        env,
        cwd: work,
        model: "claude-sonnet-4-5",
        maxTurns: 5,
        pathToClaudeCodeExecutable: claude,
        // The Claude Code of the tests is older than the one that comes with the SDK.
        mcpServersDelivery: "argv",
        ...more,
      };
      const messages: SdkMessage[] = [];
      for await (const message of query({ prompt, options })) messages.push(message);
      return messages;
    };
    return { varve, ask, config, errors };
  };
  const findResult = (messages: SdkMessage[]) => messages.find(({ type }) => type === "result");

  test(
    "a session is stored line by line, and goes on in another home with the same database",
    async () => {
      const first = await openMachine("first");
      await first.varve.memory.add({ text: "The code word of the harbour project is PELICAN-77." });
      const asked = await first.ask("This is the first question: what is the code word of the harbour project?");
      expect(asked.find(({ subtype }) => subtype === "init")?.mcp_servers).toContainEqual(
        expect.objectContaining({ name: "varve", status: "connected" }),
      );
      expect(JSON.stringify(server?.requests.at(-1)?.messages)).toContain("PELICAN-77");
      const id = findResult(asked)?.session_id ?? "";
      await first.ask("Now use a helper.", { resume: id });

      const store = createSessionStore({ varve: first.varve, owner: true });
      const [projectKey = ""] = readdirSync(join(first.config, "projects"));
      const lines = readFileSync(join(first.config, "projects", projectKey, `${id}.jsonl`), "utf8")
        .trim()
        .split("\n");
      const loaded = await store.load({ projectKey, sessionId: id });
      const written = lines.map((line) => JSON.parse(line) as StoreEntry);
      const said = (entries: StoreEntry[]) => entries.filter(({ type }) => type === "user" || type === "assistant");
      // A resumed session has a file of its own, so the first one ends with the first question.
      const before = said(written);
      expect(before.length).toBeGreaterThan(1);
      expect(said(loaded ?? []).slice(0, before.length)).toEqual(before);
      expect(JSON.stringify(loaded)).toContain("Now use a helper.");
      expect((await store.listSessions(projectKey)).map(({ sessionId }) => sessionId)).toEqual([id]);
      for (const subpath of await store.listSubkeys({ projectKey, sessionId: id })) {
        expect((await store.load({ projectKey, sessionId: id, subpath }))?.length).toBeGreaterThan(0);
      }

      const second = await openMachine("second");
      const resumed = await second.ask("And the second question?", { resume: id });
      expect(findResult(resumed)?.result).toBe("I know the first question.");
      expect([...first.errors, ...second.errors]).toEqual([]);
      // The words are searched like all others.
      const { results } = await second.varve.search.find("first question harbour", { limit: 5 });
      expect(results.some(({ snippet }) => snippet.includes("first question"))).toBe(true);
    },
    testMs,
  );

  test(
    "entries come back deep-equal, a repeated uuid is stored once, and projects do not see each other's sessions",
    async () => {
      const { varve } = await openMachine("third");
      const store = createSessionStore({ varve, owner: true });
      const key = { projectKey: "tenant-a", sessionId: "11111111-2222-3333-4444-555555555555" };
      const odd: StoreEntry[] = [
        {
          type: "user",
          uuid: "u1",
          timestamp: "2026-11-01T10:00:00.000Z",
          message: { role: "user", content: "Hi" },
          cwd: "/x",
        },
        {
          type: "assistant",
          uuid: "u2",
          parentUuid: "u1",
          message: { role: "assistant", content: [{ type: "text", text: "Hello", odd: null }] },
        },
        { type: "user", uuid: "u3", message: "not an object", extra: { deep: [1, { a: "\u0000\ud83d\ude00" }] } },
        { type: "custom-title", customTitle: "No uuid" },
        { type: "custom-title", customTitle: "No uuid" },
        { type: "user", uuid: "u4", isCompactSummary: true, message: { role: "user", content: "Summary" } },
      ];
      await Promise.all([store.append(key, odd.slice(0, 3)), store.append(key, odd.slice(3))]);
      await store.append(key, odd.slice(0, 3));
      expect(await store.load(key)).toEqual(odd);
      await store.append({ ...key, subpath: "subagents/agent-x" }, odd.slice(0, 1));
      expect(await store.listSubkeys(key)).toEqual(["subagents/agent-x"]);
      expect(await store.load({ ...key, subpath: "subagents/agent-x" })).toEqual(odd.slice(0, 1));
      const foreign = { ...key, projectKey: "tenant-b" };
      expect(await store.load(foreign)).toBeNull();
      await store.append(foreign, odd.slice(0, 1));
      expect([await store.load(foreign), (await store.load(key))?.length]).toEqual([odd.slice(0, 1), odd.length]);
      expect((await store.listSessions("tenant-b")).length).toBe(1);
      await store.delete(key);
      expect([await store.load(key), await store.load({ ...key, subpath: "subagents/agent-x" })]).toEqual([null, null]);
      expect(await store.load(foreign)).toHaveLength(1);
    },
    testMs,
  );
});
