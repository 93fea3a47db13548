/** The extension in the real pi, against a model server with a small window. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Entry, openVarve } from "../../src/index.ts";
import { type ChatBody, type ChatServer, startChatServer } from "../support/chat-server.ts";

/** Absent only when `VARVE_TEST_SKIP=pi` asked for it, or the test is run without `npm test`. */
const pi = process.env.VARVE_TEST_PI;
const program = join(import.meta.dirname, "..", "..", "bin", "varve.js");
const windowTokens = 32_000;
const turnMs = 120_000;

describe.skipIf(pi === undefined)("the real pi", () => {
  const folder = mkdtempSync(join(tmpdir(), "varve-pi-"));
  const [agent, home, work] = [join(folder, "agent"), join(folder, "varve"), join(folder, "work")];
  const settings = JSON.stringify({ compaction: { enabled: true, reserveTokens: 4_000, keepRecentTokens: 6_000 } });
  let server: ChatServer;

  /** Knows only what it is sent. */
  const answer = (body: ChatBody, count: number) => {
    // What was recalled follows the prompt.
    const text = JSON.stringify(body.messages.slice(-2).map(({ content }) => content));
    if (!text.includes("code word?")) return { text: `Reply ${count}. ${"Some words about the work. ".repeat(20)}` };
    return { text: `It is ${/PELICAN-\d+/.exec(JSON.stringify(body.messages))?.[0] ?? "unknown"}.` };
  };
  const run = (file: string, args: string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      const env = {
        ...{
          PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
          HOME: folder,
          VARVE_HOME: home,
          PI_OFFLINE: "1",
        },
        PI_CODING_AGENT_DIR: agent,
      };
      const child = execFile(file, args, { cwd: work, env }, (error, stdout, stderr) =>
        error ? reject(new Error(`${error.message}\n${stderr}`)) : resolve(stdout + stderr),
      );
      child.stdin?.end();
    });
  const ask = (prompt: string, more: string[] = ["-c"]) =>
    run(pi ?? "", ["-p", ...more, "--model", "local/local-model", prompt]);
  const readStored = async (): Promise<Entry[]> => {
    const varve = await openVarve({ home });
    try {
      const { sessions } = await varve.sessions.list({ limit: 10 });
      expect(sessions).toHaveLength(1);
      const [session] = sessions;
      return session ? (await varve.transcripts.read(session, { limit: 1_000 })).entries : [];
    } finally {
      await varve.close();
    }
  };

  beforeAll(async () => {
    server = await startChatServer(answer, { windowTokens });
    for (const one of [agent, work]) mkdirSync(one, { recursive: true });
    const model = { id: "local-model", contextWindow: windowTokens, maxTokens: 2_000 };
    const local = { baseUrl: server.url, api: "openai-completions", apiKey: "local", models: [model] };
    writeFileSync(join(agent, "models.json"), JSON.stringify({ providers: { local } }));
    writeFileSync(join(agent, "settings.json"), settings);
  });
  afterAll(async () => {
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test(
    "stores every message once, compacts from the stored summaries, and knows what was said first",
    async () => {
      expect(await run(process.execPath, [program, "setup", "pi", "--yes"])).toContain("Varve is set up in pi.");
      await ask("The code word is PELICAN-77. Remember it.", []);
      const asked: string[] = [];
      for (let turn = 2; turn <= 10; turn += 1) {
        asked.push(
          `Message ${turn}: ${`please consider line ${turn} of the long plan, it has many words. `.repeat(250)}`,
        );
        expect(await ask(asked.at(-1) ?? "")).toContain("Reply");
      }
      // A paste that pi cannot shorten in time: half of the window with what is there already.
      expect(await ask(`Here is a log:\n${"2026-11-17 ERROR the pump of tank 4 stopped\n".repeat(2_000)}`)).toContain(
        "Reply",
      );
      expect(await ask("What is the code word?")).toContain("PELICAN-77");

      const entries = await readStored();
      const said = entries.flatMap((entry) =>
        entry.type === "message" && entry.message.role === "user" ? [JSON.stringify(entry.message.content)] : [],
      );
      for (const text of asked) expect(said.filter((one) => one.includes(text.trim()))).toHaveLength(1);
      expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
      // pi's own file has the compaction, written by the extension: no request asked a model for a summary.
      const file = readdirSync(agent, { recursive: true, encoding: "utf8" }).find((name) => name.endsWith(".jsonl"));
      const lines = readFileSync(join(agent, file ?? ""), "utf8");
      expect(lines).toMatch(/"type":"compaction".*"by":"varve"/);
      expect(server.requests).toHaveLength(12);
      // The tools are offered to the model.
      const offered = server.requests.at(-1)?.tools?.map((tool) => tool.function.name);
      expect(offered).toEqual(expect.arrayContaining(["lcm_grep", "memory_recall", "memory_store"]));
    },
    20 * turnMs,
  );

  test(
    "is removed without a trace in the person's files",
    async () => {
      await run(process.execPath, [program, "setup", "pi", "--remove", "--yes"]);
      expect(readFileSync(join(agent, "settings.json"), "utf8")).toBe(settings);
      expect(readdirSync(agent)).not.toContain("extensions");
      const before = await readStored();
      expect(await ask("Are you still there?")).toContain("Reply");
      expect(await readStored()).toHaveLength(before.length);
    },
    4 * turnMs,
  );
});
