/** What a person does on a page has happened in the store, and can be undone where the engine can. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createStory } from "../../src/cli/demo-story.ts";
import { type ConsoleStage, chromiumProgram, setConsoleStage, storyKey, tellStory } from "./console-stage.ts";

const sessionPath = `/sessions/${encodeURIComponent(storyKey)}`;

describe.runIf(chromiumProgram)("actions of the console", () => {
  let stage: ConsoleStage;
  beforeAll(async () => {
    stage = await setConsoleStage({ import: { folders: ["/"] } });
    await tellStory(stage);
  });
  afterAll(() => stage.end());

  const menu = async (page: Page, action: string): Promise<void> => {
    await page
      .getByRole("button", { name: /^Actions for/ })
      .first()
      .click();
    await page.getByRole("menuitem", { name: action, exact: true }).click();
  };
  const session = () => stage.varve.sessions.get(storyKey);

  it("imports files that are chosen, with what was set aside and why", async () => {
    const file = join(stage.home, "cabin.jsonl");
    const lines = createStory()
      .slice(0, 20)
      .map((message) => JSON.stringify({ ...message, id: `cabin ${message.id}` }));
    writeFileSync(file, `${lines.join("\n")}\nthis is no JSON\n`);
    const page = await stage.open("/");
    await page.locator('input[type="file"]').setInputFiles(file);
    const row = page.locator(".import-row").first();
    await expect.poll(() => row.innerText()).toContain("1 record");
    expect(await row.innerText()).toContain("20 messages");
    const imported = await stage.varve.sessions.get("agent:main:jsonl:direct:cabin");
    expect(imported.messageCount).toBe(20);
    // An upload leaves no copy in the home folder.
    expect((await stage.varve.import([file])).duplicates).toBe(20);
  });

  it("imports a folder of this machine, and says why another cannot be imported", async () => {
    const file = join(stage.home, "garden.jsonl");
    writeFileSync(
      file,
      createStory()
        .slice(0, 5)
        .map((one) => `${JSON.stringify({ ...one, id: `g ${one.id}` })}\n`)
        .join(""),
    );
    const page = await stage.open("/");
    const folder = page.getByLabel("A folder on this machine");
    await folder.fill(file);
    await folder.press("Enter");
    await expect.poll(() => page.locator(".import-row").first().innerText()).toContain("5 messages");
    await folder.fill(join(stage.home, "missing"));
    await folder.press("Enter");
    await page.getByRole("alert").getByText("There is no folder or file").waitFor();
  });

  it("corrects a memory, undoes it, forgets it and takes it back", async () => {
    const { memories } = await stage.varve.memory.list();
    const sail = memories.find(({ content }) => content.includes("sail"))!;
    const page = await stage.open(`/memory?id=${sail.id}`);
    await page.getByRole("button", { name: "Correct" }).click();
    await page.getByLabel("One fact, in one or two sentences").fill("The sail has a tear along the fourth seam.");
    await page.getByRole("dialog").getByRole("button", { name: "Correct" }).click();
    const believed = async () => (await stage.varve.memory.list()).memories.map(({ content }) => content);
    await expect.poll(believed).toContain("The sail has a tear along the fourth seam.");
    await page.getByRole("status").getByRole("button", { name: "Undo" }).click();
    await expect.poll(believed).toContain("The sail has a tear along the third seam.");
    expect(await believed()).not.toContain("The sail has a tear along the fourth seam.");
    await expect.poll(() => page.locator(".memory-detail h2").innerText()).toContain("third seam");
    await page.getByRole("button", { name: "Forget" }).click();
    await expect.poll(believed).not.toContain("The sail has a tear along the third seam.");
    await page.getByRole("status").getByRole("button", { name: "Undo" }).click();
    await expect.poll(believed).toContain("The sail has a tear along the third seam.");
  });

  it("remembers something new, which is shown with how it fades", async () => {
    const page = await stage.open("/memory");
    await page.waitForSelector(".memory-link");
    await page.locator("body").press("n");
    await page.getByLabel("One fact, in one or two sentences").fill("The mooring is paid until October.");
    await page.getByRole("dialog").getByRole("button", { name: "Remember" }).click();
    await page.getByRole("heading", { name: "The mooring is paid until October." }).waitFor();
    await page.waitForSelector(".curve canvas");
    const { memories } = await stage.varve.memory.list();
    expect(memories.map(({ content }) => content)).toContain("The mooring is paid until October.");
  });

  it("shows the evidence of a memory with its words marked, and opens it in its session", async () => {
    const { memories } = await stage.varve.memory.list();
    const key = memories.find(({ content }) => content.includes("spare key"))!;
    const { evidence } = await stage.varve.memory.get(key.id);
    const page = await stage.open(`/memory?id=${key.id}`);
    if (evidence.length === 0) return page.getByText("no message says it").waitFor();
    await page.waitForSelector(".evidence mark");
    await page.locator(".evidence a").first().click();
    await expect.poll(() => page.locator(".entry.marked").count()).toBe(1);
  });

  it("renames, resets and restores a session", async () => {
    const page = await stage.open(sessionPath);
    await page.getByRole("heading", { name: "Work on the boat" }).waitFor();
    await menu(page, "Rename");
    await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill("The boat");
    await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
    await page.getByRole("heading", { name: "The boat", exact: true }).waitFor();
    expect((await session()).displayName).toBe("The boat");
    const before = (await session()).sessionId;
    await menu(page, "Reset");
    await expect.poll(async () => (await session()).sessionId).not.toBe(before);
    // The rename can be undone too: the button of the reset is meant.
    await page.locator(".toast", { hasText: "was archived" }).getByRole("button", { name: "Undo" }).click();
    await expect.poll(async () => (await session()).sessionId).toBe(before);
  });

  it("forks a session and says where its history comes from", async () => {
    const page = await stage.open(sessionPath);
    await page.waitForSelector(".entry");
    const count = (await stage.varve.sessions.list({ all: true })).sessions.length;
    await menu(page, "Fork");
    await expect.poll(async () => (await stage.varve.sessions.list({ all: true })).sessions.length).toBe(count + 1);
    await expect.poll(() => decodeURIComponent(new URL(page.url()).pathname)).toContain("subagent");
    await page.waitForSelector(".entry");
  });

  it("asks before it deletes, and says what goes", async () => {
    const doomed = await stage.varve.sessions.resolve({ key: "agent:main:doomed" });
    await stage.varve.context.ingest(doomed, [{ role: "user", content: "Delete me." }]);
    const page = await stage.open("/sessions/agent%3Amain%3Adoomed");
    await page.waitForSelector(".entry");
    await menu(page, "Delete…");
    await page.getByRole("dialog").getByText("1 message and their summaries").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    expect((await stage.varve.sessions.get("agent:main:doomed")).messageCount).toBe(1);
    await menu(page, "Delete…");
    await page.getByRole("dialog").getByRole("button", { name: "Delete for good" }).click();
    await expect
      .poll(() => stage.varve.sessions.get("agent:main:doomed").catch(({ code }) => code))
      .toBe("SESSION_NOT_FOUND");
  });

  it("compacts a context now and compares it with before", async () => {
    const long = await stage.varve.sessions.resolve({ key: "agent:main:long" });
    const messages = createStory().map((message) => ({ ...message, id: `long ${message.id}` }));
    await stage.varve.context.ingest(long, messages);
    const page = await stage.open("/sessions/agent%3Amain%3Along/context");
    await page.waitForSelector(".trace-item");
    await page.getByRole("button", { name: "Compact now" }).click();
    await page.getByRole("status").getByText("Compacted:").waitFor();
    expect((await stage.varve.context.overview(long)).summaries.length).toBeGreaterThan(0);
  });

  it("answers without a model, with what was recalled", async () => {
    const page = await stage.open(`/talk?session=${encodeURIComponent(storyKey)}`);
    await page.getByLabel("Message").fill("Where is the spare key of the boathouse?");
    await page.getByLabel("Message").press("Enter");
    await expect.poll(() => page.locator(".entry.role-assistant").last().innerText()).toContain("blue oar");
    const { entries } = await stage.varve.transcripts.read(await session(), { limit: 2 });
    const roles = entries.map((entry) => (entry.type === "message" ? entry.message.role : entry.type));
    expect(roles).toEqual(["user", "assistant"]);
  });

  it("makes a token, shows its secret once, and revokes it", async () => {
    const page = await stage.open("/system?tab=tokens");
    await page.getByLabel("Name").fill("laptop");
    await page.getByRole("button", { name: "Make a token" }).click();
    const secret = await page.locator(".notice code").innerText();
    expect((await stage.send("GET", "/api/me", { token: secret })).status).toBe(200);
    await page.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await expect.poll(async () => (await stage.send("GET", "/api/me", { token: secret })).status).toBe(401);
    await page.reload();
    await page.waitForSelector("table");
    expect(await page.content()).not.toContain(secret);
  });

  it("checks a setting before it is written", async () => {
    const page = await stage.open("/system?tab=settings");
    await page.getByLabel("Find settings").fill("log.level");
    await page.getByRole("button", { name: "Change log.level" }).click();
    const field = page.getByLabel("New value of log.level");
    await field.fill("loud");
    await page.getByRole("alert").getByText("log.level must be one of").waitFor();
    expect(await page.getByRole("button", { name: "Write" }).isDisabled()).toBe(true);
    await field.fill("warn");
    await expect.poll(() => page.getByRole("button", { name: "Write" }).isEnabled()).toBe(true);
    await page.getByRole("button", { name: "Write" }).click();
    await page.getByText("log.level is warn from the next start on.").waitFor();
    const { readFileSync } = await import("node:fs");
    expect(readFileSync(join(stage.home, "config.yaml"), "utf8")).toContain("level: warn");
  });

  it("takes a backup and lists it", async () => {
    const page = await stage.open("/system?tab=backups");
    await page.getByRole("button", { name: "Back up now" }).click();
    await expect.poll(() => page.locator(".findings li").count()).toBe(1);
    expect(stage.varve.listBackups().length).toBe(1);
  });

  it("shows a login that may only read no button that writes", async () => {
    const issued = (await stage.api("POST", "/api/tokens", { name: "reader", rights: ["read"] })) as { secret: string };
    const writing =
      /^(Remember|Correct|Forget|New session|Compact now|Send|Retry|Make a token|Import|Choose files|Back up now)$/;
    for (const [path, ready] of [
      ["/", ".figure"],
      ["/sessions", ".session-row"],
      [sessionPath, ".entry"],
      [`${sessionPath}/context`, ".trace-item"],
      ["/memory", ".memory-link"],
      ["/talk", ".talk-log"],
      ["/system", ".system-panel"],
    ] as const) {
      const page = await stage.open(path, { token: issued.secret });
      await page.waitForSelector(ready);
      expect(await page.getByRole("button", { name: writing }).count(), path).toBe(0);
      await page.context().close();
    }
    const page = await stage.open("/sessions", { token: issued.secret });
    await page
      .getByRole("button", { name: /^Actions for/ })
      .first()
      .click();
    expect(await page.getByRole("menuitem").allInnerTexts()).toEqual([
      "Export as JSON lines",
      "Export as Markdown",
      "Export as HTML",
    ]);
  });
});
