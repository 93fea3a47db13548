/** What a session id sees and what it does not: after `/new`, a daily reset, an undo, a compaction, in a fork. */
import { expect, test } from "vitest";
import type { ConfigInput } from "../../src/config/index.ts";
import type { Message } from "../../src/domain/index.ts";
import type { ContextView, Session, Varve } from "../../src/index.ts";
import { onEveryEngine } from "../support/engines.ts";

const hourMs = 3_600_000;
const says = (name: string, index: number, words = 4): Message => ({
  id: `${name}${index}`,
  role: index % 2 ? "assistant" : "user",
  content:
    `${name} message ${index}: we decided to move server ${index} to rack ${index + 7} because port ${4000 + index} was taken. `.repeat(
      words,
    ),
});
const talk = (name: string, count: number, words?: number) =>
  Array.from({ length: count }, (_, index) => says(name, index, words));
const shownText = (view: ContextView) => JSON.stringify(view.messages);

onEveryEngine("session boundaries", (get) => {
  let count = 0;
  const open = async (config: ConfigInput = {}, models = {}): Promise<{ varve: Varve; session: Session }> => {
    count += 1;
    const varve = await get().another({ config: { search: { embedder: "none" }, ...config }, models });
    return { varve, session: await varve.sessions.resolve({ key: `agent:main:bound:direct:b${count}` }) };
  };
  const healthy = async (varve: Varve) =>
    expect((await varve.doctor()).findings.flatMap((finding) => finding.faults)).toEqual([]);

  for (const reset of ["/new", "idle", "daily"] as const) {
    test(`the first prompt after ${reset} does not bring back the last answer`, async () => {
      const under = get();
      const mode = reset === "/new" ? "none" : reset;
      const { varve } = await open({ session: { reset: { mode, idleMinutes: 60, atHour: 4 } }, timezone: "UTC" });
      const address = {
        channel: "telegram",
        account: reset.replace("/", ""),
        group: { type: "group" as const, id: reset.replace("/", "") },
      };
      const first = await varve.sessions.resolve(address);
      await varve.context.ingest(first, [
        { id: "q1", role: "user", content: "Which colour should the fence have?" },
        { id: "a1", role: "assistant", content: "Paint it ochre, two coats, and let it dry for a day." },
      ]);
      if (reset !== "/new") under.clock.advance(25 * hourMs);
      const question = "How do I boil an egg?";
      const next = await varve.sessions.receive(address, reset === "/new" ? `/new ${question}` : question);
      expect(next.session.sessionId).not.toBe(first.sessionId);
      await varve.context.ingest(next.session, [{ id: "q2", role: "user", content: next.text }]);
      const view = await varve.context.assemble(next.session, { budgetTokens: 8_000, prompt: question });
      expect(view.messages.map((message) => message.content)).toEqual([question]);
      await varve.close();
    });
  }

  test("summarising an ended session never takes messages of the new one, however many arrive meanwhile", async () => {
    let begun = false;
    let renewed: Session | undefined;
    const summary = async (): Promise<string> => {
      // The new session goes on while the old one is summarised.
      if (!begun && renewed) {
        begun = true;
        await varve.context.ingest(renewed, talk("later", 30));
      }
      return "They moved servers.\nFiles: none\nExpand for details about: racks";
    };
    const { varve, session } = await open({ context: { leafChunkTokens: 1_000 } }, { summary });
    await varve.context.ingest(session, talk("old", 60));
    renewed = await varve.sessions.renew(session, "new");
    await varve.context.ingest(renewed, talk("new", 2));
    await varve.jobs.drain();
    expect(begun).toBe(true);
    const { summaries } = await varve.context.overview(renewed);
    const start = (await varve.transcripts.read(renewed, { limit: 100 })).entries.find((one) => one.id === "new0");
    expect(summaries.length).toBeGreaterThan(3);
    expect(summaries.every((one) => one.lastSeq < (start?.seq ?? 0))).toBe(true);
    const view = await varve.context.assemble(renewed, { budgetTokens: 20_000 });
    for (const message of [...talk("new", 2), ...talk("later", 30)])
      expect(view.messages).toContainEqual(expect.objectContaining({ content: message.content }));
    await healthy(varve);
    await varve.close();
  });

  test("no summary covers both sides of a session's beginning, also when the window is full", async () => {
    const { varve, session } = await open({ context: { leafChunkTokens: 600, leafMinFanout: 3, freshTailCount: 4 } });
    await varve.context.ingest(session, talk("old", 9));
    const renewed = await varve.sessions.renew(session, "new");
    await varve.context.ingest(renewed, talk("new", 80));
    await varve.context.compact(renewed, { budgetTokens: 2_500 });
    const { summaries } = await varve.context.overview(renewed);
    const start =
      (await varve.transcripts.read(renewed, { limit: 200 })).entries.find((one) => one.id === "new0")?.seq ?? 0;
    expect(summaries.some((one) => one.firstSeq >= start)).toBe(true);
    expect(summaries.filter((one) => one.firstSeq < start && one.lastSeq >= start)).toEqual([]);
    const view = await varve.context.assemble(renewed, { budgetTokens: 2_500 });
    expect(shownText(view)).not.toContain("old message");
    expect(view.estimatedTokens).toBeLessThanOrEqual(2_500);
    await healthy(varve);
    await varve.close();
  });

  test("a short ended session does not hold up the compaction of the next", async () => {
    const { varve, session } = await open({ context: { freshTailCount: 4 } });
    await varve.context.ingest(session, [
      { id: "h", role: "user", content: "Hi" },
      { id: "i", role: "assistant", content: "Hello" },
    ]);
    const renewed = await varve.sessions.renew(session, "new");
    await varve.context.ingest(renewed, talk("new", 80));
    const result = await varve.context.compact(renewed, { budgetTokens: 3_000 });
    expect(result.tokensAfter).toBeLessThanOrEqual(3_000);
    await healthy(varve);
    await varve.close();
  });

  test("undoing a daily reset holds: the next message stays in the restored session", async () => {
    const under = get();
    const { varve } = await open({ session: { reset: { mode: "daily", atHour: 4 } }, timezone: "UTC" });
    const address = { channel: "telegram", group: { type: "group" as const, id: "daily-undo" } };
    const first = await varve.sessions.resolve(address);
    await varve.context.ingest(first, [{ id: "d1", role: "user", content: "Remember the ladder." }]);
    under.clock.advance(30 * hourMs);
    const second = await varve.sessions.resolve(address);
    expect(second.sessionId).not.toBe(first.sessionId);
    const back = await varve.sessions.restore(second);
    expect(back.sessionId).toBe(first.sessionId);
    under.clock.advance(1_000);
    expect((await varve.sessions.resolve(address)).sessionId).toBe(first.sessionId);
    const view = await varve.context.assemble(back, { budgetTokens: 4_000 });
    expect(shownText(view)).toContain("ladder");
    // The next day ends it as usual.
    under.clock.advance(24 * hourMs);
    expect((await varve.sessions.resolve(address)).sessionId).not.toBe(first.sessionId);
    await varve.close();
  });

  test("after an undo a summary that covers two sessions shows nothing of the earlier one", async () => {
    const { varve, session } = await open({ context: { leafChunkTokens: 500, leafMinFanout: 2, freshTailCount: 2 } });
    await varve.context.ingest(session, talk("first", 8));
    const second = await varve.sessions.renew(session, "new");
    await varve.context.ingest(second, talk("second", 8));
    const third = await varve.sessions.renew(second, "new");
    await varve.context.ingest(third, talk("third", 4));
    await varve.context.compact(third);
    const back = await varve.sessions.restore(third);
    expect(back.sessionId).toBe(second.sessionId);
    const view = await varve.context.assemble(back, { budgetTokens: 20_000 });
    expect(shownText(view)).not.toMatch(/first message|third message/);
    expect(shownText(view)).toContain("second message 7");
    await healthy(varve);
    await varve.close();
  });

  test("newSessionRetainDepth -1 keeps everything, 0 all summaries, and the default only deep ones", async () => {
    for (const [newSessionRetainDepth, old] of [
      [-1, true],
      [0, false],
      [2, false],
    ] as const) {
      const { varve, session } = await open({ context: { newSessionRetainDepth } });
      await varve.context.ingest(session, talk("old", 6));
      const renewed = await varve.sessions.renew(session, "new");
      await varve.context.ingest(renewed, talk("new", 2));
      const before = await varve.context.assemble(renewed, { budgetTokens: 20_000 });
      expect(shownText(before).includes("old message 5"), `depth ${newSessionRetainDepth}`).toBe(old);
      await varve.jobs.drain();
      const after = await varve.context.assemble(renewed, { budgetTokens: 20_000 });
      const summaries = after.trace.filter((item) => item.kind === "summary" && item.in);
      if (newSessionRetainDepth === 2) expect(summaries).toEqual([]);
      if (newSessionRetainDepth === 0) expect(summaries.length).toBeGreaterThan(0);
      if (newSessionRetainDepth === -1) expect(shownText(after)).toContain("old message 5");
      await varve.close();
    }
  });

  const forkOf = async (varve: Varve, session: Session, options: { atEntry?: string; maxTokens?: number } = {}) => {
    count += 1;
    return varve.sessions.fork(session, { key: `agent:main:bound:direct:fork${count}`, ...options });
  };

  test("a fork sees what its parent saw: its summaries and its tail, and keeps it when the parent goes on", async () => {
    const { varve, session } = await open({ context: { leafChunkTokens: 2_000, leafMinFanout: 3, freshTailCount: 6 } });
    await varve.context.ingest(session, talk("old", 160));
    await varve.context.compact(session, { budgetTokens: 4_000 });
    const seen = await varve.context.assemble(session, { budgetTokens: 6_000 });
    expect(seen.trace.some((item) => item.kind === "summary" && item.in)).toBe(true);
    const { session: child, isolated } = await forkOf(varve, session);
    expect(isolated).toBe(false);
    const view = await varve.context.assemble(child, { budgetTokens: 6_000 });
    expect(view.messages).toEqual(seen.messages);
    expect(view.estimatedTokens).toBe(seen.estimatedTokens);
    await varve.context.ingest(session, talk("parent", 60));
    await varve.context.compact(session, { budgetTokens: 3_000 });
    expect((await varve.context.assemble(child, { budgetTokens: 6_000 })).messages).toEqual(seen.messages);
    // The child is compacted on its own, over the parent's summaries, and all of it opens again.
    await varve.context.ingest(child, talk("child", 120));
    await varve.context.compact(child, { budgetTokens: 3_000 });
    const { summaries } = await varve.context.overview(child);
    const ids = summaries.map((one) => one.id);
    const opened = await varve.context.expand({
      summaryIds: ids,
      maxDepth: 50,
      tokenCap: 10_000_000,
      includeMessages: true,
    });
    expect(opened.cut).toBeUndefined();
    expect(JSON.stringify(opened)).toContain("old message 3:");
    await healthy(varve);
    await varve.close();
  });

  test("a fork after /new sees nothing from before it, and one at an earlier entry sees what was seen there", async () => {
    const { varve, session } = await open();
    await varve.context.ingest(session, talk("old", 6));
    const renewed = await varve.sessions.renew(session, "new");
    await varve.context.ingest(renewed, talk("new", 4));
    const { session: child } = await forkOf(varve, renewed);
    await varve.context.ingest(child, talk("child", 2));
    const view = shownText(await varve.context.assemble(child, { budgetTokens: 8_000 }));
    expect(view).not.toContain("old message");
    expect(view).toContain("new message 3");
    expect(view).toContain("child message 1");
    const grandchild = (await forkOf(varve, child)).session;
    const further = shownText(await varve.context.assemble(grandchild, { budgetTokens: 8_000 }));
    expect(further).not.toContain("old message");
    expect(further).toContain("child message 1");
    const entry = (await varve.transcripts.read(session, { limit: 50 })).entries.find((one) => one.id === "old3");
    const early = (await forkOf(varve, renewed, { atEntry: `msg#${entry?.seq}` })).session;
    const earlier = shownText(await varve.context.assemble(early, { budgetTokens: 8_000 }));
    expect(earlier).toContain("old message 3");
    expect(earlier).not.toMatch(/old message 4|new message/);
    // A citation of the parent works in the child as well.
    const inherited = await forkOf(varve, child, { atEntry: `msg#${entry?.seq}` });
    expect(shownText(await varve.context.assemble(inherited.session, { budgetTokens: 8_000 }))).toContain(
      "old message 3",
    );
    await expect(forkOf(varve, renewed, { atEntry: "msg#999999" })).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
    await healthy(varve);
    await varve.close();
  });

  test("whether a parent is too large is judged by its view, not by its log", async () => {
    const { varve, session } = await open({ context: { freshTailCount: 4 } });
    await varve.context.ingest(session, talk("old", 200));
    const whole = await forkOf(varve, session, { maxTokens: 9_000 });
    expect(whole).toMatchObject({ isolated: true, reason: expect.stringContaining("9000 tokens") });
    await varve.context.compact(session);
    expect((await forkOf(varve, session, { maxTokens: 9_000 })).isolated).toBe(false);
    const renewed = await varve.sessions.renew(session, "new");
    await varve.context.ingest(renewed, talk("new", 1));
    expect((await forkOf(varve, renewed, { maxTokens: 300 })).isolated).toBe(false);
    await varve.close();
  });

  test("a conversation that fits its budget is not compacted, and no compaction makes it larger", async () => {
    for (const messages of [6, 9, 14, 30]) {
      const { varve, session } = await open({ context: { freshTailCount: 2, leafChunkTokens: 400 } });
      await varve.context.ingest(session, talk("fit", messages, 3));
      const whole = await varve.context.assemble(session, { budgetTokens: 100_000 });
      const roomy = await varve.context.compact(session, { budgetTokens: 2 * whole.estimatedTokens });
      expect(roomy).toMatchObject({ status: "nothing", tokensAfter: roomy.tokensBefore });
      expect((await varve.context.overview(session)).summaries).toEqual([]);
      // Every tag counts: what a compaction reports is what the coarsest view takes.
      const tight = await varve.context.compact(session, { budgetTokens: Math.max(300, whole.estimatedTokens - 20) });
      expect(tight.tokensAfter).toBeLessThanOrEqual(tight.tokensBefore);
      const { contextTokens } = await varve.context.assemble(session, { budgetTokens: 100_000 });
      expect(Math.abs(contextTokens - tight.tokensAfter)).toBeLessThanOrEqual(0.02 * contextTokens);
      await varve.close();
    }
  });

  test("recall leaves the room that a compaction made, and brings only what is relevant", async () => {
    const { varve, session } = await open({ context: { freshTailCount: 20 } });
    const messages = Array.from({ length: 300 }, (_, index): Message => {
      const subject = index % 50 === 7 ? "the lighthouse of Zanzibar" : "the tide tables";
      const content = `Turn ${index} on ${subject}: ${"several things were said, one after the other. ".repeat(7)}`;
      return { id: `r${index}`, role: index % 2 ? "assistant" : "user", content };
    });
    await varve.context.ingest(session, messages);
    await varve.context.afterTurn(session, { windowTokens: 32_000, observedTokens: 30_000 });
    await varve.jobs.drain();
    const look = (prompt: string) => varve.context.assemble(session, { windowTokens: 32_000, prompt, record: false });
    // A window of 32,000 tokens leaves 24,000 for the prompt.
    for (const prompt of ["How high is the lighthouse of Zanzibar?", "Which things were said on the tide tables?"]) {
      const { contextTokens, estimatedTokens } = await look(prompt);
      expect(contextTokens).toBeLessThan(12_000);
      expect(estimatedTokens).toBeLessThanOrEqual(0.88 * 24_000);
    }
    const { trace } = await look("How high is the lighthouse of Zanzibar?");
    const recalled = trace.filter((item) => item.kind === "recall" && item.in);
    expect(recalled.length).toBeGreaterThan(0);
    expect(recalled.reduce((sum, item) => sum + item.tokens, 0)).toBeLessThan(3_000);
    await varve.close();
  });

  test("the summaries for callers that keep the newer messages respect the session too", async () => {
    const { varve, session } = await open({ context: { leafChunkTokens: 600, freshTailCount: 2 } });
    await varve.context.ingest(session, talk("old", 20));
    const renewed = await varve.sessions.renew(session, "new");
    await varve.context.ingest(renewed, talk("new", 40));
    await varve.context.compact(renewed, { budgetTokens: 1_500 });
    const { summaries } = await varve.context.summaryPrefix(renewed);
    expect(summaries.length).toBeGreaterThan(0);
    expect(summaries.map((one) => one.text).join("\n")).not.toContain("old message");
    await varve.close();
  });
});
