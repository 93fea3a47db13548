/** Nothing that a conversation, a name or a file holds runs in the console, leaves its place, or asks another host. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConsoleStage, chromiumProgram, setConsoleStage } from "./console-stage.ts";
import { hostileTexts } from "./hostile-texts.ts";

const key = "agent:main:hostile";
const path = `/sessions/${encodeURIComponent(key)}`;

describe.runIf(chromiumProgram)("hostile texts", () => {
  let stage: ConsoleStage;
  beforeAll(async () => {
    stage = await setConsoleStage({ import: { folders: ["/"] } });
    const { varve } = stage;
    const session = await varve.sessions.resolve({ key });
    await varve.context.ingest(
      session,
      hostileTexts.flatMap((text, index) => [
        { id: `u${index}`, role: "user" as const, content: text, name: text.slice(0, 200) },
        {
          id: `a${index}`,
          role: "assistant" as const,
          content: [
            { type: "reasoning" as const, text },
            { type: "text" as const, text },
            { type: "tool_call" as const, callId: `c${index}`, name: text.slice(0, 100), input: { text } },
            { type: "image" as const, source: { kind: "url" as const, url: `https://evil.example/${index}.png` } },
            { type: "image" as const, mediaType: text.slice(0, 60), source: { kind: "base64" as const, data: text } },
            { type: "file" as const, name: text.slice(0, 100), source: { kind: "text" as const, text } },
          ],
        },
        {
          id: `t${index}`,
          role: "tool" as const,
          content: [{ type: "tool_result" as const, callId: `c${index}`, name: text.slice(0, 100), output: text }],
        },
      ]),
    );
    await varve.context.compact(session, { budgetTokens: 2_000 });
    for (const [index, text] of hostileTexts.entries()) {
      const named = await varve.sessions.resolve({ key: `agent:main:named-${index}` });
      await varve.sessions.update(named, {
        displayName: text.slice(0, 500).replaceAll("\n", " "),
        subject: text.slice(0, 500),
      });
      await varve.memory.add({ text: `Fact ${index}: ${text}`, force: true });
    }
    const name = `${"<img src=x onerror=window.pwned=1>".replaceAll("/", "")}.jsonl`;
    writeFileSync(
      join(stage.home, name),
      `${hostileTexts.map((text) => JSON.stringify({ role: "user", content: text })).join("\n")}\n<script>\n`,
    );
  });
  afterAll(() => stage.end());

  /** Nothing ran, and nothing of the texts became an element that acts. */
  const expectHarmless = async (page: Page, where: string): Promise<void> => {
    // Handlers of elements run in a later task than the one that made them.
    await page.evaluate("new Promise((resolve) => setTimeout(resolve, 50))");
    const found = (await page.evaluate(`(() => {
      const acting = "script, iframe, object, embed, link, style, form[action], base, meta, video, audio, math, template, [srcset], [style*='evil']";
      const handlers = [...document.querySelectorAll("main *")].filter((element) => [...element.attributes].some(({ name }) => name.startsWith("on")));
      const links = [...document.querySelectorAll("main a[href]")].filter((link) => !/^(https?|mailto):$/.test(link.protocol) || (link.origin !== location.origin && (link.target !== "_blank" || !/noopener/.test(link.rel))));
      const images = [...document.querySelectorAll("img")].filter((image) => image.src && !image.src.startsWith("data:image/") && new URL(image.src).origin !== location.origin);
      return { pwned: window.pwned, acting: [...document.querySelectorAll('main, .toasts, dialog')].flatMap((place) => [...place.querySelectorAll(acting)]).map((one) => one.outerHTML.slice(0, 200)), handlers: handlers.map((one) => one.outerHTML.slice(0, 200)), links: links.map((one) => one.outerHTML), images: images.map((one) => one.outerHTML) };
    })()`)) as Record<string, unknown>;
    expect(found, where).toEqual({ acting: [], handlers: [], links: [], images: [] });
  };

  it("has a corpus of at least 100", () => expect(hostileTexts.length).toBeGreaterThanOrEqual(100));

  it("never runs in a transcript, opened from its start to its end", async () => {
    const page = await stage.open(`${path}?at=0`);
    await page.waitForSelector(".entry");
    const seen = new Set<string>();
    const entries = page.locator(".entry");
    await page.locator(".transcript").focus();
    for (let step = 0; step < 1_000 && seen.size < hostileTexts.length * 3; step += 1) {
      const labels = await entries.evaluateAll((all: { ariaLabel: string }[]) => all.map((one) => one.ariaLabel));
      for (const label of labels) seen.add(label);
      await page.locator(".entry details:not([open])").evaluateAll((all: { open: boolean }[]) => {
        for (const one of all) one.open = true;
      });
      if (step % 20 === 0) await expectHarmless(page, `step ${step}`);
      await page.keyboard.press("j");
    }
    expect(seen.size).toBeGreaterThanOrEqual(hostileTexts.length * 3);
    await expectHarmless(page, "the end");
  });

  it("never runs on any other page", async () => {
    for (const [where, ready] of [
      ["/", ".figure"],
      ["/sessions", ".session-row"],
      ["/sessions?match=onerror", ".session-row"],
      ["/search?q=window+pwned+script", ".result"],
      ["/search?q=onerror&mode=regex", ".result"],
      [`${path}/context`, ".trace-item"],
      ["/memory", ".memory-link"],
      ["/memory?q=script", ".memory-link"],
      [`/talk?session=${encodeURIComponent(key)}`, ".entry"],
      [`/search?q=${encodeURIComponent("<img src=x onerror=window.pwned=1>")}`, ".result-summary"],
      [`/sessions/${encodeURIComponent("<img src=x onerror=window.pwned=1>")}`, ".empty"],
    ] as const) {
      const page = await stage.open(where).catch(async (error: unknown) => {
        throw new Error(`${where}: ${String(error)}`);
      });
      await page.waitForSelector(ready);
      await expectHarmless(page, where);
      await page.context().close();
    }
  });

  it("never runs in what the model sees, in summaries, in memories and in lists of settings and files", async () => {
    const context = await stage.open(`${path}/context`);
    await context.getByRole("radio", { name: "Exactly what is sent" }).click();
    await context.waitForSelector(".sent .entry");
    await expectHarmless(context, "what is sent");

    const session = await stage.varve.sessions.get(key);
    const [summary] = (await stage.varve.context.overview(session)).summaries;
    const panel = await stage.open(`${path}?summary=${summary!.id}`);
    await panel.waitForSelector(".summary-panel .prose");
    await expectHarmless(panel, "a summary");

    const { memories } = await stage.varve.memory.list({ limit: 10 });
    for (const { id } of memories) {
      const page = await stage.open(`/memory?id=${id}`);
      await page.waitForSelector(".memory-detail");
      await expectHarmless(page, id);
      await page.context().close();
    }

    const settings = await stage.open("/system?tab=settings");
    await settings.getByLabel("Find settings").fill("memory.mirror");
    await settings.getByRole("button", { name: "Change memory.mirror" }).click();
    await settings.getByLabel("New value of memory.mirror").fill("<img src=x onerror=window.pwned=1>");
    await settings.getByRole("button", { name: "Write" }).click();
    await settings.waitForSelector(".toast");
    await expectHarmless(settings, "a setting");

    const home = await stage.open("/");
    await home.getByLabel("A folder on this machine").fill(stage.home);
    await home.getByLabel("A folder on this machine").press("Enter");
    await expect.poll(() => home.locator(".import-row").first().innerText()).toMatch(/done|failed/);
    await expectHarmless(home, "an import");
  });

  it("never runs in an HTML export", async () => {
    const page = await stage.open("/");
    const { text } = await stage.send("GET", `/api/sessions/${encodeURIComponent(key)}/export?format=html`, {
      headers: { cookie: (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join("; ") },
    });
    const tags = new Set([...text.matchAll(/<([a-z][a-z0-9]*)[\s>]/g)].map((match) => match[1]));
    const harmless =
      "html head meta title style body header main article h1 h2 h3 h4 h5 h6 p time div details summary pre code span a em strong del ul ol li blockquote br hr img table thead tbody tr th td".split(
        " ",
      );
    expect([...tags].filter((tag) => !harmless.includes(tag!))).toEqual([]);
    expect(text).not.toMatch(/<[^>]*\son\w+\s*=/i);
    expect(text).not.toMatch(/<img[^>]*src="(?!data:image\/)/i);
  });
});
