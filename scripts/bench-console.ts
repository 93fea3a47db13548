/**
 * Measures the console on an empty store, on one session of 1,000,000 messages and on 100,000 sessions, in one run.
 * `npm run bench:console -- --messages 100000 --sessions 10000` takes smaller stores; `--keep FOLDER` keeps and reuses them.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Browser, chromium, type Page } from "playwright-core";
import { loadConfig } from "../src/config/index.ts";
import { parseSessionKey, systemClock, systemRandom } from "../src/domain/index.ts";
import { startGateway } from "../src/http/index.ts";
import { openVarve, type Varve } from "../src/index.ts";
import { createSession } from "../src/session/rows.ts";
import { openStore } from "../src/store/index.ts";
import { provisionChromium } from "./provision-chromium.ts";

const { values: options } = parseArgs({
  options: {
    messages: { type: "string", default: "1000000" },
    sessions: { type: "string", default: "100000" },
    rounds: { type: "string", default: "7" },
    keep: { type: "string" },
  },
});
const rounds = Number(options.rounds);
const longKey = "agent:main:bench";
const words = "harbour keel rudder mast anchor sail rope tide chart compass lantern oar hull deck cabin galley".split(
  " ",
);

interface Row {
  store: string;
  what: string;
  value: number;
  unit: string;
  note?: string;
}

const text = (index: number): string =>
  `Message ${index}: ${Array.from({ length: 12 }, (_, at) => words[(index * 7 + at * 5) % words.length]).join(" ")}`;

async function fillMessages(varve: Varve, count: number): Promise<void> {
  const session = await varve.sessions.resolve({ key: longKey });
  await varve.sessions.update(session, { displayName: "One long conversation" });
  const batch = 5_000;
  const start = Date.UTC(2024, 0, 1);
  for (let from = 0; from < count; from += batch) {
    const messages = Array.from({ length: Math.min(batch, count - from) }, (_, at) => ({
      id: `m${from + at}`,
      role: (from + at) % 2 === 0 ? ("user" as const) : ("assistant" as const),
      content: text(from + at),
      time: start + (from + at) * 60_000,
    }));
    await varve.context.ingest(session, messages);
  }
}

/** Written below the façade, a thousand in a transaction: one by one they would take an hour. */
async function fillSessions(_varve: Varve, count: number, home: string): Promise<void> {
  const { config } = loadConfig({ home });
  const store = await openStore({
    database: config.database,
    clock: systemClock,
    random: systemRandom,
    ...config.store,
  });
  const batch = 1_000;
  for (let from = 0; from < count; from += batch) {
    await store.transaction(async (tx) => {
      for (let index = from; index < Math.min(count, from + batch); index += 1) {
        const keyText = `agent:main:bench:direct:${index}`;
        const displayName = `Plan ${index}: ${text(index)}`;
        await createSession(tx, { agent: "main", key: parseSessionKey(keyText), keyText, displayName, door: "owner" });
      }
    });
  }
  await store.close();
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** The time until a selector is in the page, in a fresh tab with a warm cache. */
async function timeContent(page: Page, url: string, selector: string): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    await page.goto("about:blank");
    const started = performance.now();
    await page.goto(url, { waitUntil: "commit" });
    await page.waitForSelector(selector, { state: "attached" });
    // The first round warms the caches of the browser and the store.
    if (round > 0) times.push(performance.now() - started);
  }
  return median(times);
}

/** How much longer the page takes for a search than the engine: from the request to the results in the page. */
async function timeSearch(page: Page, base: string): Promise<{ engineMs: number; pageMs: number }> {
  const [engine, shown]: [number[], number[]] = [[], []];
  for (let round = 0; round <= rounds; round += 1) {
    const query = `${words[round % words.length]} ${words[(round + 5) % words.length]} ${round}`;
    await page.goto(`${base}/search`);
    await page.waitForSelector("#search-box");
    const measured = (await page.evaluate(`(async () => {
      const box = document.querySelector("#search-box");
      const results = new Promise((resolve) => {
        const observer = new MutationObserver(() => {
          if (document.querySelector(".result, .result-summary")) { observer.disconnect(); resolve(performance.now()); }
        });
        observer.observe(document.querySelector("main"), { childList: true, subtree: true });
      });
      box.value = ${JSON.stringify(query)};
      box.dispatchEvent(new Event("input", { bubbles: true }));
      const shown = await results;
      const request = performance.getEntriesByType("resource").filter(({ name }) => name.includes("/api/search")).at(-1);
      return { engine: request.responseEnd - request.startTime, shown: shown - request.startTime };
    })()`)) as { engine: number; shown: number };
    if (round === 0) continue;
    engine.push(measured.engine);
    shown.push(measured.shown);
  }
  return { engineMs: median(engine), pageMs: median(shown) };
}

