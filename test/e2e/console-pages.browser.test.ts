/** Each page shows what the API says, at every width and in both schemes, and axe finds nothing serious on it. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type ConsoleStage,
  chromiumProgram,
  findAxeFaults,
  measureOverflow,
  setConsoleStage,
  storyKey,
  tellStory,
} from "./console-stage.ts";

const sessionPath = `/sessions/${encodeURIComponent(storyKey)}`;
const pages = {
  home: "/",
  search: "/search?q=spare+key",
  sessions: "/sessions",
  session: sessionPath,
  context: `${sessionPath}/context`,
  memory: "/memory",
  talk: "/talk",
  jobs: "/system",
  doctor: "/system?tab=doctor",
  backups: "/system?tab=backups",
  tokens: "/system?tab=tokens",
  settings: "/system?tab=settings",
  clients: "/system?tab=clients",
  warnings: "/system?tab=warnings",
};
/** Something that is on the page once its data has arrived. */
const ready: Record<keyof typeof pages, string> = {
  home: ".figure",
  search: ".result",
  sessions: ".session-row",
  session: ".entry",
  context: ".trace-item",
  memory: ".memory-link",
  talk: ".composer",
  jobs: ".system-panel table",
  doctor: ".findings li",
  backups: ".system-panel",
  tokens: ".token-form",
  settings: ".settings li",
  clients: ".setups",
  warnings: ".system-panel",
};

