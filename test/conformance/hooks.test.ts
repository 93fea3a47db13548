/** Functions of a program: before a reset, before a compaction, after a turn, and summarisers that settings name. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { ConfigInput } from "../../src/config/index.ts";
import { type Message, systemClock, systemRandom } from "../../src/domain/index.ts";
import {
  type CompactionPlan,
  type EndedTurn,
  type EngineEvent,
  estimateTokens,
  type OpenOptions,
  type Session,
  type SummariserRequest,
  type Varve,
  VarveError,
} from "../../src/index.ts";
import { modelSettings, startChatServer } from "../support/chat-server.ts";
import { onEveryEngine } from "../support/engines.ts";

const hourMs = 3_600_000;
const says = (index: number, words = 4): Message => ({
  id: `m${index}`,
  role: index % 2 ? "assistant" : "user",
  content: `Message ${index}: we decided to move server ${index} to rack ${index + 7}, port ${4000 + index}. `.repeat(
    words,
  ),
});
const talk = (count: number, words?: number) => Array.from({ length: count }, (_, index) => says(index, words));
/** A time limit that is over at once, for handlers that never end. */
const timeIsOver = async (): Promise<void> => undefined;
const never = (): Promise<never> => new Promise(() => undefined);
const failuresIn = (events: EngineEvent[]) => events.flatMap((one) => (one.type === "hook.failed" ? [one.data] : []));