/** Scrolls through a transcript: script time of a frame, frames and heap. */
async function timeScrolling(page: Page, url: string): Promise<{ scriptMs: number; frames: number; heapMB: number }> {
  await page.goto(url);
  await page.waitForSelector(".entry");
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Performance.enable");
  const read = async (name: string): Promise<number> => {
    const { metrics } = await cdp.send("Performance.getMetrics");
    return metrics.find((metric) => metric.name === name)?.value ?? 0;
  };
  const before = await read("ScriptDuration");
  const frames = (await page.evaluate(`new Promise((resolve) => {
    const element = document.querySelector(".transcript");
    let frames = 0;
    const ends = performance.now() + 10000;
    const step = () => {
      frames += 1;
      element.scrollTop -= 250;
      if (performance.now() < ends) requestAnimationFrame(step); else resolve(frames);
    };
    requestAnimationFrame(step);
  })`)) as number;
  const scriptMs = (((await read("ScriptDuration")) - before) * 1000) / frames;
  return { scriptMs, frames, heapMB: (await read("JSHeapUsedSize")) / 1e6 };
}

async function measure(browser: Browser, store: string, home: string): Promise<Row[]> {
  const varve = await openVarve({ home, background: false });
  const gateway = await startGateway(varve, { port: 0 });
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const rows: Row[] = [];
  const add = (what: string, value: number, unit: string, note?: string): void => {
    rows.push({ store, what, value, unit, note });
    console.log([store.padEnd(20), what.padEnd(34), `${value.toFixed(1)} ${unit}`.padStart(12), note ?? ""].join("  "));
  };
  try {
    await page.goto(gateway.createLoginLink());
    add("first content of Home", await timeContent(page, gateway.url, ".figure, .begin .card"), "ms");
    add("first content of Sessions", await timeContent(page, `${gateway.url}/sessions`, ".session-row, .empty"), "ms");
    add("first content of Search", await timeContent(page, `${gateway.url}/search`, "#search-box"), "ms");
    const { engineMs, pageMs } = await timeSearch(page, gateway.url);
    add("search, request", engineMs, "ms");
    add("search, request to results shown", pageMs, "ms", `${(pageMs - engineMs).toFixed(1)} ms after the answer`);
    const path = `${gateway.url}/sessions/${encodeURIComponent(longKey)}`;
    if (store !== "sessions") {
      // An empty store has no session: it is compared with one of as many messages as a page reads.
      if (store === "empty") await fillMessages(varve, 60);
      add("first content of Session", await timeContent(page, path, ".entry"), "ms");
      add("core of Session", await timeContent(page, path, ".core-keys [role=option]"), "ms");
    }
    if (store === "messages") {
      const { scriptMs, frames, heapMB } = await timeScrolling(page, path);
      add("scrolling, script of a frame", scriptMs, "ms", `${frames} frames in 10 s`);
      add("scrolling, heap", heapMB, "MB");
    }
    if (store === "sessions") {
      add(
        "filter as you type",
        await timeContent(page, `${gateway.url}/sessions?match=Plan%2099`, ".session-row"),
        "ms",
      );
      add("sort by messages", await timeContent(page, `${gateway.url}/sessions?sort=messages`, ".session-row"), "ms");
    }
  } finally {
    await page.close();
    await gateway.close();
    await varve.close();
  }
  return rows;
}

async function main(): Promise<void> {
  const base = options.keep ?? mkdtempSync(join(tmpdir(), "varve-bench-console-"));
  const executablePath = process.env.VARVE_TEST_CHROMIUM ?? provisionChromium();
  const fill = { empty: async () => undefined, messages: fillMessages, sessions: fillSessions } as const;
  for (const [store, write] of Object.entries(fill)) {
    const home = join(base, store);
    if (store !== "empty" && existsSync(join(home, "complete"))) continue;
    rmSync(home, { recursive: true, force: true });
    const started = performance.now();
    const varve = await openVarve({ home, background: false });
    await write(varve, Number(store === "messages" ? options.messages : options.sessions), home);
    await varve.close();
    writeFileSync(join(home, "complete"), "");
    console.log(
      `The store ${JSON.stringify(store)} was made in ${((performance.now() - started) / 1000).toFixed(1)} s.`,
    );
  }
  const browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
  });
  try {
    const rows: Row[] = [];
    for (const store of Object.keys(fill)) rows.push(...(await measure(browser, store, join(base, store))));
    const find = (store: string, what: string): number =>
      rows.find((row) => row.store === store && row.what === what)?.value ?? Number.NaN;
    for (const store of ["messages", "sessions"]) {
      for (const what of rows
        .filter((row) => row.store === "empty" && /content|core/.test(row.what))
        .map((row) => row.what)) {
        if (Number.isNaN(find(store, what))) continue;
        const ratio = find(store, what) / find("empty", what);
        console.log(`${store.padEnd(20)}  ${what.padEnd(34)}  ${ratio.toFixed(2)} times the empty store`);
      }
    }
  } finally {
    await browser.close();
    if (options.keep === undefined) rmSync(base, { recursive: true, force: true });
  }
}

await main();
