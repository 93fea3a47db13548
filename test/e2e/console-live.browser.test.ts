/** Pages follow what any process does, and come back by themselves when the gateway was away. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startGateway } from "../../src/http/index.ts";
import { openVarve, type Varve } from "../../src/index.ts";
import { type ConsoleStage, chromiumProgram, setConsoleStage, storyKey, tellStory } from "./console-stage.ts";

describe.runIf(chromiumProgram)("live updates", () => {
  let stage: ConsoleStage;
  let other: Varve;
  beforeAll(async () => {
    stage = await setConsoleStage();
    await tellStory(stage);
    other = await openVarve({ home: stage.home, background: false });
  });
  afterAll(async () => {
    await other.close();
    await stage.end();
  });

  it("shows a message that another process appends, without a jump in what is being read", async () => {
    const session = await other.sessions.get(storyKey);
    const page = await stage.open(`/sessions/${encodeURIComponent(storyKey)}`);
    await page.waitForSelector(".entry");
    await page.getByText("Live", { exact: true }).waitFor();
    await other.context.ingest(session, [{ role: "user", content: "Said by another process." }]);
    await page.getByText("Said by another process.").waitFor({ state: "attached" });

    await page.locator(".transcript").press("Home");
    await page.getByRole("article", { name: /msg#2$/ }).waitFor();
    const before = await page.locator(".transcript").evaluate((element: { scrollTop: number }) => element.scrollTop);
    await other.context.ingest(session, [{ role: "user", content: "Said while the start is read." }]);
    const { messageCount } = await other.sessions.get(storyKey);
    await expect.poll(() => page.locator(".session-sub").innerText()).toContain(`${messageCount} messages`);
    expect(await page.locator(".transcript").evaluate((element: { scrollTop: number }) => element.scrollTop)).toBe(
      before,
    );
  });

  it("shows sessions, memories and names that another process changes", async () => {
    const list = await stage.open("/sessions");
    const memories = await stage.open("/memory");
    await list.waitForSelector(".session-row");
    await memories.waitForSelector(".memory-link");
    for (const page of [list, memories]) await page.getByText("Live", { exact: true }).waitFor();
    const made = await other.sessions.resolve({ key: "agent:main:elsewhere" });
    await other.context.ingest(made, [{ role: "user", content: "Hello." }]);
    await other.sessions.update(made, { displayName: "Made elsewhere" });
    await list.getByRole("link", { name: "Made elsewhere" }).waitFor();
    await other.memory.add({ text: "The harbour closes at nine." });
    await memories.getByRole("button", { name: "The harbour closes at nine." }).waitFor();
  });

  it("says that the gateway is away, comes back by itself with the same login, and shows what happened meanwhile", async () => {
    const page = await stage.open("/sessions");
    await page.waitForSelector(".session-row");
    await page.getByText("Live", { exact: true }).waitFor();
    const { port } = stage.gateway;
    await stage.gateway.close();
    await page.getByRole("alert").getByText("The gateway does not answer").waitFor();
    const made = await other.sessions.resolve({ key: "agent:main:meanwhile" });
    await other.sessions.update(made, { displayName: "Made meanwhile" });
    const again = await startGateway(stage.varve, { port });
    try {
      await page.getByRole("link", { name: "Made meanwhile" }).waitFor();
      await expect.poll(() => page.getByRole("alert").count()).toBe(0);
      // It may write as before, with the request token of its login.
      await page.getByRole("button", { name: "Actions for Made meanwhile" }).click();
      await page.getByRole("menuitem", { name: "Rename" }).click();
      await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill("Made and renamed");
      await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
      await page.getByRole("link", { name: "Made and renamed" }).waitFor();
    } finally {
      await again.close();
    }
  });
});
