/** The owner says on a page which ids are theirs. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type ConsoleStage,
  chromiumProgram,
  findAxeFaults,
  measureOverflow,
  setConsoleStage,
} from "./console-stage.ts";

const keyOf = (id: string) => `agent:main:telegram:direct:${id}`;
const pathOf = (id: string) => `/sessions/${encodeURIComponent(keyOf(id))}`;

describe.runIf(chromiumProgram)("owners in the console", () => {
  let stage: ConsoleStage;
  beforeAll(async () => {
    stage = await setConsoleStage({
      search: { embedder: "none" },
      turn: { runner: "offline", debounceMs: 0, owners: { slack: ["U1"] } },
    });
    for (const [id, name] of [
      ["5054873275", "Ann"],
      ["77", "Bob"],
    ]) {
      await stage.api("POST", "/api/turns", { channel: "telegram", from: { id, name }, text: `I am ${name}.` });
    }
  });
  afterAll(() => stage.end());

  const owners = async () => (await stage.varve.owners.list()).map(({ channel, id }) => `${channel} ${id}`);

  it("names people who wrote and are not known on the first page, until one is said to be the owner", async () => {
    const page = await stage.open("/");
    const notice = page.getByRole("region", { name: "People who are not known" });
    await notice.getByRole("link", { name: "Ann", exact: true }).waitFor();
    expect(await findAxeFaults(page)).toEqual([]);
    await notice.getByRole("button", { name: "This is me: 5054873275 on telegram" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("stays in its own session").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    expect(await owners()).toEqual(["slack U1"]);
    await notice.getByRole("button", { name: "This is me: 5054873275 on telegram" }).click();
    await dialog.getByRole("button", { name: "This is me" }).click();
    await expect.poll(owners).toEqual(["slack U1", "telegram 5054873275"]);
    await page.locator(".toast", { hasText: "stays in its own session" }).waitFor();
    // Bob is somebody else: the owner's id in this channel is known now.
    await expect.poll(() => notice.count()).toBe(0);
  });

  it("asks on the page of a person's session, and not on the owner's", async () => {
    const narrow = await stage.open(pathOf("77"), { width: 360 });
    await narrow.getByRole("button", { name: "This is me" }).waitFor();
    expect(await measureOverflow(narrow)).toBe(0);
    const page = await stage.open(pathOf("77"));
    const button = page.getByRole("button", { name: "This is me" });
    await button.waitFor();
    expect(await findAxeFaults(page)).toEqual([]);
    await button.click();
    await page.getByRole("dialog").getByRole("button", { name: "This is me" }).click();
    await expect.poll(owners).toContain("telegram 77");
    await expect.poll(() => button.count()).toBe(0);
    const again = await stage.open(pathOf("5054873275"));
    await again.getByRole("button", { name: "Jump" }).waitFor();
    expect(await again.getByRole("button", { name: "This is me" }).count()).toBe(0);
    const turn = await stage.api("POST", "/api/turns", { channel: "telegram", from: { id: "77" }, text: "It is me." });
    expect(turn).toMatchObject({ key: "agent:main:main" });
  });

  it("lists the owner's ids on the page System, adds and removes them", async () => {
    const narrow = await stage.open("/system?tab=owners", { width: 360 });
    await narrow.getByRole("button", { name: "Remove 77 on telegram" }).waitFor();
    expect(await measureOverflow(narrow)).toBe(0);
    const page = await stage.open("/system?tab=owners", { width: 1280 });
    const row = (text: string) => page.getByRole("row").filter({ hasText: text });
    await row("telegram").first().waitFor();
    expect(await row("U1").innerText()).toContain("turn.owners");
    expect(await row("U1").getByRole("button").count()).toBe(0);
    await page.getByLabel("Channel").fill("signal");
    await page.getByLabel("Your id in it").fill("+49 151");
    await page.locator("main form").getByRole("button", { name: "This is me" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "This is me" }).click();
    await expect.poll(owners).toContain("signal +49 151");
    await page.getByRole("button", { name: "Remove 77 on telegram" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await expect.poll(owners).not.toContain("telegram 77");
    await expect.poll(() => row("telegram").count()).toBe(1);
    expect(await findAxeFaults(page)).toEqual([]);
    expect(await measureOverflow(page)).toBe(0);
  });

  it("speaks as the owner in a session that begins there", async () => {
    const page = await stage.open("/talk");
    await page.getByRole("button", { name: "New session" }).click();
    await page.waitForURL(/console/);
    await page.getByRole("textbox").last().fill("Hello there.");
    await page.getByRole("textbox").last().press("Enter");
    const find = async () => (await stage.varve.sessions.list({ channel: "console" })).sessions[0];
    await expect.poll(find).toBeDefined();
    expect((await find())?.audience).toBeUndefined();
    expect((await stage.varve.owners.listUnknown()).map(({ channel }) => channel)).not.toContain("console");
  });

  it("shows no owners to a login that is limited", async () => {
    const { secret } = await stage.varve.accessTokens.create({
      name: "bound",
      rights: ["read", "write"],
      agent: "main",
    });
    const page = await stage.open(pathOf("77"), { token: secret });
    await page.getByRole("button", { name: "Jump" }).waitFor();
    expect(await page.getByRole("button", { name: "This is me" }).count()).toBe(0);
    await page.goto(`${stage.gateway.url}/`);
    await page.getByRole("region", { name: "Live activity" }).waitFor();
    expect(await page.getByRole("region", { name: "People who are not known" }).count()).toBe(0);
  });
});
