/** A home that the real OpenClaw wrote is imported as a whole. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openVarve } from "../../src/index.ts";
import { type ChatServer, startChatServer } from "../support/chat-server.ts";
import { type OpenClaw, startOpenClaw } from "../support/openclaw.ts";

/** Absent only when `VARVE_TEST_SKIP=openclaw` asked for it, or the test is run without `npm test`. */
const program = process.env.VARVE_TEST_OPENCLAW;
const direct = "agent:main:telegram:direct:5054873275";
const topic = "agent:main:telegram:group:-100123:topic:42";

describe.skipIf(program === undefined)("a home of the real OpenClaw", () => {
  const home = mkdtempSync(join(tmpdir(), "varve-openclaw-import-"));
  let server: ChatServer;
  let openclaw: OpenClaw;

  beforeAll(async () => {
    server = await startChatServer((_body, count) => ({ text: `Reply ${count}.` }));
    openclaw = await startOpenClaw(program as string, server.url);
    await openclaw.send("main", "agent:main:main", "My flight is on Friday at 7.");
    await openclaw.call("sessions.reset", { key: "agent:main:main", reason: "new" });
    await openclaw.send("main", "agent:main:main", "After the reset.");
    await openclaw.send("main", direct, `A long question: ${"when is the harvest? ".repeat(100)}`);
    await openclaw.call("sessions.patch", { key: direct, sendPolicy: "deny", verboseLevel: "on", label: "Family" });
    await openclaw.send("main", topic, "In the topic.");
    await openclaw.send("main", "agent:main:cron:nightly", "The nightly job.");
    await openclaw.send("main", "agent:main:slack:channel:c1", "This one is deleted.");
    await openclaw.call("sessions.delete", { key: "agent:main:slack:channel:c1" });
    await openclaw.send("work", "agent:work:main", "The second agent.");
    mkdirSync(join(openclaw.workspace, "memory"), { recursive: true });
    writeFileSync(join(openclaw.workspace, "MEMORY.md"), "The gondola is called Ferdinand.\n");
  });
  afterAll(async () => {
    await openclaw?.stop();
    openclaw?.remove();
    await server?.close();
    rmSync(home, { recursive: true, force: true });
  });

  test("everything arrives: counts, keys, policies, archives, notes, and the next message", async () => {
    // The gateway still runs: its database is read while it is open.
    const varve = await openVarve({
      home,
      config: { search: { embedder: "none" }, turn: { runner: "offline", debounceMs: 0 } },
    });
    try {
      const plan = await varve.import([openclaw.home], { dryRun: true });
      expect(plan.imported).toBe(14);
      const report = await varve.import([openclaw.home]);
      expect(report).toMatchObject({ files: 6, sessions: 7, imported: 14, duplicates: 0, quarantined: 0 });
      expect(report.notes.map(({ relativePath }) => relativePath)).toEqual(["MEMORY.md"]);
      expect(await varve.sessions.get(direct)).toMatchObject({
        sendPolicy: "deny",
        verboseLevel: "on",
        displayName: "Family",
      });
      expect((await varve.sessions.get("agent:main:cron:nightly")).key).toBe("cron:nightly");
      expect((await varve.sessions.get("agent:work:main")).agent).toBe("work");
      const main = await varve.sessions.get("agent:main:main");
      const view = await varve.context.assemble(main, { budgetTokens: 8_000 });
      expect(view.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
      expect(view.messages[0]?.content).toBe("After the reset.");
      const { results } = await varve.search.find("flight Friday");
      expect(JSON.stringify(results)).toContain("My flight is on Friday at 7.");
      const chat = { type: "group" as const, id: "-100123", thread: "42" };
      const next = await varve.turns.send({ id: "n1", channel: "telegram", from: { id: "7" }, chat, text: "Next." });
      expect(next.key).toBe(topic);
      const session = await varve.sessions.get(topic);
      expect(session.messageCount).toBeGreaterThan(2);
      expect(await varve.sessions.history(session)).toHaveLength(1);
      await openclaw.send("main", topic, "One more in the topic.");
      expect(await varve.import([openclaw.home])).toMatchObject({ imported: 2, quarantined: 0 });
      expect((await varve.doctor()).findings.flatMap((finding) => finding.faults)).toEqual([]);
    } finally {
      await varve.close();
    }
  });

  test("the command shows its plan first", () => {
    const folder = join(home, "cli");
    const args = ["bin/varve.js", "import", openclaw.home, "--dry-run", "--home", folder];
    const output = execFileSync(process.execPath, args, { encoding: "utf8" });
    expect(output).toContain("agent:main:slack:channel:c1");
    expect(output).toContain("deleted");
    expect(output).toContain("notes of main: MEMORY.md");
  });
});
