import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadConfig } from "../../config/index.ts";
import { CachedEmbedder } from "./cached-embedder.ts";
import { openConfiguredEmbedder } from "./configured-embedder.ts";
import { EmbeddingCache } from "./embedding-cache.ts";
import type { Embedder, EmbedText } from "./port.ts";

let home: string;
let file: string;
const closers: (() => Promise<void>)[] = [];
const clock = { time: 1_700_000_000_000, now: () => clock.time };
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "varve-cache-"));
  file = join(home, "cache", "embeddings.db");
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  rmSync(home, { recursive: true, force: true });
});

/** Returns vectors of two numbers and some tokens, and counts its calls. */
function open(entriesMax = 100, model = "counting") {
  const asked: string[] = [];
  const inner: Embedder = {
    space: { provider: "test", model, dimensions: 2, tokenDimensions: 1 },
    async embed(texts: EmbedText[]) {
      asked.push(...texts.map(({ text }) => text));
      return texts.map(({ text }) => ({
        vector: Float32Array.of(text.length, 0.1),
        tokens: Int8Array.of(-1, text.length),
        ...(text.length > 9 ? { cut: true } : {}),
      }));
    },
    async embedQuery(text) {
      asked.push(`? ${text}`);
      return { vector: Float32Array.of(0.2, text.length) };
    },
    async close() {
      // Nothing to close.
    },
  };
  const embedder = new CachedEmbedder(inner, new EmbeddingCache(file, entriesMax, clock));
  closers.push(() => embedder.close());
  const embed = (...texts: string[]) => embedder.embed(texts.map((text) => ({ text })));
  return { asked, embedder, embed };
}
const count = () => {
  const db = new Database(file, { readonly: true });
  const { n } = db.prepare("select count(*) as n from vectors").get() as { n: number };
  db.close();
  return n;
};

describe("an embedding cache", () => {
  it("returns stored results exactly", async () => {
    const first = open();
    const made = await first.embed("one", "two", "one", "a longer text");
    expect(first.asked).toEqual(["one", "two", "a longer text"]);
    const second = open();
    expect(await second.embed("a longer text", "one", "two", "one")).toEqual([made[3], made[0], made[1], made[0]]);
    expect(await second.embedder.embedQuery("one")).toEqual(await second.embedder.embedQuery("one"));
    expect(second.asked, "distinguishes queries from documents").toEqual(["? one"]);
    if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("distinguishes speakers, models and dimensions", async () => {
    const { embedder, asked } = open();
    await embedder.embed([{ text: "one" }, { text: "one", speaker: "Ann" }]);
    await embedder.embed([{ text: "one", speaker: "Ann" }]);
    const other = open(100, "another");
    await other.embed("one");
    expect([asked, other.asked]).toEqual([["one", "one"], ["one"]]);
  });

  it("stays within its limit, and evicts what was unused for longest", async () => {
    const { embed, asked } = open(20);
    const texts = Array.from({ length: 20 }, (_, index) => `text ${index}`);
    for (const text of texts) {
      await embed(text);
      clock.time += 1;
    }
    clock.time += 3_600_000;
    await embed("text 0");
    await embed("new 1", "new 2");
    expect(count()).toBe(18);
    asked.length = 0;
    await embed("text 0", "new 1", "text 1");
    expect(asked).toEqual(["text 1"]);
  });

  it("is recreated when its file is broken, with one notice", async () => {
    const before = open();
    await before.embed("one");
    await before.embedder.close();
    writeFileSync(file, "this is no database".repeat(1_000));
    const { embed, embedder, asked } = open();
    await embed("one");
    await embed("one");
    expect(asked).toEqual(["one"]);
    expect(embedder.takeNotices()).toEqual([expect.stringMatching(/was broken and has been recreated/)]);
    expect(embedder.takeNotices()).toEqual([]);
  });

  it("is recreated when it breaks during use, or has another format", async () => {
    const { embed, embedder, asked } = open();
    await embed("one");
    const other = new Database(file);
    other.exec("drop table vectors");
    other.close();
    await embed("one");
    await embed("one");
    expect(asked).toEqual(["one", "one"]);
    expect(embedder.takeNotices()).toHaveLength(1);
    const newer = new Database(file);
    newer.pragma("user_version = 99");
    newer.close();
    const next = open();
    await next.embed("one");
    expect(next.embedder.takeNotices().join()).toContain("its format is 99");
  });

  it.skipIf(process.platform === "win32" || process.getuid?.() === 0)(
    "does without a file where it cannot write",
    async () => {
      chmodSync(home, 0o500);
      const { embed, embedder, asked } = open();
      await embed("one");
      await embed("one");
      expect(asked).toEqual(["one", "one"]);
      expect(embedder.takeNotices().length).toBeGreaterThan(0);
      chmodSync(home, 0o700);
      expect(existsSync(file)).toBe(false);
    },
  );

  it("does not wait for a process that keeps writing", async () => {
    const { embed, asked } = open();
    await embed("one");
    const other = new Database(file);
    other.exec("begin immediate");
    await embed("one", "two");
    await embed("two");
    other.exec("rollback");
    other.close();
    await embed("two");
    await embed("two");
    expect(asked).toEqual(["one", "two", "two", "two"]);
  });

  it("serves several processes at once", async () => {
    const code = `
      import { EmbeddingCache } from ${JSON.stringify(new URL("./embedding-cache.ts", import.meta.url).href)};
      const cache = new EmbeddingCache(${JSON.stringify(file)}, 1000, { now: () => ${clock.time} });
      const toKey = (index) => new Uint8Array(32).fill(index);
      for (let index = 0; index < 50; index += 1) {
        await cache.write([{ key: toKey(index), made: { vector: Float32Array.of(index, 1) } }]);
        const found = (await cache.read([toKey(index)])).get(0);
        if (found !== undefined && found.vector[0] !== index) throw new Error("another vector");
      }
      console.log(JSON.stringify(cache.takeNotices()));
      await cache.close();`;
    const run = () => promisify(execFile)(process.execPath, ["--input-type=module", "-e", code]);
    const printed = await Promise.all([run(), run(), run()]);
    expect(printed.map(({ stdout }) => stdout.trim())).toEqual(["[]", "[]", "[]"]);
    expect(count()).toBeGreaterThan(25);
  });
});

describe("a remote model", () => {
  it("is called once per text, also by the next process, unless the cache is turned off", async () => {
    let asked = 0;
    const server = createServer(async (request, response) => {
      let text = "";
      for await (const chunk of request) text += chunk;
      const { input } = JSON.parse(text) as { input: string[] };
      asked += input.length;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ data: input.map((one, index) => ({ index, embedding: [one.length, 1] })) }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closers.push(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const start = (embedderCache?: number) => {
      const search = {
        embedder: "here/tiny",
        embedderDimensions: 2,
        ...(embedderCache === 0 ? { embedderCache } : {}),
      };
      const { config } = loadConfig({
        home,
        env: {},
        overrides: { search, models: { providers: { here: { baseUrl } } } },
      });
      const embedder = openConfiguredEmbedder(config, { home, env: {} });
      closers.push(() => embedder.close());
      return embedder;
    };
    const [one, two] = [await start().embed([{ text: "abc" }]), await start().embed([{ text: "abc" }, { text: "d" }])];
    expect(two[0]).toEqual(one[0]);
    expect(asked).toBe(2);
    await start().embedQuery("abc");
    await start().embedQuery("abc");
    expect(asked).toBe(3);
    await start(0).embed([{ text: "abc" }]);
    expect(asked).toBe(4);
  });
});
