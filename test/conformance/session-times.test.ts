/** Times are written with their zone, and none moves: not through summaries of any depth, recall or an import. */
import { mkdirSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { formatStamp } from "../../src/domain/index.ts";
import type { Varve } from "../../src/index.ts";
import { onEveryEngine } from "../support/engines.ts";

const minuteMs = 60_000;

onEveryEngine("session times", (get) => {
  for (const timezone of ["Asia/Shanghai", "America/New_York", "UTC"]) {
    test(`summaries of every depth and recalled messages keep their times in ${timezone}`, async () => {
      const varve: Varve = await get().another({
        config: {
          timezone,
          search: { embedder: "none" },
          context: { leafChunkTokens: 300, leafMinFanout: 2, condensedMinFanout: 2, freshTailCount: 2 },
        },
      });
      const session = await varve.sessions.resolve({ key: `agent:main:times:direct:${timezone.replace("/", "-")}` });
      // Across the end of summer time in New York.
      const start = Date.UTC(2026, 10, 1, 4, 30);
      const times = Array.from({ length: 160 }, (_, index) => start + index * 15 * minuteMs);
      await varve.context.ingest(
        session,
        times.map((time, index) => ({
          id: `t${index}`,
          role: index % 2 ? ("assistant" as const) : ("user" as const),
          content: `Berth ${index}: we chose pier ${index * 3} for the ferry Aurora${index} because of the tide ${index}.`,
          time,
        })),
      );
      await varve.context.compact(session);
      const { summaries } = await varve.context.overview(session);
      expect(Math.max(...summaries.map((one) => one.depth))).toBeGreaterThanOrEqual(2);
      const known = new Set(times.map((time) => formatStamp(time, timezone)));
      const opened = await varve.context.expand({
        summaryIds: summaries.map((one) => one.id),
        maxDepth: 50,
        tokenCap: 1_000_000,
      });
      const texts: string[] = [];
      const collect = (nodes: typeof opened.nodes): void => {
        for (const node of nodes) {
          texts.push(node.summary.content);
          collect(node.children);
        }
      };
      collect(opened.nodes);
      const stamps = texts.flatMap((text) =>
        [...text.matchAll(/\[(\d{4}-\d\d-\d\d \d\d:\d\d[^\]\s]*)/g)].map((found) => found[1] ?? ""),
      );
      expect(stamps.length).toBeGreaterThan(5);
      for (const stamp of stamps) expect(known).toContain(stamp);
      const view = await varve.context.assemble(session, { budgetTokens: 1_500, prompt: "Which pier for Aurora7?" });
      const shown = JSON.stringify(view.messages);
      const [first, last] = [summaries[0]?.earliestAt ?? 0, summaries.at(-1)?.latestAt ?? 0];
      expect(shown).toContain(formatStamp(first, timezone));
      expect(shown).toContain(formatStamp(last, timezone));
      const recalled = [...shown.matchAll(/\[msg#\d+ (\d{4}-\d\d-\d\d \d\d:\d\d\S*)/g)].map((found) => found[1] ?? "");
      for (const stamp of recalled) expect(known).toContain(stamp);
      await varve.close();
    });
  }

  test("an imported session started with its first message, not with the import", async () => {
    const { home, varve } = get();
    const start = Date.UTC(2025, 2, 1, 9);
    const lines = Array.from({ length: 100 }, (_, index) =>
      JSON.stringify({
        role: index % 2 ? "assistant" : "user",
        content: `Line ${index}`,
        timestamp: new Date(start + index * minuteMs).toISOString(),
      }),
    );
    mkdirSync(`${home}/times`, { recursive: true });
    writeFileSync(`${home}/times/past.jsonl`, `${lines.join("\n")}\n`);
    await varve.import([`${home}/times`], { source: "jsonl" });
    const session = await varve.sessions.get("agent:main:jsonl:direct:past");
    expect(session).toMatchObject({
      sessionStartedAt: start,
      lastInteractionAt: start + 98 * minuteMs,
      messageCount: 100,
    });
    expect(session.createdAt).toBe(start);
    expect((await varve.sessions.history(session))[0]?.startedAt).toBe(start);
  });
});
