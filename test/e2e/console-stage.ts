/** A stage for tests in a browser: a gateway with generated conversations, and pages that are logged in. */
import AxeBuilder from "axe-core";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { createStory } from "../../src/cli/demo-story.ts";
import type { ConfigInput } from "../../src/config/index.ts";
import { type Answer, type Sent, type Stage, setStage } from "./gateway-stage.ts";

/** Absent only when `VARVE_TEST_SKIP=browser` asked for it, or the test is run without `npm test`. */
export const chromiumProgram = process.env.VARVE_TEST_CHROMIUM;

const chromiumFlags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const storyKey = "agent:main:jsonl:direct:boat";

export interface ConsoleStage extends Stage {
  browser: Browser;
  /** A page that is logged in by the link. Faults of the page and requests to other hosts end the test. */
  open(path: string, options?: OpenOptions): Promise<Page>;
  /** A request to the API, as another program sends it. */
  api(method: string, path: string, body?: unknown): Promise<unknown>;
}

interface OpenOptions {
  width?: number;
  scheme?: "light" | "dark";
  /** An access token to log in with, instead of the link. */
  token?: string;
}

export async function setConsoleStage(
  config: ConfigInput = {},
  gateway: ConfigInput["gateway"] = {},
): Promise<ConsoleStage> {
  const stage = await setStage({ requestsPerMinute: 100_000, ...gateway }, { config });
  const browser = await chromium.launch({ executablePath: chromiumProgram, args: chromiumFlags });
  const contexts: BrowserContext[] = [];
  const faults: string[] = [];
  const token = stage.gateway.tokenFile === undefined ? "all" : await readToken(stage.gateway.tokenFile);
  const send = (method: string, path: string, sent?: Sent): Promise<Answer> =>
    stage.send(method, path, { token, ...sent });
  return {
    ...stage,
    browser,
    async open(path, { width = 1440, scheme = "light", token: given } = {}) {
      const context = await browser.newContext({
        viewport: { width, height: width < 500 ? 740 : 900 },
        colorScheme: scheme,
        permissions: ["clipboard-read", "clipboard-write"],
        reducedMotion: "reduce",
      });
      contexts.push(context);
      const page = await context.newPage();
      page.on("pageerror", (error) => faults.push(`${path}: ${error.message}`));
      page.on("request", (request) => {
        const url = new URL(request.url());
        const isOwn = url.origin === stage.gateway.url || url.protocol === "data:" || url.protocol === "blob:";
        if (!isOwn) faults.push(`${path}: asked ${request.url()}`);
      });
      if (given === undefined) await page.goto(stage.gateway.createLoginLink());
      else {
        await page.goto(stage.gateway.url);
        await page.getByLabel("Or log in with an access token").fill(given);
        await page.getByRole("button", { name: "Log in" }).click();
        await page.waitForURL(`${stage.gateway.url}/`);
      }
      await page.goto(stage.gateway.url + path);
      await page.waitForSelector("main h1", { state: "attached" });
      return page;
    },
    async api(method, path, body) {
      const answer = await send(method, path, body === undefined ? {} : { body });
      if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.text}`);
      return answer.json;
    },
    async end() {
      for (const context of contexts) await context.close();
      await browser.close();
      await stage.end();
      if (faults.length > 0) throw new Error(`A page failed or asked another host:\n${faults.join("\n")}`);
    },
  };
}

async function readToken(file: string): Promise<string> {
  const { readFile } = await import("node:fs/promises");
  return (await readFile(file, "utf8")).trim();
}

/** The conversation of the demo, compacted, with a memory and its evidence. */
export async function tellStory({ varve }: Stage): Promise<void> {
  const session = await varve.sessions.resolve({ key: storyKey }, { door: "owner" });
  await varve.sessions.update(session, { displayName: "Work on the boat" });
  await varve.context.ingest(session, createStory());
  await varve.context.compact(session, { budgetTokens: 3_000 });
  await varve.memory.add({ text: "The spare key of the boathouse hangs behind the blue oar.", session });
  await varve.memory.add({ text: "The sail has a tear along the third seam.", session });
}

/** The serious findings of axe on a page, in words. */
export async function findAxeFaults(page: Page): Promise<string[]> {
  // As an init script would be, so that the content security policy stays as it is.
  await page.evaluate(`${AxeBuilder.source}; undefined`);
  const violations = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: AxeViolation[] }> } };
    return (await axe.run()).violations;
  });
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .map(({ html, failureSummary }) => `${html} ${failureSummary}`)
          .slice(0, 3)
          .join(" | ")}`,
    );
}

interface AxeViolation {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}

/** How many pixels a page is wider than its window. */
export function measureOverflow(page: Page): Promise<number> {
  return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
}
