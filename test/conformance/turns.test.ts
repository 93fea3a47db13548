import { expect, test } from "vitest";
import type { Message } from "../../src/domain/index.ts";
import type { EngineEvent, Session } from "../../src/index.ts";
import { onEveryEngine } from "../support/engines.ts";

const sentence = (index: number) =>
  `Message ${index}: we decided to deploy server ${index} to /srv/app${index} on port ${4000 + index} because the old one failed. `;

const message = (index: number, words = 4): Message => ({
  id: `m${index}`,
  role: index % 2 ? "assistant" : "user",
  content: sentence(index).repeat(words),
});
const messages = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => message(from + index));

onEveryEngine(
  "turns",
  (get) => {
    let count = 0;
    const fresh = async (): Promise<Session> => {
      count += 1;
      return get().varve.sessions.resolve({ key: `agent:main:turn:direct:t${count}` });
    };
    const healthy = async () =>
      expect((await get().varve.doctor()).findings.flatMap((finding) => finding.faults)).toEqual([]);

    test("a turn is written once, however often and by however many it is committed", async () => {
      const under = get();
      const session = await fresh();
      const other = await under.another();
      const all = await Promise.all(
        Array.from({ length: 6 }, (_, index) =>
          (index % 2 ? under.varve : other).context.commitTurn(session, "turn-1", [
            { role: "user", content: "What is the plan?" },
            { role: "assistant", content: "To go on." },
          ]),
        ),
      );
      expect(all.filter((one) => one.status === "committed")).toHaveLength(1);
      expect(new Set(all.map((one) => JSON.stringify(one.entries))).size).toBe(1);
      expect((await under.varve.sessions.get(session.key)).messageCount).toBe(2);
      const again = await under.varve.context.commitTurn(session, "turn-1", [{ role: "user", content: "Other words" }]);
      expect(again).toMatchObject({ status: "duplicate", appended: 2 });
      expect((await under.varve.context.commitTurn(session, "turn-2", [message(9)])).status).toBe("committed");
      await expect(under.varve.context.commitTurn(session, "", [message(1)])).rejects.toMatchObject({
        code: "BAD_REQUEST",
      });
    });

    test("after turns, what is due is done from a durable row: a leaf first, and condensed up to the depth that is set", async () => {
      const under = get();
      const { varve } = under;
      const session = await fresh();
      for (let turn = 0; turn < 40; turn += 1) {
        const done = await varve.context.commitTurn(session, `turn-${turn}`, messages(turn * 4, turn * 4 + 4));
        expect(done.appended).toBe(4);
      }
      expect((await varve.context.overview(session)).summaries).toEqual([]);
      // The row waits for the next worker, also in another process.
      const other = await under.another();
      const events: EngineEvent[] = [];
      other.onEvent((event) => events.push(event));
      await other.jobs.drain();
      const { summaries } = await varve.context.overview(session);
      expect(summaries.length).toBeGreaterThan(1);
      expect(Math.max(...summaries.map((one) => one.depth))).toBeLessThanOrEqual(1);
      expect(events.length).toBeGreaterThan(0);
      expect(events[0]?.data).toMatchObject({ trigger: "leaf", status: "done" });
      expect((await varve.status()).jobs).toEqual({});
      expect((await varve.sessions.get(session.key)).compactionCount).toBe(events.length);
      const page = await varve.transcripts.read(session, { limit: 1000 });
      expect(page.entries.filter((entry) => entry.type === "compaction")).toHaveLength(events.length);
      await healthy();
    });

    test("what a provider counted makes a sweep due, and what it says of a prompt that is too long does so at once", async () => {
      const { varve } = get();
      const session = await fresh();
      await varve.context.ingest(session, messages(0, 60));
      await varve.context.afterTurn(session, { windowTokens: 8_000, observedTokens: 7_900 });
      await varve.jobs.drain();
      const swept = await varve.context.overview(session);
      expect(swept.summaries.length).toBeGreaterThan(0);
      const before = swept.summaryTokens + swept.rawTokens;
      const overflow = new Error("prompt is too long: 213462 tokens > 200000 maximum");
      const result = await varve.context.recoverFromOverflow(session, overflow, { windowTokens: 2_000 });
      expect(result?.tokensAfter).toBeLessThan(before);
      expect(await varve.context.recoverFromOverflow(session, new Error("overloaded"), {})).toBeUndefined();
      await healthy();
    });

    test("sessions that are left alone by the settings are recorded and not compacted", async () => {
      const { varve } = get();
      const session = await varve.sessions.resolve({ key: "agent:main:quiet:direct:one" });
      await varve.context.commitTurn(session, "t", messages(0, 60));
      expect(await varve.jobs.drain()).toBe(0);
      expect((await varve.context.overview(session)).summaries).toEqual([]);
      expect(session.messageCount).toBe(0);
      expect((await varve.sessions.get(session.key)).messageCount).toBe(60);
    });

    test("after /new only deep summaries stay in view, and what left was summarised and can be found", async () => {
      const { varve } = get();
      const session = await fresh();
      await varve.context.ingest(session, messages(0, 80));
      const renewed = await varve.sessions.renew(session, "new");
      await varve.context.ingest(renewed, [{ id: "n", role: "user", content: "A fresh start." }]);
      await varve.jobs.drain();
      const { summaries } = await varve.context.overview(renewed);
      expect(summaries.length).toBeGreaterThan(0);
      const view = await varve.context.assemble(renewed, { budgetTokens: 8_000 });
      const shown = view.trace.filter((item) => item.kind === "summary" && item.in).map((item) => item.id);
      expect(shown).toEqual(summaries.filter((one) => one.depth >= 2).map((one) => one.id));
      expect(view.messages.at(-1)?.content).toBe("A fresh start.");
      expect(JSON.stringify(view.messages)).not.toContain("Message 79");
      const asked = await varve.context.assemble(renewed, { budgetTokens: 8_000, prompt: "server 42 port" });
      expect(JSON.stringify(asked.messages)).toContain("/srv/app42");
      await healthy();
    });

    test("a history that was imported keeps its end word for word; the rest is summarised by what is built in", async () => {
      const under = get();
      const { varve } = under;
      const lines = messages(0, 120).map(({ id, role, content }) => JSON.stringify({ id, role, content }));
      const { mkdirSync, writeFileSync } = await import("node:fs");
      mkdirSync(`${under.home}/in`, { recursive: true });
      writeFileSync(`${under.home}/in/history.jsonl`, `${lines.join("\n")}\n`);
      const report = await varve.import([`${under.home}/in`], { source: "jsonl" });
      expect(report.imported).toBe(120);
      expect(await varve.jobs.drain()).toBe(0);
      under.clock.advance(61_000);
      expect(await varve.jobs.drain()).toBe(1);
      const session = await varve.sessions.get("agent:main:jsonl:direct:history");
      const { summaries, rawTokens } = await varve.context.overview(session);
      expect(summaries.length).toBeGreaterThan(0);
      expect(summaries.every((one) => one.level === "extractive")).toBe(true);
      expect(rawTokens).toBeLessThan(1_000);
      await healthy();
    });

    test("old tool results are cut short at a compaction and not before, and the whole stays in the log", async () => {
      const { varve } = get();
      const session = await fresh();
      const output = "line of output with words in it\n".repeat(300);
      const call = (index: number): Message[] => [
        { id: `u${index}`, role: "user", content: `Run it, time ${index}.` },
        {
          id: `c${index}`,
          role: "assistant",
          content: [{ type: "tool_call", callId: `k${index}`, name: "run", input: {} }],
        },
        { id: `r${index}`, role: "tool", content: [{ type: "tool_result", callId: `k${index}`, output }] },
        { id: `a${index}`, role: "assistant", content: `Done, time ${index}.` },
      ];
      await varve.context.ingest(session, messages(0, 40));
      for (let index = 0; index < 4; index += 1) await varve.context.ingest(session, call(index));
      const shown = async () =>
        JSON.stringify((await varve.context.assemble(session, { budgetTokens: 60_000 })).messages);
      expect(await shown()).not.toContain("characters left out");
      await varve.context.compact(session, { keepRecentTokens: 10_500 });
      const after = await shown();
      expect(after).toContain("characters left out");
      expect(after.split("line of output").length).toBeLessThan(4 * 300);
      const entries = (await varve.transcripts.read(session, { limit: 100 })).entries;
      expect(entries.filter((entry) => JSON.stringify(entry).includes(JSON.stringify(output)))).toHaveLength(4);
    });

    test("figures of a provider make the estimates for its model better, and the budget is kept in its own tokens", async () => {
      const { varve } = get();
      const session = await fresh();
      await varve.context.ingest(session, messages(0, 40));
      const plain = await varve.context.assemble(session, { budgetTokens: 1_500, model: "wide" });
      for (let turn = 0; turn < 5; turn += 1) {
        await varve.context.afterTurn(session, { model: "wide", estimatedTokens: 1_000, observedTokens: 1_500 });
      }
      const corrected = await varve.context.assemble(session, { budgetTokens: 1_500, model: "wide" });
      expect(corrected.messages.length).toBeLessThan(plain.messages.length);
      expect(corrected.estimatedTokens).toBeLessThanOrEqual(1_500);
      const other = await varve.context.assemble(session, { budgetTokens: 1_500, model: "other" });
      expect(other.messages.length).toBe(plain.messages.length);
    });
  },
  {
    config: {
      context: {
        freshTailCount: 8,
        leafChunkTokens: 1_500,
        leafMinFanout: 3,
        bootstrapMaxTokens: 800,
        ignoreSessionPatterns: ["agent:*:quiet:**"],
      },
    },
  },
);
