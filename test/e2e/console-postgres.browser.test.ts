/** One pass over the pages on PostgreSQL. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openVarve, type Varve } from "../../src/index.ts";
import { databaseKinds, type ScratchDatabase, scratchDatabase } from "../support/databases.ts";
import { type ConsoleStage, chromiumProgram, setConsoleStage, storyKey, tellStory } from "./console-stage.ts";

describe.runIf(chromiumProgram && databaseKinds.includes("postgres"))("the console on PostgreSQL", () => {
  let database: ScratchDatabase;
  let stage: ConsoleStage;
  let other: Varve;
  beforeAll(async () => {
    database = await scratchDatabase("postgres");
    stage = await setConsoleStage({ database: database.database });
    await tellStory(stage);
    other = await openVarve({ home: stage.home, database: database.database, background: false });
  });
  afterAll(async () => {
    await other.close();
    await stage.end();
    await database.drop();
  });

  it("shows every page", async () => {
    const session = `/sessions/${encodeURIComponent(storyKey)}`;
    for (const [path, ready] of [
      ["/", ".figure"],
      ["/search?q=spare+key", ".result"],
      ["/sessions?sort=name&match=boat", ".session-row"],
      [session, ".core-keys [role=option]"],
      [`${session}/context`, ".trace-item"],
      ["/memory", ".memory-link"],
      ["/system?tab=doctor", ".findings li"],
    ] as const) {
      const page = await stage.open(path);
      await page.waitForSelector(ready, { state: "attached" });
      await page.context().close();
    }
  });

  it("shows what another process writes", async () => {
    const page = await stage.open(`/sessions/${encodeURIComponent(storyKey)}`);
    await page.waitForSelector(".entry");
    await page.getByText("Live", { exact: true }).waitFor();
    const session = await other.sessions.get(storyKey);
    await other.context.ingest(session, [{ role: "user", content: "Said by another process." }]);
    await page.getByText("Said by another process.").waitFor({ state: "attached" });
    const { messageCount } = await other.sessions.get(storyKey);
    await expect.poll(() => page.locator(".session-sub").innerText()).toContain(`${messageCount} messages`);
  });
});
