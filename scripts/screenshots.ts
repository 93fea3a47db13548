/** Takes a picture of every page of the console on generated data, for the README and the docs. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { createStory, question } from "../src/cli/demo-story.ts";
import { startGateway } from "../src/http/index.ts";
import { openVarve, type Varve } from "../src/index.ts";
import { provisionChromium } from "./provision-chromium.ts";
import { root } from "./test-run.ts";

const folder = join(root, "docs", "images");
const key = "agent:main:telegram:direct:5054873275";
const sessionPath = `/sessions/${encodeURIComponent(key)}`;

interface Picture {
  name: string;
  path: string;
  ready: string;
  scheme?: "light" | "dark";
  width?: number;
  prepare?: (page: Page) => Promise<void>;
}

const pictures: readonly Picture[] = [
  { name: "home", path: "/", ready: ".figure" },
  {
    name: "search",
    path: `/search?q=${encodeURIComponent(question)}`,
    ready: ".result",
    prepare: (page) => page.getByRole("button", { name: "Why" }).first().click(),
  },
  { name: "sessions", path: "/sessions", ready: ".session-row" },
  { name: "session", path: sessionPath, ready: ".entry", prepare: openLayer },
  { name: "session-dark", path: sessionPath, ready: ".entry", scheme: "dark" },
  { name: "context", path: `${sessionPath}/context`, ready: ".trace-item", prepare: tryPrompt },
  {
    name: "memory",
    path: "/memory",
    ready: ".memory-link",
    prepare: (page) => page.locator(".memory-link").first().click(),
  },
  { name: "talk", path: `/talk?session=${encodeURIComponent(key)}`, ready: ".entry", prepare: talk },
  { name: "system", path: "/system?tab=doctor", ready: ".findings li" },
  { name: "session-narrow", path: sessionPath, ready: ".entry", width: 360 },
];

async function openLayer(page: Page): Promise<void> {
  await page.getByRole("listbox", { name: /^Layers/ }).focus();
  await page.keyboard.press("End");
  await page.keyboard.press(" ");
  await page.waitForSelector(".summary-panel .prose");
}

async function tryPrompt(page: Page): Promise<void> {
  await page.getByLabel("Tokens", { exact: true }).fill("4000");
  await page.getByLabel("Prompt: what the person would say next").fill(question);
  await page.locator(".kind-recall, .kind-memory").first().waitFor();
}

async function talk(page: Page): Promise<void> {
  await page.getByLabel("Message").fill(question);
  await page.getByLabel("Message").press("Enter");
  await page.locator(".turn-facts").waitFor();
}

/** Conversations that a person might have; always the same ones. */
async function generate(varve: Varve): Promise<void> {
  const story = createStory();
  const session = await varve.sessions.resolve({ key });
  await varve.sessions.update(session, { displayName: "Work on the boat" });
  await varve.context.ingest(session, story);
  await varve.context.compact(session, { budgetTokens: 4_000 });
  const others = [
    ["agent:main:slack:channel:harbour", "Harbour club: summer regatta", 120],
    ["agent:main:claude-code:direct:7f3c", "Move the log book to SQLite", 210],
    ["agent:main:telegram:group:crew", "Crew for the crossing", 64],
    ["agent:main:main", "Plans for the winter", 38],
    ["agent:main:webchat:direct:ann", "Timber order with Aldersund", 16],
  ] as const;
  for (const [name, title, count] of others) {
    const other = await varve.sessions.resolve({ key: name });
    await varve.sessions.update(other, { displayName: title });
    await varve.context.ingest(
      other,
      story.slice(0, count).map((message) => ({ ...message, id: `${name} ${message.id}` })),
    );
    if (count > 100) await varve.context.compact(other, { budgetTokens: 3_000 });
  }
  for (const text of [
    "The spare key of the boathouse hangs behind the blue oar, on the left wall.",
    "Prefers larch over oak for the ribs.",
    "The engine needs glow plugs of the type GP-2207, torque 18 Nm.",
    "The harbour master wants the list of works by the end of the month.",
    "Sails with Ann and Tom in summer.",
  ])
    await varve.memory.add({ text, session });
}

async function main(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "varve-screenshots-"));
  const varve = await openVarve({ home, background: false });
  const gateway = await startGateway(varve, { port: 0 });
  const executablePath = process.env.VARVE_TEST_CHROMIUM ?? provisionChromium();
  const browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
  });
  try {
    await generate(varve);
    for (const { name, path, ready, scheme = "light", width = 1440, prepare } of pictures) {
      const viewport = { width, height: width < 500 ? 740 : 900 };
      const context = await browser.newContext({
        viewport,
        colorScheme: scheme,
        reducedMotion: "reduce",
        timezoneId: "UTC",
        locale: "en",
      });
      const page = await context.newPage();
      await page.goto(gateway.createLoginLink());
      await page.goto(gateway.url + path);
      await page.waitForSelector(ready);
      await prepare?.(page);
      await page.waitForTimeout(600);
      await page.screenshot({ path: join(folder, `console-${name}.png`) });
      console.log(`docs/images/console-${name}.png`);
      await context.close();
    }
  } finally {
    await browser.close();
    await gateway.close();
    await varve.close();
    rmSync(home, { recursive: true, force: true });
  }
}

await main();