describe.runIf(chromiumProgram)("the console", () => {
  let stage: ConsoleStage;
  beforeAll(async () => {
    stage = await setConsoleStage();
    await tellStory(stage);
    // A job that waits: without a background worker it stays.
    await stage.varve.context.afterTurn(await stage.varve.sessions.get(storyKey));
  });
  afterAll(() => stage.end());

  for (const [name, path] of Object.entries(pages) as [keyof typeof pages, string][]) {
    it(`fits and is accessible: ${name}`, async () => {
      for (const width of [360, 768, 1440]) {
        for (const scheme of ["light", "dark"] as const) {
          const page = await stage.open(path, { width, scheme });
          await page.waitForSelector(ready[name]);
          expect(await measureOverflow(page), `${name} at ${width}`).toBe(0);
          expect(await findAxeFaults(page), `${name} at ${width}, ${scheme}`).toEqual([]);
          await page.context().close();
        }
      }
    });
  }

  it("fits a narrow window with a summary opened", async () => {
    const session = await stage.varve.sessions.get(storyKey);
    const [summary] = (await stage.varve.context.overview(session)).summaries;
    const page = await stage.open(`${sessionPath}?summary=${summary!.id}`, { width: 360 });
    await page.waitForSelector(".summary-panel .prose");
    expect(await measureOverflow(page)).toBe(0);
    expect(await findAxeFaults(page)).toEqual([]);
  });

  it("shows on the first page what the status says", async () => {
    const status = (await stage.api("GET", "/api/status")) as Record<string, number>;
    const page = await stage.open("/");
    for (const [name, value] of [
      ["Sessions", status.sessions],
      ["Messages", status.messages],
      ["Memories", status.memories],
      ["Summaries", status.summaries],
    ] as const) {
      const figure = page.locator(".figure", { has: page.getByText(name, { exact: true }) });
      await expect.poll(() => figure.locator("dd").innerText()).toContain(value!.toLocaleString("en"));
    }
  });

  it("shows the session that the API lists, with its messages in order", async () => {
    const { sessions } = (await stage.api("GET", "/api/sessions")) as {
      sessions: { key: string; messageCount: number }[];
    };
    const page = await stage.open("/sessions");
    await page.waitForSelector(".session-row");
    expect(await page.locator(".session-row").count()).toBe(sessions.length);
    await page.getByRole("link", { name: "Work on the boat" }).click();
    const { entries } = (await stage.api("GET", `/api/sessions/${encodeURIComponent(storyKey)}/messages?limit=1`)) as {
      entries: { seq: number; message: { content: string } }[];
    };
    const last = page.getByRole("article", { name: new RegExp(`msg#${entries[0]!.seq}$`) });
    await last.waitFor();
    expect(await last.innerText()).toContain(entries[0]!.message.content.slice(0, 40));
  });

  it("draws the layers that the API gives, and opens them down to the message by the keyboard alone", async () => {
    const { layers } = (await stage.api("GET", `/api/sessions/${encodeURIComponent(storyKey)}/layers`)) as {
      layers: { id: string; kind: string; depth: number; firstSeq: number }[];
    };
    const page = await stage.open(sessionPath);
    const core = page.getByRole("listbox", { name: /^Layers/ });
    await expect.poll(() => core.getByRole("option").count()).toBe(layers.length);
    await core.focus();
    await page.keyboard.press("End");
    for (let depth = layers[0]!.depth; depth > 0; depth -= 1) {
      const before = await core.getByRole("option").allInnerTexts();
      await page.keyboard.press("Enter");
      await expect.poll(() => core.getByRole("option").allInnerTexts()).not.toEqual(before);
      await page.keyboard.press("End");
    }
    await expect
      .poll(() => core.getByRole("option", { selected: true }).innerText())
      .toContain(`msg#${layers[0]!.firstSeq}`);
    await page.keyboard.press(" ");
    await page.getByRole("article", { name: new RegExp(`msg#${layers[0]!.firstSeq}$`) }).waitFor();
  });

  it("has the core as text too, with the same layers", async () => {
    const page = await stage.open(sessionPath);
    await page.getByRole("button", { name: "As text" }).click();
    const { layers } = (await stage.api("GET", `/api/sessions/${encodeURIComponent(storyKey)}/layers`)) as {
      layers: unknown[];
    };
    await expect.poll(() => page.locator(".core-tree > li").count()).toBe(layers.length);
  });

  it("shows the window that the API assembles, and changes it with a budget and a prompt without writing", async () => {
    const before = await stage.api("GET", `/api/sessions/${encodeURIComponent(storyKey)}`);
    const page = await stage.open(pages.context);
    const view = (await stage.api("GET", `/api/sessions/${encodeURIComponent(storyKey)}/context/assembled`)) as {
      estimatedTokens: number;
    };
    const status = page.locator("main [role=status]");
    await expect.poll(() => status.innerText()).toContain(view.estimatedTokens.toLocaleString("en"));
    await page.getByLabel("Tokens", { exact: true }).fill("3000");
    await page.getByLabel("Prompt: what the person would say next").fill("Where is the spare key of the boathouse?");
    const query = new URLSearchParams({ budget: "3000", prompt: "Where is the spare key of the boathouse?" });
    const tried = (await stage.api(
      "GET",
      `/api/sessions/${encodeURIComponent(storyKey)}/context/assembled?${query}`,
    )) as {
      estimatedTokens: number;
      trace: { kind: string; in: boolean }[];
    };
    await expect.poll(() => status.innerText()).toContain(`${tried.estimatedTokens.toLocaleString("en")} of 3,000`);
    expect(tried.trace.some(({ kind, in: isIn }) => isIn && (kind === "recall" || kind === "memory"))).toBe(true);
    await page.getByRole("radio", { name: "Exactly what is sent" }).click();
    await expect.poll(() => page.locator(".sent").innerText()).toContain("blue oar");
    expect(await stage.api("GET", `/api/sessions/${encodeURIComponent(storyKey)}`)).toEqual(before);
  });

  it("finds what was said, says why, and opens it in its session, by the keyboard alone", async () => {
    const page = await stage.open("/search");
    await page.keyboard.type("spare key of the boathouse");
    await page.waitForSelector(".result");
    expect(new URL(page.url()).searchParams.get("q")).toBe("spare key of the boathouse");
    await page.getByRole("radio", { name: "Messages" }).click();
    await expect.poll(() => page.locator(".result .tag").first().innerText()).toBe("Message");
    expect(await page.locator(".result").first().innerText()).toContain("blue oar");
    await page.getByRole("button", { name: "Why" }).first().click();
    await page.waitForSelector(".why-stage");
    await page.locator("#search-box").focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/sessions\/.*at=\d+/);
    await expect.poll(() => page.locator(".entry.marked").innerText()).toContain("blue oar");
  });

  it("goes anywhere by the palette, and lists its keys", async () => {
    const page = await stage.open("/");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").and(page.locator(":focus")).waitFor();
    await page.keyboard.type("boat");
    await page.getByRole("option", { name: /Work on the boat/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(`**${sessionPath}`);
    await page.getByRole("heading", { name: "Work on the boat" }).waitFor();
    await page.locator("body").press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.locator("body").press("g");
    await page.locator("body").press("m");
    await page.waitForURL("**/memory");
  });

  it("sends at most 120 kB for a first visit, and caches files by their names for good", async () => {
    const page = await stage.open("/");
    // As text: the types of a browser are not those of the tests.
    const { size, urls } = (await page.evaluate(`(() => {
      const own = performance.getEntriesByType("resource").filter(({ name }) => !name.includes("/api/"));
      const [first] = performance.getEntriesByType("navigation");
      const size = own.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, first.encodedBodySize);
      return { size, urls: own.map(({ name }) => name) };
    })()`)) as { size: number; urls: string[] };
    expect(urls.length).toBeGreaterThan(3);
    expect(size).toBeLessThanOrEqual(120_000);
    const asset = await stage.send("GET", new URL(urls[0]!).pathname, { headers: { "accept-encoding": "br" } });
    expect(asset.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    expect(asset.headers["content-encoding"]).toBe("br");
  });
});
