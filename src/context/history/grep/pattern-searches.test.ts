import { afterEach, describe, expect, it, vi } from "vitest";
import { holdTimeouts } from "../../../domain/held-timeouts.test-util.ts";
import { PatternSearches } from "./pattern-searches.ts";
import { SearchTimeout } from "./thread-matcher.ts";

/** Minutes of work for the linear engine. */
const slow = "(?i)(a|b|c|d|e)*(.{0,500}x){2}$";
const long = "abcde fgh ".repeat(240_000);
const settings = { timeoutMs: 600_000, running: 2, runningPerCaller: 1, waitingPerCaller: 10 };

afterEach(() => vi.restoreAllMocks());

describe("a search by a pattern", () => {
  it("finds texts and lines", async () => {
    const searches = new PatternSearches(settings);
    const found = await searches.run("b\\d", { caller: "a" }, async (matcher) => ({
      texts: await matcher.findTexts(["a1", "b2", "xb3", "b4"], 2),
      lines: await matcher.findLines("a1\nb2\nxb3", 10),
    }));
    expect(found.texts).toEqual([
      { index: 1, from: 0, to: 2 },
      { index: 2, from: 1, to: 3 },
    ]);
    expect(found.lines).toEqual([
      { line: 2, from: 3, to: 5 },
      { line: 3, from: 7, to: 9 },
    ]);
  });

  it("reports a pattern that cannot be used", async () => {
    const searches = new PatternSearches(settings);
    const bad = searches.run("(a", { caller: "a" }, async () => undefined);
    await expect(bad).rejects.toMatchObject({
      code: "BAD_REQUEST",
      message: expect.stringContaining("cannot be used"),
    });
    expect(await searches.run("a", { caller: "a" }, (matcher) => matcher.findTexts(["a"], 1))).toHaveLength(1);
  });

  it("ends when its time is over, and another one runs after it", async () => {
    const deadline = holdTimeouts();
    const searches = new PatternSearches(settings);
    const running = searches.run(slow, { caller: "a" }, (matcher) => {
      const found = matcher.findTexts([long], 1);
      setImmediate(() => deadline.expireLast());
      return found;
    });
    await expect(running).rejects.toBeInstanceOf(SearchTimeout);
    expect(await searches.run("fgh", { caller: "a" }, (matcher) => matcher.findTexts([long], 1))).toHaveLength(1);
  });

  it("ends when its caller goes away, and leaves others alone meanwhile", async () => {
    const searches = new PatternSearches(settings);
    const controller = new AbortController();
    const started = Promise.withResolvers<void>();
    const running = searches.run(slow, { caller: "a", signal: controller.signal }, (matcher) => {
      const found = matcher.findTexts([long], 1);
      started.resolve();
      return found;
    });
    await started.promise;
    expect(await searches.run("fgh", { caller: "b" }, (matcher) => matcher.findTexts([long], 1))).toHaveLength(1);
    controller.abort();
    await expect(running).rejects.toMatchObject({ code: "ABORTED" });
  });

  it("uses several threads, and gives each call its own matches", async () => {
    for (const threads of [1, 2, 3]) {
      const searches = new PatternSearches({ ...settings, threads });
      const texts = Array.from({ length: 12 }, (_, index) => [`a${index}`, `b${index}`, "c", `b${index + 1}`]);
      const found = await searches.run("b\\d+", { caller: "a" }, (matcher) => {
        expect(matcher.parallel).toBe(threads);
        return Promise.all(texts.map((some) => matcher.findTexts(some, 5)));
      });
      expect(found.map((matches) => matches.map(({ index }) => index))).toEqual(texts.map(() => [1, 3]));
    }
  });

  it("ends all its threads when its time is over", async () => {
    const deadline = holdTimeouts();
    const searches = new PatternSearches({ ...settings, threads: 2 });
    let running: Promise<unknown>[] = [];
    const all = searches.run(slow, { caller: "a" }, async (matcher) => {
      running = [long, long, long].map((text) => matcher.findTexts([text], 1));
      setImmediate(() => deadline.expireLast());
      return Promise.all(running);
    });
    await expect(all).rejects.toBeInstanceOf(SearchTimeout);
    const reasons = (await Promise.allSettled(running)).map((one) => one.status === "rejected" && one.reason);
    for (const reason of reasons) expect(reason).toBeInstanceOf(SearchTimeout);
    expect(await searches.run("fgh", { caller: "a" }, (matcher) => matcher.findTexts([long], 1))).toHaveLength(1);
  });
});
