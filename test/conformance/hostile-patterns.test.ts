/** Regular expressions that take very long, on every engine. */
import { expect, test } from "vitest";
import { onEveryEngine } from "../support/engines.ts";

/** Minutes of work over the stored messages. */
const slow = "(?i)(a|b|c|d|e)*(.{0,500}x){2}$";
const never = 600_000;

onEveryEngine("a pattern that takes very long", (get) => {
  const fill = async () => {
    const { varve } = get();
    const session = await varve.sessions.resolve({ key: "agent:main:test:direct:patterns" });
    const content = "abcde fgh ".repeat(12_000);
    const messages = Array.from({ length: 20 }, (_, index) => ({
      id: `m${index}`,
      role: "user" as const,
      content: `${index === 19 ? "needle" : ""} ${content}`,
    }));
    await varve.context.ingest(session, messages);
    return session;
  };

  test("is stopped at its deadline with what to do, and the event loop keeps turning", async () => {
    const session = await fill();
    const varve = await get().another({ config: { search: { regexTimeoutMs: 300 } } });
    let turns = 0;
    const searching = varve.context.grep({ session, pattern: slow }).finally(() => {
      turns *= -1;
    });
    while (turns >= 0) {
      turns += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    const found = await searching;
    expect(-turns).toBeGreaterThan(10);
    expect(found.matches).toEqual([]);
    expect(found.cut).toMatch(/stopped.*simpler pattern.*regexTimeoutMs/);
  });

  test("ends with its request", async () => {
    const session = await fill();
    const varve = await get().another({ config: { search: { regexTimeoutMs: never } } });
    const controller = new AbortController();
    const searching = varve.context.grep({ session, pattern: slow, signal: controller.signal });
    const other = { name: "other", rights: new Set(["read"] as const) };
    // Another caller is answered while it runs.
    const found = await varve.context.grep({ session, pattern: "need[l]e", principal: other });
    expect(found.matches).toHaveLength(1);
    controller.abort();
    await expect(searching).rejects.toThrow();
  });
});