onEveryEngine("hooks", (get) => {
  const engines: Varve[] = [];
  const folders: string[] = [];
  let count = 0;
  afterEach(async () => {
    for (const varve of engines.splice(0)) await varve.close();
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
  const open = async (config: ConfigInput = {}, more: OpenOptions = {}) => {
    count += 1;
    const varve = await get().another({ config: { search: { embedder: "none" }, ...config }, ...more });
    engines.push(varve);
    const events: EngineEvent[] = [];
    varve.onEvent((event) => events.push(event));
    return { varve, events, key: `agent:main:hooks:direct:h${count}` };
  };
  const openTalk = async (config: ConfigInput = {}, more: OpenOptions = {}, messages = talk(40)) => {
    const opened = await open(config, more);
    const session = await opened.varve.sessions.resolve({ key: opened.key });
    await opened.varve.context.ingest(session, messages);
    return { ...opened, session };
  };
  const healthy = async (varve: Varve) =>
    expect((await varve.doctor()).findings.flatMap((finding) => finding.faults)).toEqual([]);
  const textsOf = async (varve: Varve, session: Session) => {
    const { entries } = await varve.transcripts.read(session, { currentOnly: true, limit: 1000 });
    return entries.flatMap((entry) => (entry.type === "message" ? [String(entry.message.content)] : []));
  };

  test("before_reset is called before every kind of reset, while the ending session can be read", async () => {
    const { clock } = get();
    const { varve } = await open({
      timezone: "UTC",
      session: {
        resetByChannel: { idler: { mode: "idle", idleMinutes: 60 }, daily: { mode: "daily", atHour: 4 } },
        reset: { mode: "none" },
      },
    });
    const seen: unknown[] = [];
    varve.hooks.on("before_reset", async ({ session, kind, reason }) => {
      const current = await varve.sessions.get(session.key, session.agent);
      seen.push([kind, reason, current.sessionId === session.sessionId, await textsOf(varve, session)]);
    });
    const begin = async (channel: string) => {
      const address = { channel, group: { type: "group" as const, id: `hook-${channel}` } };
      const { session } = await varve.sessions.receive(address, "hello");
      await varve.context.ingest(session, [{ id: `${channel}1`, role: "user", content: `in ${channel}` }]);
      return { address, session };
    };
    const typed = await begin("typed");
    await varve.sessions.receive(typed.address, "/new and go on");
    await varve.sessions.receive(typed.address, "/reset");
    const idle = await begin("idler");
    const daily = await begin("daily");
    clock.advance(25 * hourMs);
    for (const { address, session } of [idle, daily]) {
      expect((await varve.sessions.resolve(address)).sessionId).not.toBe(session.sessionId);
    }
    await varve.sessions.renew(await varve.sessions.resolve(typed.address), "new");
    await varve.sessions.beginCronRun("hooked");
    await varve.sessions.beginCronRun("hooked");
    expect(seen).toEqual([
      ["new", "trigger", true, ["in typed"]],
      ["reset", "trigger", true, []],
      ["new", "idle", true, ["in idler"]],
      ["new", "daily", true, ["in daily"]],
      ["new", "request", true, []],
      ["reset", "cron", true, []],
    ]);
  });

  test("a before_reset handler that throws or never ends is reported, and the session is reset all the same", async () => {
    const { varve, events, session } = await openTalk({}, { hooks: { timeoutMs: 500, wait: timeIsOver } }, talk(3));
    let signal: AbortSignal | undefined;
    varve.hooks.on("before_reset", (_, call) => {
      signal = call.signal;
      return never();
    });
    const renewed = await varve.sessions.renew(session, "new");
    expect(renewed.sessionId).not.toBe(session.sessionId);
    expect(signal?.aborted).toBe(true);
    const other = await open();
    other.varve.hooks.on("before_reset", () => {
      throw new Error("the archive is full");
    });
    const again = await other.varve.sessions.renew(renewed, "reset");
    expect(again.sessionId).not.toBe(renewed.sessionId);
    expect(failuresIn(events)).toEqual([{ hook: "before_reset", error: "It took longer than 500 ms." }]);
    expect(failuresIn(other.events)).toEqual([{ hook: "before_reset", error: "the archive is full" }]);
    const ended = await varve.sessions.find(session.sessionId);
    expect(await textsOf(varve, ended)).toEqual(talk(3).map((message) => message.content));
    await healthy(varve);
  });

  test("concurrent messages announce an expired session once, and a removed handler is not called", async () => {
    const { clock } = get();
    const { varve, key } = await open({ session: { reset: { mode: "idle", idleMinutes: 60 } } });
    const first = await varve.sessions.resolve({ key });
    clock.advance(2 * hourMs);
    const ended: string[] = [];
    const remove = varve.hooks.on("before_reset", ({ session }) => ended.push(session.sessionId));
    const opened = await Promise.all([1, 2, 3, 4].map(() => varve.sessions.resolve({ key })));
    expect(new Set(opened.map((session) => session.sessionId)).size).toBe(1);
    expect(ended).toEqual([first.sessionId]);
    remove();
    await varve.sessions.renew(first, "new");
    expect(ended).toHaveLength(1);
  });

  test("session_before_compact sees the plan and may cancel it", async () => {
    const { varve, events, session } = await openTalk({ context: { customInstructions: "Keep the racks." } });
    const plans: CompactionPlan[] = [];
    const remove = varve.hooks.on("session_before_compact", (plan) => {
      plans.push(plan);
      return { cancel: true, reason: "not now" };
    });
    const result = await varve.context.compact(session, { instructions: "And the ports." });
    expect(result).toMatchObject({ status: "cancelled", because: "a hook cancelled it (not now)", leafPasses: 0 });
    expect((await varve.context.overview(session)).summaries).toEqual([]);
    expect(plans).toHaveLength(1);
    const { entries } = await varve.transcripts.read(session, { limit: 100 });
    const seqs = entries.flatMap((entry) => (entry.type === "message" ? [entry.seq] : []));
    expect(plans[0]).toMatchObject({
      reason: "manual",
      depth: 0,
      firstSeq: seqs[0],
      lastSeq: seqs.at(-1),
      messageCount: 40,
      instructions: "Keep the racks.\nAnd the ports.",
      canCancel: true,
    });
    expect(plans[0]?.session.sessionId).toBe(session.sessionId);
    expect(plans[0]?.text).toContain("Message 39: we decided to move server 39");
    expect(plans[0]?.targetTokens).toBeLessThan(plans[0]?.inputTokens ?? 0);
    expect(events).toContainEqual(
      expect.objectContaining({ type: "compaction", data: expect.objectContaining({ status: "cancelled" }) }),
    );
    const toBudget = await varve.context.compact(session, { budgetTokens: 1_500 });
    expect(toBudget).toMatchObject({ status: "cancelled", leafPasses: 0 });
    remove();
    expect((await varve.context.compact(session)).status).toBe("done");
    await healthy(varve);
  });

  test("a cancelled compaction in the background ends its job without a failure", async () => {
    const { varve, events, session } = await openTalk({ context: { leafChunkTokens: 500, freshTailCount: 4 } });
    const reasons: string[] = [];
    varve.hooks.on("session_before_compact", ({ reason, session: { key } }) => {
      // Sessions of other tests have jobs too.
      if (key === session.key) reasons.push(reason);
      return { cancel: true };
    });
    await varve.context.afterTurn(session);
    await varve.jobs.drain();
    expect(reasons).toEqual(["leaf"]);
    expect(events.filter((event) => event.type === "job.failed")).toEqual([]);
    expect((await varve.context.overview(session)).summaries).toEqual([]);
  });

  test("a cancellation has no effect when the prompt is too long, and the result says so", async () => {
    const { varve, session } = await openTalk();
    const seen: boolean[] = [];
    varve.hooks.on("session_before_compact", ({ canCancel }) => {
      seen.push(canCancel);
      return { cancel: true, reason: "busy" };
    });
    const error = new Error("prompt is too long: 9000 tokens > 4000 maximum");
    const result = await varve.context.recoverFromOverflow(session, error, { windowTokens: 4_000 });
    expect(result?.leafPasses).toBeGreaterThan(0);
    expect(result?.notes).toEqual([
      "A hook cancelled the compaction (busy); it ran because the prompt no longer fits the window.",
    ]);
    expect(new Set(seen)).toEqual(new Set([false]));
    await healthy(varve);
  });

  test("session_before_compact may supply the summary, which is stored with its writer", async () => {
    const { varve, session } = await openTalk({ context: { leafChunkTokens: 600, leafMinFanout: 100 } });
    const previous: (string | undefined)[] = [];
    varve.hooks.on("session_before_compact", ({ depth, firstSeq, previousSummary }) => {
      if (depth > 0) return undefined;
      previous.push(previousSummary);
      return { summary: `Servers moved from ${firstSeq} on.`, writer: "my-model" };
    });
    const result = await varve.context.compact(session);
    expect(result).toMatchObject({ status: "done", calls: 0, faults: [] });
    expect(previous[1]).toMatch(/^Servers moved from \d+ on\.$/);
    const { summaries } = await varve.context.overview(session);
    expect(summaries.length).toBeGreaterThan(2);
    for (const leaf of summaries) {
      expect(leaf.content).toBe(`Servers moved from ${leaf.firstSeq} on.`);
      expect(leaf).toMatchObject({ model: "hook/my-model", level: "normal" });
    }
    await healthy(varve);
  });

  test.each([
    ["an empty summary", { summary: "  " }, "The summary of a hook was refused: it is empty."],
    [
      "a summary that is longer than its input",
      { summary: "word ".repeat(9_000) },
      "The summary of a hook was refused",
    ],
  ])("%s of a hook is written by the built-in summariser instead", async (_, answer, fault) => {
    const { varve, session } = await openTalk();
    varve.hooks.on("session_before_compact", () => answer);
    const result = await varve.context.compact(session);
    expect(result).toMatchObject({ status: "done", levels: { extractive: 1 } });
    expect(result.faults[0]).toContain(fault);
    expect((await varve.context.overview(session)).summaries[0]?.content).toContain("server");
  });

  test("a compaction handler that fails, never ends or answers nonsense leaves the compaction as it is", async () => {
    const { varve, events, session } = await openTalk({}, { hooks: { timeoutMs: 700 } });
    const remove = varve.hooks.on("session_before_compact", () => {
      throw new Error("no idea");
    });
    expect((await varve.context.compact(session)).status).toBe("done");
    remove();
    const nonsense = { sumary: "A typing error" } as unknown as { summary: string };
    const second = await openTalk();
    second.varve.hooks.on("session_before_compact", () => nonsense);
    expect((await second.varve.context.compact(second.session)).status).toBe("done");
    const third = await openTalk({}, { hooks: { timeoutMs: 700, wait: timeIsOver } });
    third.varve.hooks.on("session_before_compact", never);
    expect((await third.varve.context.compact(third.session)).status).toBe("done");
    const errors = [events, second.events, third.events].map((list) => failuresIn(list)[0]?.error);
    expect(errors).toEqual([
      "no idea",
      "The answer is neither { cancel: true } nor { summary: TEXT }.",
      "It took longer than 700 ms.",
    ]);
  });

  test("after_turn gets the result and the session of a turn and never affects the turn", async () => {
    const timers: (() => void)[] = [];
    const wait = () => new Promise<void>((resolve) => void timers.push(resolve));
    const { varve, events, key } = await open(
      { turn: { runner: "offline", debounceMs: 0 } },
      { clock: systemClock, random: systemRandom, background: true, hooks: { timeoutMs: 900, wait } },
    );
    const failed = new Promise((resolve) => varve.onEvent(({ type }) => type === "hook.failed" && resolve(type)));
    const ended: EndedTurn[] = [];
    varve.hooks.on("after_turn", (turn) => {
      ended.push(structuredClone(turn));
      turn.result.reply = "changed by a handler";
      throw new Error("the webhook is down");
    });
    const result = await varve.turns.send({ session: key, text: "/help" });
    expect(result).toMatchObject({ status: "command", reply: expect.stringContaining("/new") });
    await failed;
    expect(failuresIn(events)).toEqual([{ hook: "after_turn", error: "the webhook is down" }]);
    expect(ended).toEqual([{ agent: "main", session: expect.objectContaining({ key }), result }]);
    expect(ended[0]?.session?.sessionId).toBe(result.sessionId);
    // The second handler never ends: the next turns do not wait for it, and closing waits for its time limit only.
    const called = new Promise<void>((resolve) => {
      varve.hooks.on("after_turn", () => {
        resolve();
        return never();
      });
    });
    const next = await varve.turns.send({ session: key, text: "What is the port?" });
    expect(next.status).toBe("replied");
    await called;
    const closed = varve.close();
    for (const endTime of timers) endTime();
    await closed;
    expect(failuresIn(events)).toContainEqual({ hook: "after_turn", error: "It took longer than 900 ms." });
  });

  test("an unknown hook is refused with the names of the hooks", async () => {
    const { varve } = await open();
    const on = varve.hooks.on as (name: string, handler: () => void) => void;
    expect(() => on("before_turn", () => undefined)).toThrow(
      expect.objectContaining({ code: "BAD_REQUEST", remedy: expect.stringContaining("session_before_compact") }),
    );
  });

  test("a summariser that the settings name gets what a model gets, and its summaries are stored", async () => {
    const requests: SummariserRequest[] = [];
    const mine = (request: SummariserRequest) => {
      requests.push(request);
      return `My summary ${requests.length}.`;
    };
    const { varve, session } = await openTalk(
      { context: { summariser: "mine", customInstructions: "Keep the racks.", leafChunkTokens: 600 } },
      { summarisers: { mine, other: () => "" } },
    );
    const result = await varve.context.compact(session);
    expect(result).toMatchObject({ status: "done", faults: [] });
    expect(result.calls).toBe(requests.length);
    const [first, second] = requests;
    expect(first?.instructions).toBe("Keep the racks.");
    expect(first?.system).toContain("Keep the racks.");
    expect(first?.text).toContain("Message 0: we decided");
    expect(first?.user).toContain("Message 0: we decided");
    expect(second?.previousSummary).toBe("My summary 1.");
    expect(second?.user).toContain("My summary 1.");
    const { summaries } = await varve.context.overview(session);
    expect(summaries.every((one) => one.model === "summariser/mine" && one.level === "normal")).toBe(true);
    await healthy(varve);
  });

  test.each([
    ["fails", () => Promise.reject(new Error("no quota")), "The summariser mine failed: no quota"],
    ["is empty", () => " ", "The summary of the summariser mine was refused: it is empty."],
    ["never ends", never, "The summariser mine failed: It took longer than 60000 ms."],
  ])("a summariser that %s is replaced by the model, and the fault is named", async (name, mine, fault) => {
    const model = async () => ({
      text: "They moved servers to racks.\nFiles: none\nExpand for details about: ports",
      model: "test/model",
    });
    const { varve, session } = await openTalk(
      { context: { summariser: "mine" } },
      {
        summarisers: { mine },
        models: { summary: model },
        ...(name === "never ends" ? { hooks: { wait: timeIsOver } } : {}),
      },
    );
    const result = await varve.context.compact(session);
    expect(result.status).toBe("done");
    expect(result.faults[0]).toBe(fault);
    expect(result.calls).toBeGreaterThan(1);
    expect((await varve.context.overview(session)).summaries).toHaveLength(1);
  });

  test("a summariser that is refused asks a model with a refused key once", async () => {
    let calls = 0;
    const summary = async (): Promise<string> => {
      calls += 1;
      throw new VarveError("MODEL_KEY_REFUSED", "The key was refused.");
    };
    const { varve, session } = await openTalk(
      { context: { summariser: "mine" } },
      { summarisers: { mine: () => "" }, models: { summary } },
    );
    const result = await varve.context.compact(session);
    expect(result).toMatchObject({ status: "stopped", failure: "MODEL_KEY_REFUSED", leafPasses: 0 });
    expect(calls).toBe(1);
  });

  test("an unknown summariser is an error that names the known ones", async () => {
    const summarisers = { brief: () => "", long: () => "" };
    await expect(open({ context: { summariser: "breif" } }, { summarisers })).rejects.toMatchObject({
      code: "BAD_CONFIG",
      message: 'context.summariser names the summariser "breif", which does not exist.',
      remedy: expect.stringContaining("Known summarisers: brief, long."),
    });
    await expect(open({ context: { summariser: "brief" } })).rejects.toMatchObject({
      remedy: expect.stringContaining("Known summarisers: none."),
    });
    const overrides = [{ session: "**", set: { summariser: "short" } }];
    await expect(open({ context: { overrides } }, { summarisers })).rejects.toMatchObject({
      message: expect.stringContaining("context.overrides[0].set.summariser"),
    });
  });

  test("a process without the summariser of the settings file opens, and says who wrote the summaries", async () => {
    const home = mkdtempSync(join(tmpdir(), "varve-hooks-"));
    folders.push(home);
    writeFileSync(join(home, "config.yaml"), "context:\n  summariser: mine\n");
    const { varve, session } = await openTalk({}, { home });
    expect(varve.settings.config.context.summariser).toBe("mine");
    const result = await varve.context.compact(session);
    expect(result).toMatchObject({ status: "done", levels: { extractive: 1 } });
    expect(result.faults).toEqual(["The summariser mine is not registered in this process."]);
    await expect(open({}, { home, summarisers: { other: () => "" } })).rejects.toMatchObject({ code: "BAD_CONFIG" });
  });

  test("a model gets its input in parts that fit its own window", async () => {
    const windowTokens = 6_000;
    const server = await startChatServer(
      () => ({ text: "They moved servers to racks.\nFiles: none\nExpand for details about: ports" }),
      { windowTokens },
    );
    try {
      const models = { ...modelSettings(server.url), summary: "local/test-model" };
      const { varve, session } = await openTalk(
        { models: { ...models, windows: { "local/test-model": windowTokens } } },
        { clock: systemClock, random: systemRandom },
        [
          ...talk(60, 8),
          { id: "large", role: "assistant", content: "ballast ".repeat(5_000) },
          ...talk(61, 8).slice(60),
        ],
      );
      const result = await varve.context.compact(session);
      expect(result.status).toBe("done");
      expect(server.requests.length).toBeGreaterThan(2);
      const sizes = server.requests.map((body) => estimateTokens(JSON.stringify(body.messages)));
      expect(Math.max(...sizes)).toBeLessThan(windowTokens);
      expect(JSON.stringify(server.requests)).not.toContain("ballast ballast");
      expect(JSON.stringify(server.requests)).toContain("too large to be summarised here");
      expect(result.faults.join("\n")).toContain("named, not summarised");
    } finally {
      await server.close();
    }
  });

  test.each([
    ["of a program", {}, 8_000, 8_000],
    ["that the settings override", { summaryWindowTokens: 5_000 }, 100_000, 5_000],
  ])("the window of a model %s decides the size of its parts", async (_, context, own, expected) => {
    const sizes: number[] = [];
    const summary = async ({ system, user, maxTokens }: { system: string; user: string; maxTokens: number }) => {
      sizes.push(estimateTokens(system) + estimateTokens(user) + Math.ceil(maxTokens / 3));
      return "They moved servers to racks.\nFiles: none\nExpand for details about: ports";
    };
    const { varve, session } = await openTalk(
      { context },
      { models: { summary, summaryWindowTokens: own } },
      talk(80, 8),
    );
    expect((await varve.context.compact(session)).status).toBe("done");
    expect(sizes.length).toBeGreaterThan(1);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(expected);
  });
});
