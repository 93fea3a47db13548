/** Varve is installed in a real OpenClaw that has a history, and used for memory only. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openVarve } from "../../src/index.ts";
import { type ChatServer, startChatServer } from "../support/chat-server.ts";
import { type OpenClaw, startOpenClaw } from "../support/openclaw.ts";
import { compareRecords } from "../support/openclaw-records.ts";
import { answerFromPrompt, askFact, stateFact } from "../support/reading-model.ts";

/** Absent only when `VARVE_TEST_SKIP=openclaw` asked for it, or the test is run without `npm test`. */
const program = process.env.VARVE_TEST_OPENCLAW;
const varveProgram = fileURLToPath(new URL("../../bin/varve.js", import.meta.url));
const run = promisify(execFile);
const key = "agent:main:old";

describe.skipIf(program === undefined)("Varve in an OpenClaw that was used before", () => {
  let model: ChatServer;
  let openclaw: OpenClaw;
  let varveHome: string;

  beforeAll(async () => {
    model = await startChatServer(answerFromPrompt);
    openclaw = await startOpenClaw(program as string, model.url);
    varveHome = join(openclaw.home, "varve");
    await openclaw.send("main", key, stateFact("harbour", "K-17"));
    await openclaw.send("main", key, "Run: seq 1 20");
    await openclaw.stop();
  });
  afterAll(async () => {
    await openclaw?.stop();
    openclaw?.remove();
    await model?.close();
  });

  const compare = async () => {
    const varve = await openVarve({ home: varveHome, background: false });
    try {
      return await compareRecords(varve, join(openclaw.home, "agents/main/agent/openclaw-agent.sqlite"));
    } finally {
      await varve.close();
    }
  };
  const whole = { missing: [], doubled: [], changed: [], disordered: [] };

  test("setup imports the history, and the first turn continues it", async () => {
    const args = [varveProgram, "setup", "openclaw", "--yes", "--json", "--home", varveHome];
    const { stdout } = await run(process.execPath, args, { env: openclaw.env });
    expect(JSON.parse(stdout)).toMatchObject({ target: "openclaw", followed: { imported: 6 } });
    writeFileSync(join(varveHome, "config.yaml"), "search:\n  embedder: none\n");
    await openclaw.start();
    expect(await openclaw.send("main", key, "Go on.")).toContain("Go on.");
    const prompt = JSON.stringify(model.requests.at(-1)?.messages);
    expect(prompt).toContain("The code of the harbour is K-17.");
    await openclaw.stop();
    expect(openclaw.output).not.toContain("degraded");
    expect(await compare()).toMatchObject({ ...whole, sessions: 1, messages: 8 });
  });

  test("with another context engine, turns are stored and other conversations are recalled", async () => {
    const file = join(openclaw.home, "openclaw.json");
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace('"contextEngine": "varve"', '"contextEngine": "legacy"'));
    await openclaw.start();
    const before = model.requests.length;
    expect(await openclaw.send("main", "agent:main:other", askFact("harbour"))).toBe("The code is K-17.");
    expect(model.requests.length - before).toBe(1);
    await openclaw.send("main", "agent:main:other", "Thank you.");
    await openclaw.stop();
    expect(await compare()).toMatchObject({ ...whole, sessions: 2 });
  });

  test("a heartbeat is stored like every turn", async () => {
    await openclaw.start();
    const before = model.requests.length;
    await openclaw.call("wake", { mode: "now", text: "Look at the mill." });
    // Nobody waits for the turn of a heartbeat: the next turn of its session begins when it has ended.
    while (model.requests.length === before) await new Promise((resolve) => setTimeout(resolve, 100));
    await openclaw.send("main", "agent:main:main", "Is all well?");
    await openclaw.stop();
    expect(await compare()).toMatchObject({ ...whole, sessions: 3 });
  });

  test("varve doctor says that OpenClaw put the engine in quarantine, and why", async () => {
    const [file, settings] = [join(openclaw.home, "openclaw.json"), join(varveHome, "config.yaml")];
    writeFileSync(file, readFileSync(file, "utf8").replace('"contextEngine": "legacy"', '"contextEngine": "varve"'));
    const text = readFileSync(settings, "utf8");
    writeFileSync(settings, `database: ${join(file, "varve.db")}\n${text}`);
    await openclaw.start();
    await openclaw.call("sessions.compact", { key });
    writeFileSync(settings, text);
    const args = [varveProgram, "doctor", "--home", varveHome];
    const doctor = await run(process.execPath, args, { env: openclaw.env }).catch((error: { stdout: string }) => error);
    expect(doctor.stdout).toMatch(/Quarantined: factory failed \(.*varve\.db/);
    await openclaw.stop();
  });
});
