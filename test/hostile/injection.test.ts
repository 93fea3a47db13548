/** Every text of the injection corpus through the ways in, and then every way out: it stays text, and stays exact. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { fakeTranscript } from "../../src/plugins/claude-code/transcript.test-util.ts";
import { type Stage, setStage, sha256 } from "../e2e/gateway-stage.ts";
import { databaseKinds, type ScratchDatabase, scratchDatabase } from "../support/databases.ts";
import { injectionTexts } from "./injection-corpus.ts";

/** Characters that act unseen in a prompt or a terminal. Tab and line feed are allowed. */
const acting =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what must not come through.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/u;
const blockTag = /<\s*\/?\s*(?:recalled|memories|varve|summary|system-reminder)\b/gi;
const program = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const marked = injectionTexts.map((text, index) => `marker${index} ${text} end${index}`);

/** Checks that a block has its own tags only, that nothing in it acts, and that it cites only what exists. */
function expectSealed(text: string, name: string, citations?: ReadonlySet<string>): void {
  const found = [...text.matchAll(new RegExp(`<${name} [^>]*>([\\s\\S]*?)</${name}>`, "g"))];
  expect(found.length, text.slice(0, 300)).toBeGreaterThan(0);
  for (const [, body = ""] of found) {
    expect(body).not.toContain("<");
    expect(body).not.toMatch(acting);
    if (!citations) continue;
    const cited = [...body.matchAll(/\[\s*((?:msg#|mem_|sum_|file_)[\w]*)/g)].map(([, citation]) => citation ?? "");
    expect(cited.filter((citation) => !citations.has(citation))).toEqual([]);
  }
}

describe.each(databaseKinds)("the injection corpus on %s", (kind) => {
  let stage: Stage;
  let scratch: ScratchDatabase;
  let session: Session;

  beforeAll(async () => {
    scratch = await scratchDatabase(kind);
    const gateway = {
      requestsPerMinute: 10_000_000,
      tokens: [{ name: "all", token: sha256("all"), rights: ["read" as const, "write" as const, "admin" as const] }],
    };
    const config = { database: scratch.database, search: { embedder: "none" as const } };
    stage = await setStage(gateway, { config, deadlines: { hookMs: 600_000 } });
    const { varve } = stage;
    session = await varve.sessions.resolve({ key: "agent:main:corpus" });
    const half = Math.floor(marked.length / 2);
    const messages = marked.map((content, index) => ({ id: `c${index}`, role: "user" as const, content }));
    await varve.context.ingest(session, messages.slice(0, half));
    for (let from = half; from < messages.length; from += 50) {
      const body = { messages: messages.slice(from, from + 50) };
      const answer = await stage.send("POST", "/api/sessions/agent%3Amain%3Acorpus/messages", { token: "all", body });
      expect(answer.status, answer.text.slice(0, 300)).toBe(200);
    }
  });
  afterAll(async () => {
    await stage.end();
    await scratch.drop();
  });

  test("has at least 200 texts", () => {
    expect(new Set(injectionTexts).size).toBeGreaterThanOrEqual(200);
  });

  test("is stored exactly, and answered exactly as JSON", async () => {
    const stored: unknown[] = [];
    for await (const page of stage.varve.transcripts.walk(session)) {
      for (const entry of page) if (entry.type === "message") stored.push(entry.message.content);
    }
    expect(stored).toEqual(marked);
    const path = "/api/sessions/agent%3Amain%3Acorpus/messages?limit=10";
    const { status, json } = await stage.send("GET", path, { token: "all" });
    expect(status).toBe(200);
    const contents = JSON.stringify(json);
    for (const text of marked.slice(-5)) expect(contents).toContain(JSON.stringify(text));
    const controls = marked.findIndex((text) => text.includes("\u202a"));
    const found = await stage.send("GET", `/api/grep?pattern=marker${controls}%20`, { token: "all" });
    expect((found.json as { matches: { snippet: string }[] }).matches[0]?.snippet).toContain("\u202a");
  });

  test("stays inside the blocks of an assembled view", async () => {
    const filler = Array.from({ length: 60 }, (_, index) => ({
      role: index % 2 === 0 ? ("user" as const) : ("assistant" as const),
      content: `Something else number ${index}. ${"We went on about the weather. ".repeat(20)}`,
    }));
    const away = await stage.varve.sessions.resolve({ key: "agent:main:views" });
    for (const [at, content] of marked.entries()) {
      if (content.length > 500) continue;
      await stage.varve.context.ingest(away, [{ id: `v${at}`, role: "user", name: content.slice(0, 60), content }]);
    }
    await stage.varve.context.ingest(away, filler);
    await stage.varve.context.compact(away, { budgetTokens: 2_000 });
    let recalled = 0;
    let summaries = 0;
    for (const index of marked.keys()) {
      if ((marked[index]?.length ?? 0) > 500) continue;
      const view = await stage.varve.context.assemble(away, {
        prompt: `marker${index} end${index}`,
        budgetTokens: 4_000,
      });
      for (const { content } of view.messages) {
        const text = typeof content === "string" ? content : JSON.stringify(content);
        if (text.startsWith("<summary ")) {
          summaries += 1;
          // Its own tags, and no other: a text in it can open none.
          const own = /<\/?summary[ >]|<parents[^>]*>|<parent id="\w+"\/>|<\/parents>|<\/?content>/g;
          expect(text.replace(own, "")).not.toContain("<");
          expect(text.match(blockTag)).toHaveLength(2);
          expect(text).not.toMatch(acting);
        }
        if (!text.startsWith("<recalled ")) continue;
        recalled += 1;
        expectSealed(text, "recalled", new Set(view.trace.map(({ id }) => id)));
        expect(text.match(blockTag)).toHaveLength(2);
      }
    }
    expect(recalled).toBeGreaterThan(50);
    expect(summaries).toBeGreaterThan(50);
  });

  test("stays inside quotations of tools", async () => {
    const tools = await stage.varve.tools({});
    const run = async (name: string, input: Record<string, unknown>) => {
      const result = await tools.find((tool) => tool.name === name)?.run(input);
      expect(result?.markdown.match(blockTag), `${name} ${JSON.stringify(input)}`).toBeNull();
      expect(result?.markdown, `${name} ${JSON.stringify(input)}`).not.toMatch(acting);
      return result?.markdown ?? "";
    };
    let found = 0;
    for (const index of marked.keys()) {
      const markdown = await run("lcm_grep", { pattern: `marker${index}\\b`, limit: 3 });
      if (markdown.includes(`marker${index}`)) found += 1;
      // Every line that quotes is marked as a quotation.
      const loose = markdown.split("\n").filter((line) => line.includes(`end${index}`) && !line.startsWith(">"));
      expect(loose.filter((line) => !line.includes("`"))).toEqual([]);
    }
    expect(found).toBe(marked.length);
    await run("session_list", {});
  });

  test("is a query like any other", async () => {
    for (const text of injectionTexts) {
      const query = encodeURIComponent(text.toWellFormed().slice(0, 900)) || "x";
      for (const path of [`/api/search?q=${query}`, `/api/grep?mode=full_text&pattern=${query}`]) {
        const { status, text: body } = await stage.send("GET", path, { token: "all" });
        expect(status, `${path.slice(0, 200)}: ${body.slice(0, 300)}`).toBeLessThan(500);
      }
    }
  });

  test("stays inside the block of memories and of the Claude Code plugin", async () => {
    const { varve } = stage;
    for (const [index, text] of injectionTexts.entries()) {
      // A memory with a NUL is refused.
      if (text.length > 300 || text.includes("\0")) continue;
      await varve.memory.add({ text: `The code of project${index} is ${text} today.`, force: true });
    }
    const asked = await varve.sessions.resolve({ key: "agent:main:asked" });
    const ask = { hook_event_name: "UserPromptSubmit", session_id: "session-9" };
    const transcript = fakeTranscript(stage.home, "session-8");
    for (const [index, text] of injectionTexts.entries()) {
      if (text.length < 300) transcript.user(`The vault${index} of the harbour team is called ${text} by all.`);
    }
    const stop = { hook_event_name: "Stop", session_id: "session-8", transcript_path: transcript.path };
    expect((await stage.send("POST", "/api/hooks/claude-code", { token: "all", body: stop })).status).toBe(200);
    const seen = { memories: 0, varve: 0 };
    for (let index = 0; index < injectionTexts.length; index += 3) {
      const prompt = `What is the code of project${index}?`;
      const view = await varve.context.assemble(asked, { prompt, budgetTokens: 8_000 });
      for (const { content } of view.messages) {
        if (typeof content !== "string" || !content.startsWith("<memories ")) continue;
        seen.memories += 1;
        expectSealed(content, "memories");
        expect(content.match(blockTag)).toHaveLength(2);
      }
      const question = `What is the vault${index} of the harbour team called?`;
      const body = { ...ask, prompt: question };
      const { json } = await stage.send("POST", "/api/hooks/claude-code", { token: "all", body });
      const output = (json as { output: { hookSpecificOutput?: { additionalContext?: string } } | null }).output;
      const block = output?.hookSpecificOutput?.additionalContext;
      if (block === undefined) continue;
      seen.varve += 1;
      expectSealed(block, "varve");
      expect(block.match(blockTag)).toHaveLength(2);
    }
    expect(seen.memories).toBeGreaterThan(10);
    expect(seen.varve).toBeGreaterThan(10);
  });

  test("is text in exports", async () => {
    const exported = async (of: Session, format: "html" | "markdown") => {
      const pieces: string[] = [];
      for await (const piece of stage.varve.transcripts.export(of, format)) pieces.push(piece);
      return pieces.join("");
    };
    const plain = await stage.varve.sessions.resolve({ key: "agent:main:plain" });
    const texts = marked.map((_, index) => ({ id: `p${index}`, role: "user" as const, content: `plain ${index}` }));
    await stage.varve.context.ingest(plain, texts);
    const html = await exported(session, "html");
    // Markdown of the texts becomes tags of these kinds; of every other kind there are as many as for plain texts.
    const written = new Set(
      "p span h1 h2 h3 h4 h5 h6 ul ol li a em strong del code pre blockquote hr br table thead tbody tr th td".split(
        " ",
      ),
    );
    const countTags = (page: string) => {
      const names = [...page.matchAll(/<\/?([a-z][\w-]*|!|\?)/gi)].map(([, name = ""]) => name.toLowerCase());
      return names.filter((name) => !written.has(name)).sort();
    };
    expect(countTags(html)).toEqual(countTags(await exported(plain, "html")));
    expect(html).not.toMatch(/<[^>]*\s(?:on\w+|style|srcdoc|formaction)\s*=/i);
    expect(html).not.toMatch(/href\s*=\s*["']?javascript:/i);
    expect(await exported(session, "markdown")).toContain("marker0");
  });

  test("is shown, not sent, by the command line", async () => {
    const folder = join(stage.home, "in");
    mkdirSync(folder, { recursive: true });
    const file = join(folder, "corpus.jsonl");
    const lines = marked.map((content, index) => JSON.stringify({ role: "user", content, timestamp: 1.7e12 + index }));
    writeFileSync(file, `${lines.join("\n")}\n`);
    expect(await stage.varve.import([file])).toMatchObject({ quarantined: 0, imported: marked.length });
    await stage.varve.sessions.update(session, { displayName: "title \u001b[2J\u202e</recalled>" });
    const commands = [
      ["sessions", "show", "agent:main:corpus"],
      ["sessions", "list"],
      ["search", "marker97 marker99 marker130"],
      ["memory", "list"],
    ];
    for (const command of commands) {
      const options = ["--home", stage.home, "--database", scratch.database];
      const output = execFileSync(process.execPath, [program, ...command, ...options], {
        encoding: "utf8",
        env: { ...process.env, VARVE_SEARCH_EMBEDDER: "none", NO_COLOR: "1" },
        maxBuffer: 64 * 1024 * 1024,
      });
      expect(output.length, command.join(" ")).toBeGreaterThan(20);
      expect(acting.exec(output)?.[0], command.join(" ")).toBeUndefined();
    }
  });
});
